//! What ranks do together, and how long they wait for it.

use super::error::ranks_of;
use std::fmt;
use std::time::Duration;

/// What the ranks of a job do together, in words that are compared and printed: the same for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What is done, such as the call of a program.
    pub call: String,
    /// What all ranks read: its length, its type, and a hash of it or of a sample. None if each rank
    /// reads something else, or has nothing to read; then it is not compared.
    pub input: Option<String>,
}

impl From<&str> for Task {
    /// What is done, whatever is read.
    fn from(call: &str) -> Self {
        Self { call: call.into(), input: None }
    }
}

/// A wait for other ranks that takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The ranks that are waited for, in order.
    pub ranks: Vec<u32>,
    /// How many ranks there are.
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
