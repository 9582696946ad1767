//! Memory that blocks share, and that persists from one launch to the next.

use cuda_std::prelude::*;

/// The working memory of a reduction, a scan or a selection, in addition to its arrays.
///
/// Zero both views before the first launch. Only one launch at a time may use them. Each launch
/// leaves them ready for the next, whatever the array lengths. Each function documents how many
/// words it needs.
///
/// The words that blocks send to each other carry the **stamp** of the launch: 1 in the first
/// launch, 2 in the next, and so on. So no launch mistakes the words of another for its own, and
/// nothing is reset between launches. After stamp 2^32 − 1 comes 1 again: the launch with the last
/// stamp zeroes all words at its end.
#[derive(Clone, Copy)]
pub struct Workspace {
    /// The words that blocks send to each other.
    pub words: Global<u64>,
    /// Counters, and the stamp of the last launch.
    pub state: Global<u32>,
}

/// Draws the next number from counter `counter` of the state: 0 to `count` − 1, then 0 again.
/// Called by one thread.
#[device]
pub(super) fn draw(state: Global<u32>, counter: usize, count: u32) -> u32 {
    // Relaxed: the number only determines the order and publishes no data. Not an addition: ptxas
    // would combine additions across a warp, and immediately wait to distribute the result.
    state.fetch_inc(counter, count - 1, Ordering::Relaxed, Scope::Device)
}

/// The stamp of the last launch, from word `at` of the state.
#[device]
pub(super) fn last_stamp(state: Global<u32>, at: usize) -> u32 {
    state.load(at, Ordering::Relaxed, Scope::Device)
}

/// Stores the stamp of this launch in word `at` of the state. Called by one thread, after all
/// blocks have read the previous stamp.
#[device]
pub(super) fn leave_stamp(state: Global<u32>, at: usize, stamp: u32) {
    state.store(at, stamp, Ordering::Relaxed, Scope::Device);
}

/// Whether this is the last stamp before 1 again. Then the launch [clears](clear) its words.
#[device]
pub(super) fn is_last_stamp(stamp: u32) -> bool {
    stamp == u32::MAX
}

/// Zeroes `words`. Called by all `threads` threads of one block, after all other blocks are done
/// with them.
#[device]
pub(super) fn clear(words: Global<u64>, thread: u32, threads: u32) {
    let mut word = thread as usize;
    while word < words.len() {
        words.store(word, 0, Ordering::Relaxed, Scope::Device);
        word += threads as usize;
    }
}
