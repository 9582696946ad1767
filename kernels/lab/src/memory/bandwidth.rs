//! Reads with a fixed number of bytes in flight.
//!
//! In each round a thread loads a few packs of 16 bytes, all before it uses any. The addresses of
//! the next round depend on the loaded values. So a thread never has more packs in flight, however
//! the compiler unrolls the loop, and waits for the slowest of them.

use super::{SHARED_WORDS, copied};
use core::array::from_fn;
use cuda_std::prelude::*;
use cuda_std::time::clock;

/// Words of a pack.
pub const PACK: usize = 4;

/// Packs that a thread of [`memory_read_shared`] has in flight.
pub const SHARED_PACKS: usize = 4;

/// Threads of a block of [`memory_read_shared`].
pub const SHARED_THREADS: usize = SHARED_WORDS / PACK;

/// The factor of [`word`]: odd, with random-looking bits.
const FACTOR: u32 = 0x9e37_79b1;

/// Word `i` of the arrays that are read. The sum of any run of words has a closed form.
pub const fn word(i: u32) -> u32 {
    i.wrapping_mul(FACTOR)
}

/// Fills the array to read with [`word`].
///
/// # Safety
///
/// Nothing else uses `words`, which are at most 2^32.
#[kernel]
pub unsafe fn memory_fill(words: Global<u32>) {
    let mut i = thread::index();
    while i < words.len() {
        words.write(i, word(i as u32));
        i += thread::thread_count();
    }
}

macro_rules! reads {
    ($($name:ident: $packs:literal;)*) => {$(
        #[doc = concat!("Reads with ", $packs, " packs in flight in each thread.")]
        ///
        /// All threads together read consecutive packs, starting at pack `first` and wrapping
        /// around. In each of `rounds` rounds they read as many as they can have in flight. Each
        /// thread writes the sum of the words that it read to its element of `sums`. The loads
        /// bypass the L1.
        ///
        /// # Safety
        ///
        /// `words` has a power of two packs, at most 2^30, and begins at a multiple of 16 bytes;
        /// `sums` has an element per thread; `zero` is 0.
        #[kernel]
        pub unsafe fn $name(
            words: Global<u32>,
            sums: Global<u32>,
            first: u32,
            rounds: u32,
            zero: u32,
        ) {
            read::<$packs>(words, sums, (first, rounds, zero));
        }
    )*};
}
reads! {
    memory_read_1: 1;
    memory_read_2: 2;
    memory_read_4: 4;
    memory_read_8: 8;
}

#[device]
fn read<const PACKS: usize>(
    words: Global<u32>,
    sums: Global<u32>,
    (first, rounds, zero): (u32, u32, u32),
) {
    let (me, threads) = (thread::index() as u32, thread::thread_count() as u32);
    let last = (words.len() / PACK) as u32 - 1;
    let (mut from, mut sum) = (first.wrapping_add(me), 0u32);
    for _ in 0..rounds {
        // The compiler does not know that this adds 0, so it waits for the sum of the round before.
        let next = from.wrapping_add(sum & zero);
        let packs: [[u32; PACK]; PACKS] = from_fn(|pack| {
            let pack = next.wrapping_add(pack as u32 * threads) & last;
            words.read_pack(pack as usize * PACK, CacheHint::L2Only)
        });
        sum = sum.wrapping_add(sum_of(&packs, zero));
        from = from.wrapping_add(PACKS as u32 * threads);
    }
    sums.write(me as usize, sum);
}

/// The sum of all words of the packs, provided that `zero` is 0, which the compiler does not know.
/// So it has to wait for one word of each pack before it adds any: otherwise it would wait for some
/// packs before it loads the others, to save registers.
#[device]
fn sum_of<const PACKS: usize>(packs: &[[u32; PACK]; PACKS], zero: u32) -> u32 {
    let loaded = packs.iter().fold(0, |all, pack| all ^ pack[0]) & zero;
    packs.iter().fold(0, |sum: u32, pack| {
        let [a, b, c, d] = pack.map(|word| word ^ loaded);
        sum.wrapping_add(a.wrapping_add(b)).wrapping_add(c.wrapping_add(d))
    })
}

/// Reads the same 16 KiB of shared memory again and again: with [`SHARED_THREADS`] threads, all of
/// them [`SHARED_PACKS`] times a round.
///
/// A block first copies `words` to shared memory. `sums` gets the sum of the words that each thread
/// read, and `cycles` the cycles of each block. The lanes of a warp read adjacent packs, without
/// bank conflicts.
///
/// # Safety
///
/// There are [`SHARED_WORDS`] `words`; `sums` has an element per thread and `cycles` one per block;
/// `zero` is 0. Blocks have [`SHARED_THREADS`] threads.
#[kernel]
pub unsafe fn memory_read_shared(
    words: Global<u32>,
    sums: Global<u32>,
    cycles: Global<u64>,
    rounds: u32,
    zero: u32,
) {
    let copy = copied(words);
    thread::sync_threads();
    let start = clock();
    let mut sum = 0u32;
    for round in 0..rounds {
        let next = thread::in_32_bits::index_in_block() + round + (sum & zero);
        let packs: [[u32; PACK]; SHARED_PACKS] = from_fn(|pack| {
            let apart = (SHARED_THREADS / SHARED_PACKS * pack) as u32;
            let pack = (next + apart) as usize % SHARED_THREADS;
            copy.read_pack(pack * PACK, CacheHint::Default)
        });
        // Only additions: with much more, the threads would wait for arithmetic.
        sum = packs.iter().flatten().fold(sum, |sum, &word| sum.wrapping_add(word));
    }
    thread::sync_threads();
    let end = clock();
    sums.write(thread::index(), sum);
    if thread::is_first_in_block() {
        cycles.write(thread::block_index(), end - start);
    }
}
