//! The spin lock: one word that threads try to set, less and less often.

use super::{Guard, Lock};
use cuda_std::prelude::*;
use cuda_std::time::nanosleep;

/// The values of the word.
const FREE: u32 = 0;
const HELD: u32 = 1;

/// The first pause of a thread that waits. It is shorter than a poll of the L2, so the thread does
/// not oversleep a lock that becomes free quickly.
const SHORTEST_NS: u32 = 64;

/// The longest pause: a few hand-overs. A longer one would leave the lock free for a while when few
/// threads wait.
const LONGEST_NS: u32 = 4096;

/// A lock in one word. Any thread that finds it free acquires it, so it is fast and **not fair**: a
/// thread may wait while others acquire the lock many times.
///
/// A thread that waits only polls, and tries to acquire the lock when it has seen it free (test
/// before test-and-set). Between polls it sleeps, twice as long each time.
#[derive(Debug)]
pub struct SpinLock {
    word: Global<u32>,
}

impl SpinLock {
    /// The number of words of device memory for a lock. It is slower if other words of the same
    /// line are written often.
    #[must_use]
    pub const fn words() -> usize {
        1
    }

    /// Attaches to the lock in `word`. Called by every thread that wants to acquire it.
    #[device]
    pub fn attach(word: Global<u32>) -> Self {
        Self { word }
    }

    /// Acquires the lock if it is free now. Does not wait.
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
        // No poll yet. If the lock is free, one access is enough to acquire it.
        let mut looks_free = true;
        let mut taken = false;
        spin::until(|| {
            taken = looks_free && self.try_acquire();
            if taken || give_up() {
                return true;
            }
            nanosleep(pause);
            pause = LONGEST_NS.min(2 * pause);
            // Relaxed: only the compare and swap acquires.
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
