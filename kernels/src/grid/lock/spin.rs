//! The spin lock: one word that threads try to set, less and less often.

use super::{Guard, Lock};
use cuda_std::prelude::*;
use cuda_std::time::nanosleep;

/// The values of the word.
const FREE: u32 = 0;
const HELD: u32 = 1;

/// The first pause of a thread that waits. It is shorter than a look at the L2 takes, so a lock
/// that becomes free at once is not overslept.
const SHORTEST_NS: u32 = 64;

/// The longest pause: a few hand-overs. A longer one would leave the lock free for a while when few
/// threads wait.
const LONGEST_NS: u32 = 4096;

/// A lock in one word. Whoever finds it free takes it, so it is fast and **not fair**: a thread may
/// wait while others take the lock many times.
///
/// A thread that waits only looks, and tries to take the lock when it has seen it free (test before
/// test-and-set). Between looks it sleeps, twice as long each time.
#[derive(Debug)]
pub struct SpinLock {
    word: Global<u32>,
}

impl SpinLock {
    /// The number of words of device memory for a lock. Other words of the same line, if they are
    /// written often, make it slower.
    #[must_use]
    pub const fn words() -> usize {
        1
    }

    /// Attaches to the lock in `word`. Called by every thread that wants to take it.
    #[device]
    pub fn attach(word: Global<u32>) -> Self {
        Self { word }
    }

    /// Takes the lock if it is free now. Does not wait.
    #[device]
    pub fn try_lock(&mut self) -> Option<Guard<'_, Self>> {
        if self.try_acquire() {
            // SAFETY: the lock was acquired just now.
            Some(unsafe { Guard::new(self.word) })
        } else {
            None
        }
    }

    #[device]
    fn try_acquire(&self) -> bool {
        self.word.compare_exchange(0, FREE, HELD, Ordering::Acquire, Scope::Device) == FREE
    }
}

impl Lock for SpinLock {
    type Held = Global<u32>;

    #[device]
    fn acquire_unless(&mut self, mut give_up: impl FnMut() -> bool) -> Option<Global<u32>> {
        let mut pause = SHORTEST_NS;
        // Nobody has looked yet. If the lock is free, one access is enough to take it.
        let mut looks_free = true;
        let mut taken = false;
        spin::until(|| {
            taken = looks_free && self.try_acquire();
            if taken || give_up() {
                return true;
            }
            nanosleep(pause);
            pause = LONGEST_NS.min(2 * pause);
            // Relaxed: only taking the lock acquires.
            looks_free = self.word.load(0, Ordering::Relaxed, Scope::Device) == FREE;
            false
        });
        if taken { Some(self.word) } else { None }
    }

    #[device]
    unsafe fn release(word: Global<u32>) {
        word.store(0, FREE, Ordering::Release, Scope::Device);
    }
}
