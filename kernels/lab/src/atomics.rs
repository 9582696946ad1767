//! Cost of an atomic addition, by its target. Four kernels for each of four types.
//!
//! Thread t of the grid adds to word `t / threads_per_word × apart` of an array. So two numbers
//! decide whether the grid, a block, a warp or a lane has a word to itself, and how far apart the
//! words are. The address must be computed at run time: where ptxas sees that all threads add to
//! one address, it combines the u32 additions of a warp into one, and nothing is left to measure.
//!
//! * `add` has no result (`red`), `fetch_add` has one and uses it (`atom`).
//! * `shared_first` adds up a block in its shared memory, and adds that sum once. For all types but
//!   u32, ptxas compiles an addition in shared memory to a compare-and-swap loop.
//! * `warp_first` adds up a warp with shuffles in every round, and one lane adds that sum.

use core::ops::Add;
use cuda_std::memory::{Atomic, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_xor};

/// A number type that the kernels add.
pub trait Number: Atomic + Add<Output = Self> {
    /// The bits of the number, zero-extended to 64.
    fn bits(self) -> u64;
}

macro_rules! numbers {
    ($($ty:ty: |$number:ident| $bits:expr;)*) => {$(
        impl Number for $ty {
            #[inline(always)]
            fn bits(self) -> u64 {
                let $number = self;
                $bits
            }
        }
    )*};
}
numbers! {
    u32: |number| u64::from(number);
    u64: |number| number;
    f32: |number| u64::from(number.to_bits());
    f64: |number| number.to_bits();
}

macro_rules! kernels {
    ($($ty:ty: $add:ident, $fetch_add:ident, $shared_first:ident, $warp_first:ident;)*) => {$(
        /// Each thread adds `value` to its word `rounds` times, without a result.
        ///
        /// # Safety
        ///
        /// `threads_per_word` is not 0; `words` contains the word of each thread of the grid.
        #[kernel]
        pub unsafe fn $add(
            words: Global<$ty>,
            threads_per_word: u32,
            apart: u32,
            value: $ty,
            rounds: u32,
        ) {
            let own = own_word(threads_per_word, apart);
            for _ in 0..rounds {
                words.add(own, value, Ordering::Relaxed, Scope::Device);
            }
        }

        /// Each thread adds `value` to its word `rounds` times. Its element of `seen` gets the bits
        /// of all results, combined by exclusive or.
        ///
        /// # Safety
        ///
        #[doc = concat!("As for [`", stringify!($add), "`]; `seen` has one element per thread.")]
        #[kernel]
        pub unsafe fn $fetch_add(
            words: Global<$ty>,
            seen: Global<u64>,
            threads_per_word: u32,
            apart: u32,
            value: $ty,
            rounds: u32,
        ) {
            let own = own_word(threads_per_word, apart);
            let mut all = 0;
            for _ in 0..rounds {
                all ^= words.fetch_add(own, value, Ordering::Relaxed, Scope::Device).bits();
            }
            seen.write(thread::index(), all);
        }

        /// Each thread adds `value` to a word in shared memory `rounds` times. Then the first
        /// thread of each block adds the sum of the block to its word of `words`.
        ///
        /// # Safety
        ///
        #[doc = concat!("As for [`", stringify!($add), "`]; `threads_per_word` is a multiple of")]
        /// the threads of a block, which has dynamic shared memory for one number.
        #[kernel]
        pub unsafe fn $shared_first(
            words: Global<$ty>,
            threads_per_word: u32,
            apart: u32,
            value: $ty,
            rounds: u32,
        ) {
            shared_first(words, threads_per_word, apart, value, rounds);
        }

        /// In each of `rounds` rounds each warp sums the numbers of its lanes, and its first lane
        /// adds the sum to its word. Every second lane has twice `value`, the others 0; in the
        /// next round it is the other way round.
        ///
        /// # Safety
        ///
        #[doc = concat!("As for [`", stringify!($add), "`]; blocks consist of whole warps.")]
        #[kernel]
        pub unsafe fn $warp_first(
            words: Global<$ty>,
            threads_per_word: u32,
            apart: u32,
            value: $ty,
            rounds: u32,
        ) {
            warp_first(words, threads_per_word, apart, value, rounds);
        }
    )*};
}
kernels! {
    u32: atomics_add_u32, atomics_fetch_add_u32, atomics_shared_first_u32, atomics_warp_first_u32;
    u64: atomics_add_u64, atomics_fetch_add_u64, atomics_shared_first_u64, atomics_warp_first_u64;
    f32: atomics_add_f32, atomics_fetch_add_f32, atomics_shared_first_f32, atomics_warp_first_f32;
    f64: atomics_add_f64, atomics_fetch_add_f64, atomics_shared_first_f64, atomics_warp_first_f64;
}

/// The word that the thread adds to.
#[device]
fn own_word(threads_per_word: u32, apart: u32) -> usize {
    (thread::index() as u32 / threads_per_word * apart) as usize
}

#[device]
fn shared_first<T: Number>(
    words: Global<T>,
    threads_per_word: u32,
    apart: u32,
    value: T,
    rounds: u32,
) {
    let sum = dynamic_shared::<T>();
    // Always 0, but the compiler cannot see that.
    let own = (thread::in_32_bits::index_in_block() / threads_per_word) as usize;
    if thread::is_first_in_block() {
        sum.write(0, T::default());
    }
    thread::sync_threads();
    for _ in 0..rounds {
        sum.add(own, value, Ordering::Relaxed, Scope::Block);
    }
    thread::sync_threads();
    if thread::is_first_in_block() {
        let word = own_word(threads_per_word, apart);
        words.add(word, sum.read(0), Ordering::Relaxed, Scope::Device);
    }
}

#[device]
fn warp_first<T: Number>(
    words: Global<T>,
    threads_per_word: u32,
    apart: u32,
    value: T,
    rounds: u32,
) {
    let own = own_word(threads_per_word, apart);
    for round in 0..rounds {
        // With the same number in all lanes, ptxas would multiply by 32 instead of shuffling.
        let is_mine = (lane_id() ^ round).is_multiple_of(2);
        let mut sum = if is_mine { value + value } else { T::default() };
        let mut lanes = WARP_SIZE / 2;
        while lanes > 0 {
            sum = sum + warp_shuffle_xor(FULL_MASK, sum, lanes, WARP_SIZE).0;
            lanes /= 2;
        }
        if lane_id() == 0 {
            words.add(own, sum, Ordering::Relaxed, Scope::Device);
        }
    }
}
