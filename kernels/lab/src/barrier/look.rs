//! The forms of a spin: how a waiting thread polls a word.

use cuda_std::prelude::*;

/// A way to wait until a counter has reached a goal. A plain load would not work: the compiler
/// hoists it out of the loop.
pub trait Look {
    /// Waits until element `at` of `words`, which only grows (modulo 2^32), has reached or passed
    /// `goal`. Acquires, at device scope, what the arriving threads released.
    ///
    /// Called by one thread.
    fn until_reached(words: Global<u32>, at: usize, goal: u32);
}

/// Whether a counter with the value `now` has reached `goal`. Compares the distance, because the
/// counter may be past the goal when a slow thread polls it, and because it wraps around.
#[inline(always)]
fn reached(now: u32, goal: u32) -> bool {
    now.wrapping_sub(goal) as i32 >= 0
}

/// Acquire loads: `ld.acquire.gpu`.
#[derive(Clone, Copy, Debug)]
pub enum Acquire {}

impl Look for Acquire {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until(|| reached(words.load(at, Ordering::Acquire, Scope::Device), goal));
    }
}

/// Volatile loads, and a fence at the end, which makes the wait an acquire.
#[derive(Clone, Copy, Debug)]
pub enum Volatile {}

impl Look for Volatile {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until(|| reached(words.read_volatile(at), goal));
        thread::fence(Ordering::AcqRel, Scope::Device);
    }
}

/// A loop of volatile loads written in PTX, and a fence at the end.
#[derive(Clone, Copy, Debug)]
pub enum Ptx {}

impl Look for Ptx {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until_reached(words, at, goal);
        thread::fence(Ordering::AcqRel, Scope::Device);
    }
}
