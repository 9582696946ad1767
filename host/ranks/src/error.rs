//! Errors of ranks that fail to meet or to finish.

use super::environment::{MOST_RANKS, PORT_VARIABLE};
use super::job::JOB_VARIABLE;
use std::fmt;
use std::io;

/// Why ranks failed to meet or to finish.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// The host name of rank 0 does not resolve.
    #[error(
        "{address} cannot be found: {cause}; set MASTER_ADDR to a name or an address of the machine of rank 0"
    )]
    Unresolved {
        /// The address.
        address: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// Rank 0 cannot listen because another process uses the port.
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
        /// The operating system's error.
        cause: io::Error,
    },
    /// No process answered at rank 0's address before the deadline.
    #[error(
        "rank {rank} of {size} got no answer at {address} within {seconds} s: {cause}; check that rank 0 has started there, \
         that MASTER_ADDR and the port are right, and that no firewall blocks them"
    )]
    NoAnswer {
        /// This rank.
        rank: u32,
        /// Number of ranks.
        size: u32,
        /// The expected address of rank 0.
        address: String,
        /// Seconds waited.
        seconds: f64,
        /// Why the last attempt failed.
        cause: String,
    },
    /// Not all ranks joined before the deadline. Detected by rank 0.
    #[error(
        "{} of {size} did not join within {seconds} s{}: check that they have started and reach rank 0, or set a \
         longer timeout", ranks_of(.missing), and_last_refusal(.last_refusal)
    )]
    Missing {
        /// The ranks that did not join, in order.
        missing: Vec<u32>,
        /// Number of ranks.
        size: u32,
        /// Seconds waited.
        seconds: f64,
        /// Why the last rejected caller was rejected, if any was.
        last_refusal: Option<String>,
    },
    /// Another program listens at rank 0's address.
    #[error(
        "the program that answers at {address} is not gridsync: set MASTER_ADDR and MASTER_PORT (or {PORT_VARIABLE}) \
         to those of rank 0"
    )]
    WrongPeer {
        /// The expected address of rank 0.
        address: String,
    },
    /// The connection closed before all ranks joined.
    #[error(
        "rank 0 at {address} has closed the connection before all ranks joined: check its output"
    )]
    Closed {
        /// The address of rank 0.
        address: String,
    },
    /// Rank 0 rejected this rank, or gave up.
    #[error("rank 0 reports: {message}")]
    Refused {
        /// The reason that rank 0 sent.
        message: String,
        /// Whether the reason is that the ranks read different inputs.
        is_bad_input: bool,
    },
    /// A rank uses another version of the protocol.
    #[error(
        "a rank uses version {theirs} of the protocol, and rank 0 version {ours}: run the same gridsync on all machines"
    )]
    OtherVersion {
        /// The version of that rank.
        theirs: u32,
        /// The version of rank 0.
        ours: u32,
    },
    /// A rank does not belong to the job of rank 0.
    #[error(
        "the {difference} of rank {rank} is {theirs}, and that of rank 0 is {ours}; {}", .difference.remedy()
    )]
    Differs {
        /// The rank.
        rank: u32,
        /// What differs.
        difference: Difference,
        /// The rank's value.
        theirs: String,
        /// The value of rank 0.
        ours: String,
    },
    /// The rank number or the number of ranks is invalid.
    #[error(
        "rank {rank} of {size} is not valid: there can be 1 to {MOST_RANKS} ranks, numbered from 0"
    )]
    BadPlace {
        /// The rank.
        rank: u32,
        /// Number of ranks.
        size: u32,
    },
    /// A rank's greeting is too long.
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
    /// Two processes have the same number, or the number does not exist.
    #[error("two processes are rank {rank} of {size}: give each its own number, from 0 to {}", size - 1)]
    Taken {
        /// The number.
        rank: u32,
        /// Number of ranks.
        size: u32,
    },
    /// A rank died or is silent.
    #[error("rank {rank} of {size} is lost: {how}")]
    Lost {
        /// The rank.
        rank: u32,
        /// Number of ranks.
        size: u32,
        /// How this was detected.
        how: String,
    },
    /// A rank failed and reported why.
    #[error("rank {rank} of {size} failed: {message}")]
    Failed {
        /// The rank.
        rank: u32,
        /// Number of ranks.
        size: u32,
        /// The reported message.
        message: String,
    },
    /// A rank is at a different step than this one.
    #[error(
        "rank {rank} is out of step: it sent {sent} instead of {expected}; run the same gridsync on all machines"
    )]
    OutOfStep {
        /// The rank.
        rank: u32,
        /// The frame it sent.
        sent: String,
        /// The expected frame.
        expected: &'static str,
    },
    /// A rank sends, or would have to send, more than allowed.
    #[error(
        "rank {rank} sends {bytes} bytes, and at most {most} are expected; run the same gridsync on all machines"
    )]
    TooMuch {
        /// The rank.
        rank: u32,
        /// The bytes that it sends.
        bytes: usize,
        /// The most bytes allowed.
        most: usize,
    },
    /// The parts that the ranks reduced do not make up the whole array.
    #[error(
        "rank {rank} has reduced elements {start} to {end} of {len} to {found} values, but {expected}: \
         run the same gridsync on all machines"
    )]
    WrongLeaves {
        /// The rank.
        rank: u32,
        /// Index of the first element that it reduced.
        start: u64,
        /// End of the range that it reduced.
        end: u64,
        /// The length of its whole array.
        len: u64,
        /// Number of values it sent.
        found: usize,
        /// The expected values.
        expected: String,
    },
    /// Ranks request different transports.
    #[error(
        "rank {one} requests the transport {of_one}, and rank {other} {of_other}: give all ranks the same one"
    )]
    Disagreement {
        /// A rank.
        one: u32,
        /// The transport it requests.
        of_one: &'static str,
        /// Another rank.
        other: u32,
        /// The transport it requests.
        of_other: &'static str,
    },
    /// NCCL is requested, but a rank cannot use it.
    #[error("rank {rank} cannot use NCCL: {why}; or use the transport tcp")]
    NoNccl {
        /// The rank.
        rank: u32,
        /// Why.
        why: String,
    },
    /// NCCL is requested, but two ranks share a GPU.
    #[error(
        "ranks {one} and {other} are on one GPU ({gpu}), which NCCL refuses: give each rank its own GPU, \
         or use the transport tcp"
    )]
    OneGpu {
        /// A rank.
        one: u32,
        /// The other rank.
        other: u32,
        /// The address of the GPU.
        gpu: String,
    },
    /// A call to NCCL failed, or a call to the device for it.
    #[error(
        "NCCL failed while {doing}: {why}; set NCCL_DEBUG=INFO for details, or use the transport tcp"
    )]
    Nccl {
        /// The step that failed.
        doing: &'static str,
        /// The error that was returned.
        why: String,
    },
    /// NCCL did not finish in time.
    #[error(
        "NCCL did not finish {doing} within {seconds} s: check that the machines reach each other \
         (NCCL_SOCKET_IFNAME, NCCL_DEBUG=INFO), or use the transport tcp"
    )]
    NcclLate {
        /// The step that timed out.
        doing: &'static str,
        /// Seconds waited.
        seconds: f64,
    },
}

impl RanksError {
    /// Whether the ranks read different inputs although all should read the same one.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Differs { difference: Difference::Input, .. }
                | Self::Refused { is_bad_input: true, .. }
        )
    }
}

/// Property that all ranks of a job must share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The name of the job, from its launcher.
    Job,
    /// The version of gridsync.
    Version,
    /// The shape of the reduction tree, as a fingerprint.
    Tree,
    /// The number of ranks.
    Size,
    /// The call.
    Call,
    /// The input.
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
            Self::Call => format!("start all ranks with the same call, and {port}"),
            Self::Input => {
                format!("let all ranks read the same input, or make each input a shard, and {port}")
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

fn and_last_refusal(why: &Option<String>) -> String {
    why.as_ref().map_or(String::new(), |why| format!(" (a caller was rejected: {why})"))
}

/// Formats a list of ranks: `rank 3`, `ranks 1, 2, 5`.
pub(super) fn ranks_of(ranks: &[u32]) -> String {
    let all: Vec<_> = ranks.iter().take(32).map(u32::to_string).collect();
    let more = if ranks.len() > all.len() { " and others" } else { "" };
    let name = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{name} {}{more}", all.join(", "))
}
