//! Why ranks do not come together, or not to an end.

use super::environment::{MOST_RANKS, PORT_VARIABLE};
use super::job::JOB_VARIABLE;
use std::fmt;
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
    /// No process has answered at rank 0's address until the deadline.
    #[error(
        "rank {rank} of {size} got no answer at {address} within {seconds} s: {cause}; see whether rank 0 has started there, \
         and whether MASTER_ADDR, the port and the firewall let the others in"
    )]
    NoAnswer {
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
         --rank-timeout is how long it waits{}", ranks_of(.missing), and_turned_away(.turned_away)
    )]
    Missing {
        /// The ranks that did not come, in order.
        missing: Vec<u32>,
        /// How many ranks there are.
        size: u32,
        /// Seconds that were waited.
        seconds: f64,
        /// Why the last caller that was turned away was, if there was one.
        turned_away: Option<String>,
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
        "rank 0 at {address} has closed the connection before all ranks joined: check its output"
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
        /// Whether the reason is that the ranks read different inputs.
        is_bad_input: bool,
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
    /// A rank that does not belong to the ranks that rank 0 waits for.
    #[error(
        "rank {rank} has another {difference} than rank 0: {theirs}, and rank 0 {ours}; {}", .difference.remedy()
    )]
    Differs {
        /// The rank.
        rank: u32,
        /// In what it differs.
        difference: Difference,
        /// What it has.
        theirs: String,
        /// What rank 0 has.
        ours: String,
    },
    /// No such rank can be.
    #[error(
        "rank {rank} of {size}: there may be 1 to {MOST_RANKS} ranks, with numbers from 0; set both right"
    )]
    BadPlace {
        /// The rank.
        rank: u32,
        /// How many ranks there are.
        size: u32,
    },
    /// A rank says more of itself than fits.
    #[error(
        "the names of the job, the call and the input have {bytes} bytes, and at most {most} can be sent: \
         shorten {JOB_VARIABLE}, or the texts of the task"
    )]
    LongGreeting {
        /// Bytes of the greeting.
        bytes: usize,
        /// The most bytes of a greeting.
        most: u64,
    },
    /// Two processes with one number, or with a number that there is not.
    #[error("two processes say that they are rank {rank} of {size}: give each another number, from 0 to {}", size - 1)]
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
    /// A rank sends, or is to send, more than is due.
    #[error(
        "rank {rank} sends {bytes} bytes, where at most {most} are due; run the same gridsync everywhere"
    )]
    TooMuch {
        /// The rank.
        rank: u32,
        /// The bytes that it sends.
        bytes: usize,
        /// The most bytes that are due.
        most: usize,
    },
    /// The parts that the ranks have reduced are not the whole array.
    #[error(
        "rank {rank} has reduced elements {start} to {end} of {len} to {found} values, where {expected}: \
         run the same gridsync everywhere"
    )]
    WrongLeaves {
        /// The rank.
        rank: u32,
        /// The first element that it has reduced.
        start: u64,
        /// The end of the elements that it has reduced.
        end: u64,
        /// The elements of its whole array.
        len: u64,
        /// How many values it has sent.
        found: usize,
        /// What should have come.
        expected: String,
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
    #[error("rank {rank} cannot use NCCL: {why}; or use --transport tcp")]
    NoNccl {
        /// The rank.
        rank: u32,
        /// Why.
        why: String,
    },
    /// NCCL is asked for, and two ranks have one GPU.
    #[error(
        "ranks {one} and {other} are on one GPU ({gpu}), which NCCL refuses: give each rank its own GPU, \
         or use --transport tcp"
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
        "NCCL failed while {doing}: {why}; set NCCL_DEBUG=INFO for details, or use --transport tcp"
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
         (NCCL_SOCKET_IFNAME, NCCL_DEBUG=INFO), or use --transport tcp"
    )]
    NcclLate {
        /// What it was doing.
        doing: &'static str,
        /// Seconds that were waited.
        seconds: f64,
    },
}

impl RanksError {
    /// Whether the ranks read different inputs, though all should read the same one.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Differs { difference: Difference::Input, .. }
                | Self::Refused { is_bad_input: true, .. }
        )
    }
}

/// What all ranks of a job have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The name of the job, from its launcher.
    Job,
    /// The version of gridsync.
    Version,
    /// The shape of the reduction tree, by a fingerprint.
    Tree,
    /// The number of ranks.
    Size,
    /// What is done.
    Call,
    /// What is read.
    Input,
}

impl Difference {
    fn remedy(self) -> String {
        let port = format!("give each job its own port ({PORT_VARIABLE} or MASTER_PORT)");
        match self {
            Self::Job => {
                format!("{port}, or if it is one job, set {JOB_VARIABLE} to the same for all ranks")
            }
            Self::Version | Self::Tree => "run the same gridsync on all machines".into(),
            Self::Size => format!("start all ranks with the same number of ranks, and {port}"),
            Self::Call => format!("start all ranks by the same call, and {port}"),
            Self::Input => {
                format!(
                    "let all ranks read the same file, or with --shard each its own, and {port}"
                )
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Job => "job",
            Self::Version => "version of gridsync",
            Self::Tree => "reduction tree",
            Self::Size => "number of ranks",
            Self::Call => "call",
            Self::Input => "input",
        })
    }
}

fn and_turned_away(why: &Option<String>) -> String {
    why.as_ref().map_or(String::new(), |why| format!("; a caller was turned away: {why}"))
}

/// Ranks in words: `rank 3`, `ranks 1, 2, 5`.
pub(super) fn ranks_of(ranks: &[u32]) -> String {
    let all: Vec<_> = ranks.iter().take(32).map(u32::to_string).collect();
    let more = if ranks.len() > all.len() { " and others" } else { "" };
    let name = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{name} {}{more}", all.join(", "))
}
