//! The ticket lock: threads draw numbers and are served in order.

use super::{LINE, Lock};
use cuda_std::prelude::*;
use cuda_std::time::nanosleep;

/// Indices of the next ticket to draw, and of the ticket that is served now.
const NEXT: usize = 0;
const SERVED: usize = LINE;

/// The pause of a thread for each thread that is still between it and the next one. A hand-over
/// lasts longer than twice that, and a pause may last twice the requested time (PTX ISA,
/// "nanosleep"), so no thread oversleeps its turn.
const PAUSE_NS: u32 = 200;

/// The longest pause: keeps a thread that may give up from sleeping too long.
const LONGEST_NS: u32 = 1 << 15;

/// A lock that threads acquire in the order in which they arrive: **fair**.
///
/// All waiting threads poll the same word. The farther back a thread is in the queue, the longer it
/// sleeps between polls (proportional backoff); the next one does not sleep.
#[derive(Debug)]
pub struct TicketLock {
    words: Global<u32>,
}

impl TicketLock {
    /// The number of words of device memory for a lock.
    #[must_use]
    pub const fn words() -> usize {
        SERVED + 1
    }

    /// Attaches to the lock in `words`. Called by every thread that wants to acquire it.
    #[device]
    pub fn attach(words: Global<u32>) -> Self {
        Self { words }
    }
}

impl Lock for TicketLock {
    /// The words, and the ticket that is served.
    type Held = (Global<u32>, u32);

    #[device]
    fn acquire_unless(&mut self, mut give_up: impl FnMut() -> bool) -> Option<Self::Held> {
        let words = self.words;
        // Relaxed: the ticket only determines the order.
        let ticket = words.fetch_add(NEXT, 1, Ordering::Relaxed, Scope::Device);
        let mut served = false;
        spin::until(|| {
            let now = words.load(SERVED, Ordering::Acquire, Scope::Device);
            let before_me = ticket.wrapping_sub(now);
            served = before_me == 0;
            if served || give_up() {
                return true;
            }
            if before_me > 1 {
                nanosleep(LONGEST_NS.min((before_me - 1).saturating_mul(PAUSE_NS)));
            }
            false
        });
        if served { Some((words, ticket)) } else { None }
    }

    #[device]
    unsafe fn release((words, ticket): Self::Held) {
        // Only the thread that is served writes this word, so a store is enough.
        words.store(SERVED, ticket.wrapping_add(1), Ordering::Release, Scope::Device);
    }
}
