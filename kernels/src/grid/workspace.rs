//! The memory that blocks work in together, from one launch to the next.

use cuda_std::prelude::*;

/// What a launch of a reduction, a scan or a selection works in, beside its arrays.
///
/// Both views are zeroed before the first launch, and one launch at a time uses them. Launches leave
/// them ready for the next one, whatever the lengths of the arrays. How many words there are, each
/// function says.
///
/// Blocks send each other values in words that carry the **stamp** of the launch: 1 in the first
/// launch, 2 in the next one, and so on. So no launch takes the words of another for its own, and
/// nothing is reset in between. After stamp 2^32 − 1 comes 1 again: the launch that has the last stamp
/// zeroes all words at its end.
#[derive(Clone, Copy)]
pub struct Workspace {
    /// The words that blocks send each other.
    pub words: Global<u64>,
    /// Counters, and the stamp of the last launch.
    pub state: Global<u32>,
}

/// Draws the next number of counter `counter` of the state: 0 to `count` − 1, and then 0 again. By one
/// thread.
#[device]
pub(super) fn draw(state: Global<u32>, counter: usize, count: u32) -> u32 {
    // Relaxed: the number says whose turn it is, and carries nothing. An increment that wraps around, not
    // an addition: ptxas would combine additions across the lanes of a warp, and wait for the result at
    // once to hand it out.
    state.fetch_inc(counter, count - 1, Ordering::Relaxed, Scope::Device)
}

/// The stamp of the last launch, in word `at` of the state.
#[device]
pub(super) fn last_stamp(state: Global<u32>, at: usize) -> u32 {
    state.load(at, Ordering::Relaxed, Scope::Device)
}

/// Leaves the stamp of this launch in word `at` of the state. By one thread, after all blocks have read
/// the stamp before.
#[device]
pub(super) fn leave_stamp(state: Global<u32>, at: usize, stamp: u32) {
    state.store(at, stamp, Ordering::Relaxed, Scope::Device);
}

/// Whether stamps begin anew after this one. Then the launch [clears](clear) its words.
#[device]
pub(super) fn is_last_stamp(stamp: u32) -> bool {
    stamp == u32::MAX
}

/// Zeroes `words`. By all `threads` threads of one block, when no other block uses the words any more.
#[device]
pub(super) fn clear(words: Global<u64>, thread: u32, threads: u32) {
    let mut word = thread as usize;
    while word < words.len() {
        words.store(word, 0, Ordering::Relaxed, Scope::Device);
        word += threads as usize;
    }
}
