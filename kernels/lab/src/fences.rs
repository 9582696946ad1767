//! Cost of fences and of the other operations of a barrier: one kernel per operation.
//!
//! In each of `rounds` rounds a thread stores to `stores` lines, then performs the operation, which
//! may have to wait for these stores. The cost of the operation is the slope over the rounds, minus
//! the slope of [`cost_of_none`].

use cuda_std::prelude::*;
use cuda_std::time::clock;

/// The most lines that a round may store to.
pub const MAX_STORES: u32 = 8;

/// Words of a cache line of 128 bytes.
const LINE: usize = 32;

/// Words for each block of up to 32 threads: the lines that it stores to, and one line for the
/// operation.
pub const WORDS_PER_BLOCK: usize = (MAX_STORES as usize + 1) * LINE;

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: |$words:ident, $own:ident, $seen:ident| $operation:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// Each thread stores the number of the round to its word of the first `stores` lines of
        /// the block. The operation works on its word of the block's last line. `cycles` gets the
        /// cycles of each thread's rounds.
        ///
        /// # Safety
        ///
        /// Blocks have at most 32 threads; `stores` is at most [`MAX_STORES`]; `words` has
        /// [`WORDS_PER_BLOCK`] elements per block, all 0 in the last line of each; `cycles` has one
        /// element per thread of the grid.
        #[kernel]
        pub unsafe fn $name(words: Global<u32>, cycles: Global<u64>, stores: u32, rounds: u32) {
            measure(words, cycles, stores, rounds, |$words, $own, $seen| $operation);
        }
    )*};
}
kernels! {
    /// Measures the stores alone.
    cost_of_none: |_words, _own, seen| seen;
    /// Measures `fence.acq_rel.cta`.
    cost_of_fence_acq_rel_block: |_words, _own, seen| fenced(seen, Ordering::AcqRel, Scope::Block);
    /// Measures `fence.acq_rel.gpu`.
    cost_of_fence_acq_rel_device: |_words, _own, seen| fenced(seen, Ordering::AcqRel, Scope::Device);
    /// Measures `fence.acq_rel.sys`.
    cost_of_fence_acq_rel_system: |_words, _own, seen| fenced(seen, Ordering::AcqRel, Scope::System);
    /// Measures `fence.sc.cta`.
    cost_of_fence_sc_block: |_words, _own, seen| fenced(seen, Ordering::SeqCst, Scope::Block);
    /// Measures `fence.sc.gpu`.
    cost_of_fence_sc_device: |_words, _own, seen| fenced(seen, Ordering::SeqCst, Scope::Device);
    /// Measures `fence.sc.sys`.
    cost_of_fence_sc_system: |_words, _own, seen| fenced(seen, Ordering::SeqCst, Scope::System);
    /// Measures `atom.relaxed.gpu.add` with its result: each one adds what the last one returned.
    cost_of_atom_relaxed: |words, own, seen| {
        words.fetch_add(own, seen, Ordering::Relaxed, Scope::Device)
    };
    /// Measures `red.relaxed.gpu.add`, which has no result to wait for.
    cost_of_red_relaxed: |words, own, seen| added(seen, words, own, Ordering::Relaxed);
    /// Measures `red.release.gpu.add`, the arrival at a grid barrier.
    cost_of_red_release: |words, own, seen| added(seen, words, own, Ordering::Release);
    /// Measures `ld.acquire.gpu`, the poll of a block that waits at a grid barrier.
    cost_of_load_acquire: |words, own, seen| {
        seen | words.load(own, Ordering::Acquire, Scope::Device)
    };
}

/// Runs and times the rounds of one thread. `operation` gets `words`, the index of the thread's own
/// word, and its return value from the round before (initially 0).
#[device]
fn measure(
    words: Global<u32>,
    cycles: Global<u64>,
    stores: u32,
    rounds: u32,
    operation: impl Fn(Global<u32>, usize, u32) -> u32,
) {
    let first =
        thread::block_index() * WORDS_PER_BLOCK + thread::in_32_bits::index_in_block() as usize;
    let own = first + MAX_STORES as usize * LINE;
    let mut seen = 0;
    let start = clock();
    for round in 1..=rounds {
        for line in 0..stores as usize {
            words.write(first + line * LINE, round);
        }
        seen = operation(words, own, seen);
    }
    let end = clock();
    // This uses the last result, which is always 0 (see the operations). Otherwise the compiler
    // would turn the `atom` into a `red`.
    cycles.write(thread::index(), end - start + u64::from(seen));
}

#[device]
fn fenced(seen: u32, order: Ordering, scope: Scope) -> u32 {
    thread::fence(order, scope);
    seen
}

#[device]
fn added(seen: u32, words: Global<u32>, own: usize, order: Ordering) -> u32 {
    words.add(own, 1, order, Scope::Device);
    seen
}
