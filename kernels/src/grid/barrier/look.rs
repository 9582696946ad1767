//! The forms of a spin (seed row R5): how a waiting thread looks at a word again and again.

use cuda_std::prelude::*;

/// A way to wait until a counter has come to a goal.
pub trait Look {
    /// Waits until element `at` of `words`, which only grows (modulo 2^32), has come to `goal` or
    /// past it. What was released by those who brought it there is then visible: an acquire at
    /// device scope.
    ///
    /// Called by one thread.
    fn until_reached(words: Global<u32>, at: usize, goal: u32);
}

/// Whether a counter that stands at `now` has come to `goal`: the distance is what counts, and not
/// that the two are equal, since a slow thread may find it further on, and since it wraps around.
#[inline(always)]
fn reached(now: u32, goal: u32) -> bool {
    now.wrapping_sub(goal) as i32 >= 0
}

/// By acquire loads: `ld.acquire.gpu`.
#[derive(Clone, Copy, Debug)]
pub enum Acquire {}

impl Look for Acquire {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until(|| reached(words.load(at, Ordering::Acquire, Scope::Device), goal));
    }
}

/// By volatile loads, the seed's second cure, and a fence at the end, which the seed's spin lacks.
#[derive(Clone, Copy, Debug)]
pub enum Volatile {}

impl Look for Volatile {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until(|| reached(words.read_volatile(at), goal));
        thread::fence(Ordering::AcqRel, Scope::Device);
    }
}

/// By a loop written in PTX, the seed's first cure, and a fence at the end.
#[derive(Clone, Copy, Debug)]
pub enum Ptx {}

impl Look for Ptx {
    #[device]
    fn until_reached(words: Global<u32>, at: usize, goal: u32) {
        spin::until_reached(words, at, goal);
        thread::fence(Ordering::AcqRel, Scope::Device);
    }
}
