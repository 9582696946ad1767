//! Why ranks do not come together, or not to an end.

use super::environment::PORT_VARIABLE;
use std::io;

/// Why ranks do not come together, or not to an end.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// The name of rank 0's machine is not known.
    #[error(
        "{address} cannot be found: {cause}; set MASTER_ADDR to a name or an address of the machine of rank 0"
    )]
    Unresolved {
        /// The address.
        address: String,
        /// What the operating system said.
        cause: io::Error,
    },
    /// Rank 0 cannot listen, since another process does.
    #[error(
        "rank 0 cannot listen on port {port}, which is in use by another process: set {PORT_VARIABLE} or MASTER_PORT \
         to a free port, the same one for all ranks"
    )]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// Rank 0 cannot listen for another reason.
    #[error(
        "rank 0 cannot listen on port {port}: {cause}; set {PORT_VARIABLE} or MASTER_PORT to another one"
    )]
    NotListening {
        /// The port.
        port: u16,
        /// What the operating system said.
        cause: io::Error,
    },
    /// Nobody has answered at rank 0's address until the deadline.
    #[error(
        "rank {rank} of {size} found nobody at {address} within {seconds} s: {cause}; see whether rank 0 has started there, \
         and whether MASTER_ADDR, the port and the firewall let the others in"
    )]
    Nobody {
        /// This rank.
        rank: u32,
        /// How many ranks there are.
        size: u32,
        /// Where rank 0 should be.
        address: String,
        /// Seconds that were waited.
        seconds: f64,
        /// What the last try came to.
        cause: String,
    },
    /// Not all ranks have come until the deadline. Rank 0 finds this.
    #[error(
        "{} of {size} did not come within {seconds} s: see whether they have started, and whether they reach rank 0; \
         --rank-timeout is how long it waits", ranks_of(.missing)
    )]
    Missing {
        /// The ranks that did not come, in order.
        missing: Vec<u32>,
        /// How many ranks there are.
        size: u32,
        /// Seconds that were waited.
        seconds: f64,
    },
    /// Another program listens where rank 0 should.
    #[error(
        "another program than gridsync answers at {address}: set MASTER_ADDR and MASTER_PORT (or {PORT_VARIABLE}) \
         to those of rank 0"
    )]
    WrongPeer {
        /// Where rank 0 should be.
        address: String,
    },
    /// The connection has closed before all ranks were there.
    #[error(
        "rank 0 at {address} has closed the connection before all ranks had come: see what it says"
    )]
    Closed {
        /// Where rank 0 is.
        address: String,
    },
    /// Rank 0 does not take this rank in, or gives up.
    #[error("rank 0 says: {message}")]
    Refused {
        /// What it says.
        message: String,
    },
    /// A rank of another version of gridsync.
    #[error(
        "a rank speaks version {theirs} of the protocol of ranks, and rank 0 version {ours}: run the same gridsync"
    )]
    OtherVersion {
        /// Its version.
        theirs: u32,
        /// The version here.
        ours: u32,
    },
    /// A rank of a job of another size.
    #[error(
        "rank {rank} is of a job of {theirs} ranks, and rank 0 of {ours}: give all the same number of ranks, \
         and each job a port of its own ({PORT_VARIABLE} or MASTER_PORT)"
    )]
    OtherSize {
        /// The rank.
        rank: u32,
        /// Its number of ranks.
        theirs: u32,
        /// The number of ranks here.
        ours: u32,
    },
    /// A rank that does something else.
    #[error(
        "rank {rank} is of another job, \"{theirs}\", and rank 0 of \"{ours}\": start all ranks by the same call, \
         and give each job a port of its own ({PORT_VARIABLE} or MASTER_PORT)"
    )]
    OtherJob {
        /// The rank.
        rank: u32,
        /// What it does.
        theirs: String,
        /// What is done here.
        ours: String,
    },
    /// Two processes with one number, or with a number that there is not.
    #[error("two processes say that they are rank {rank} of {size}: give each a number of its own, from 0 to {}", size - 1)]
    Taken {
        /// The number.
        rank: u32,
        /// How many ranks there are.
        size: u32,
    },
    /// A rank has ended or is silent.
    #[error("rank {rank} of {size} is lost: {how}")]
    Lost {
        /// The rank.
        rank: u32,
        /// How many ranks there are.
        size: u32,
        /// How that was noticed.
        how: String,
    },
    /// A rank has failed and said why.
    #[error("rank {rank} of {size} failed: {message}")]
    Failed {
        /// The rank.
        rank: u32,
        /// How many ranks there are.
        size: u32,
        /// What it said.
        message: String,
    },
    /// A rank does something else than this one at the same time.
    #[error(
        "rank {rank} is out of step: it sent {sent} where {expected} was due; run the same gridsync everywhere"
    )]
    OutOfStep {
        /// The rank.
        rank: u32,
        /// What it sent.
        sent: String,
        /// What should have come.
        expected: &'static str,
    },
    /// Ranks ask for different transports.
    #[error(
        "rank {one} asks for --transport {of_one}, and rank {other} for {of_other}: give all ranks the same"
    )]
    Disagreement {
        /// A rank.
        one: u32,
        /// What it asks for.
        of_one: &'static str,
        /// Another rank.
        other: u32,
        /// What it asks for.
        of_other: &'static str,
    },
    /// NCCL is asked for, and a rank cannot use it.
    #[error("rank {rank} cannot use NCCL: {why}; or take --transport tcp, which needs none")]
    NoNccl {
        /// The rank.
        rank: u32,
        /// Why.
        why: String,
    },
    /// NCCL is asked for, and two ranks have one GPU.
    #[error(
        "ranks {one} and {other} are on one GPU ({gpu}), which NCCL refuses: give each rank a GPU of its own, \
         or take --transport tcp"
    )]
    OneGpu {
        /// A rank.
        one: u32,
        /// The other rank.
        other: u32,
        /// The GPU's address.
        gpu: String,
    },
    /// A call of NCCL, or of the device for it, failed.
    #[error(
        "NCCL failed while {doing}: {why}; NCCL_DEBUG=INFO tells more, and --transport tcp does without"
    )]
    Nccl {
        /// What it was doing.
        doing: &'static str,
        /// What it said.
        why: String,
    },
    /// NCCL has not come to an end in time.
    #[error(
        "NCCL was not done with {doing} within {seconds} s: see whether the machines reach each other \
         (NCCL_SOCKET_IFNAME, NCCL_DEBUG=INFO), or take --transport tcp"
    )]
    NcclLate {
        /// What it was doing.
        doing: &'static str,
        /// Seconds that were waited.
        seconds: f64,
    },
}

/// Ranks in words: `rank 3`, `ranks 1, 2, 5`.
fn ranks_of(ranks: &[u32]) -> String {
    let all: Vec<_> = ranks.iter().take(32).map(u32::to_string).collect();
    let more = if ranks.len() > all.len() { " and others" } else { "" };
    let name = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{name} {}{more}", all.join(", "))
}
