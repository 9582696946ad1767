//! The task of the ranks, and long waits for other ranks.

use super::error::ranks_of;
use std::fmt;
use std::time::Duration;

/// The task of the ranks of a job, in words that are compared and printed. It must be the same for
/// all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The call, such as the command line of a program.
    pub call: String,
    /// The input that all ranks read: its length, its type, and a hash of it or of a sample. `None`
    /// if each rank reads a different input or none; then it is not compared.
    pub input: Option<String>,
}

impl From<&str> for Task {
    /// A task without an input.
    fn from(call: &str) -> Self {
        Self { call: call.into(), input: None }
    }
}

/// A long wait for other ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The ranks that this rank waits for, in order.
    pub ranks: Vec<u32>,
    /// Number of ranks.
    pub size: u32,
    /// How long this rank has waited so far.
    pub elapsed: Duration,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranks, seconds) = (ranks_of(&self.ranks), self.elapsed.as_secs());
        let which = if self.ranks.len() == 1 { "which is" } else { "which are" };
        write!(
            f,
            "has waited {seconds} s for {ranks} of {}, {which} alive: it may be at work, or stuck",
            self.size
        )
    }
}
