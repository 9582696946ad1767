//! How ranks find each other: rank 0 listens, and the others connect and identify themselves.
//!
//! ```text
//! rank r                                   rank 0
//!   magic, version, Hello ───────────────►   compares the greeting with its own
//!                                            … until all ranks have come, or the deadline
//!   ◄─────────────── magic, version, Welcome   to all; or Refused to all, with the reason
//! ```
//!
//! A rank of another job is refused alone, and rank 0 keeps waiting for its own ranks. Any other
//! difference ends the job, because one of its calls is wrong.
//!
//! The connections stay open for the duration of the job ([`link`](super::link)).

mod follow;
mod lead;

#[cfg(test)]
pub(super) use follow::connect;
pub(super) use follow::follow;
pub(super) use lead::{lead, listen};

use super::environment::MOST_RANKS;
use super::frame::{Frame, SHORT};
use super::greeting::Greeting;
use super::{Environment, RanksError, Task};
use std::ops::RangeInclusive;
use std::time::Duration;

/// A rank that is about to join.
#[derive(Clone, Debug)]
pub(super) struct Party {
    pub(super) greeting: Greeting,
    /// How long to wait for the others.
    pub(super) timeout: Duration,
}

/// Timeouts that the clock and the sockets can represent.
const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How much longer the others wait for rank 0's answer than rank 0 waits for them, so that the
/// answer arrives.
const GRACE: Duration = Duration::from_secs(5);

impl Party {
    /// # Errors
    /// [`RanksError::BadPlace`] and [`RanksError::LongGreeting`].
    pub(super) fn new(
        environment: &Environment,
        task: Task,
        timeout: Duration,
    ) -> Result<Self, RanksError> {
        let Environment { rank, size, .. } = *environment;
        if rank >= size || size > MOST_RANKS {
            return Err(RanksError::BadPlace { rank, size });
        }
        let greeting = Greeting::new(environment, task);
        let bytes = greeting.to_bytes().len();
        if bytes as u64 > SHORT {
            return Err(RanksError::LongGreeting { bytes, most: SHORT });
        }
        Ok(Self { greeting, timeout: timeout.clamp(*TIMEOUTS.start(), *TIMEOUTS.end()) })
    }

    pub(super) fn rank(&self) -> u32 {
        self.greeting.rank
    }

    pub(super) fn size(&self) -> u32 {
        self.greeting.size
    }

    fn hello(&self) -> Frame {
        Frame::Hello(self.greeting.clone())
    }
}
