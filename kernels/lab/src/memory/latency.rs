//! One thread walks a cycle: each word holds the index of the next, so no load can start before the
//! previous one has ended. Also sequences of barriers and of shuffles.
//!
//! A step has one instruction in addition to its load: it computes the address from the index.

use super::{LINE, copied};
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::time::clock;

/// Makes a cycle of lines: the first word of line `i` gets the index of the first word of line
/// `next[i]`.
///
/// # Safety
///
/// `words` has [`LINE`] words for each element of `next`, and at most 2^32 in all.
#[kernel]
pub unsafe fn memory_spread(next: Global<u32>, words: Global<u32>) {
    let mut line = thread::index();
    while line < next.len() {
        words.write(line * LINE, next.read(line) * LINE as u32);
        line += thread::thread_count();
    }
}

macro_rules! walks {
    ($($(#[$doc:meta])* $name:ident: |$words:ident, $at:ident| $load:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// Begins at word `first`, makes `warm` steps, and then `steps` more. `cycles[0]` gets the
        /// cycles of the latter. `found[0]` gets the index to which the last step leads.
        ///
        /// # Safety
        ///
        /// `first` is an index into `words`, and so is every word that the walk visits; `found` and
        /// `cycles` have one element. The grid is one thread.
        #[kernel]
        pub unsafe fn $name(
            $words: Global<u32>,
            found: Global<u32>,
            cycles: Global<u64>,
            first: u32,
            warm: u32,
            steps: u32,
        ) {
            walk(found, cycles, (first, warm, steps), |$at| $load);
        }
    )*};
}
walks! {
    /// Walks with plain loads, which may hit the L1.
    memory_walk_l1: |words, at| words.read(at);
    /// Walks with relaxed loads of device scope. These must see writes of other multiprocessors, so
    /// they do not use the L1.
    memory_walk_l2: |words, at| words.load(at, Ordering::Relaxed, Scope::Device);
}

/// Walks in shared memory, after copying `words` to it, which are at most
/// [`SHARED_WORDS`](super::SHARED_WORDS). Otherwise like the other walks.
///
/// # Safety
///
/// Same as for the other walks.
#[kernel]
pub unsafe fn memory_walk_shared(
    words: Global<u32>,
    found: Global<u32>,
    cycles: Global<u64>,
    first: u32,
    warm: u32,
    steps: u32,
) {
    let copy = copied(words);
    walk(found, cycles, (first, warm, steps), |at| copy.read(at));
}

/// Walks in the shared memory of the second block of a cluster. Both blocks first copy `words`,
/// which are at most [`SHARED_WORDS`](super::SHARED_WORDS), to their shared memory. The first block
/// walks.
///
/// # Safety
///
/// Same as for the other walks, but the grid is a cluster of two blocks of one thread.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn memory_walk_cluster(
    words: Global<u32>,
    found: Global<u32>,
    cycles: Global<u64>,
    first: u32,
    warm: u32,
    steps: u32,
) {
    let other = cluster::shared_of(copied(words), 1);
    // Both blocks have started, and finished copying.
    cluster::sync();
    if cluster::rank() == 0 {
        walk(found, cycles, (first, warm, steps), |at| other.read(at));
    }
    // The second block must not end while the first one is still reading its memory.
    cluster::sync();
}

/// Runs and times a walk. `load` returns the word at an index.
#[device]
fn walk(
    found: Global<u32>,
    cycles: Global<u64>,
    (first, warm, steps): (u32, u32, u32),
    load: impl Fn(usize) -> u32,
) {
    let mut at = first;
    for _ in 0..warm {
        at = load(at as usize);
    }
    let start = clock();
    for _ in 0..steps {
        at = load(at as usize);
    }
    let end = clock();
    found.write(0, at);
    cycles.write(0, end - start);
}

/// Crosses the block barrier `steps` times. Each thread then writes `steps` to its element of
/// `found`, and the cycles to its element of `cycles`.
///
/// # Safety
///
/// `found` and `cycles` have one element per thread. The grid is one block.
#[kernel]
pub unsafe fn memory_barrier(found: Global<u32>, cycles: Global<u64>, steps: u32) {
    let start = clock();
    for _ in 0..steps {
        thread::sync_threads();
    }
    let end = clock();
    let me = thread::index();
    found.write(me, steps);
    cycles.write(me, end - start);
}

/// Shuffles the index of each lane down by one lane, `steps` times. Writes the value that each lane
/// ends up with to its element of `found`, and the cycles to its element of `cycles`.
///
/// # Safety
///
/// `found` and `cycles` have 32 elements. The grid is one warp.
#[kernel]
pub unsafe fn memory_shuffle(found: Global<u32>, cycles: Global<u64>, steps: u32) {
    let lane = warp::lane_id();
    let above = (lane + 1) % warp::WARP_SIZE;
    let mut value = lane;
    let start = clock();
    for _ in 0..steps {
        value = warp::warp_shuffle_idx(u32::MAX, value, above, warp::WARP_SIZE).0;
    }
    let end = clock();
    found.write(lane as usize, value);
    cycles.write(lane as usize, end - start);
}
