//! Rung 5: a pyramid of block sums, neighbours first (Harris' first).
//!
//! Changed: a block adds up its 256 elements as a tournament in shared memory: first neighbours,
//! then elements 2 apart, then 4. Why: log n rounds, for any n, on any device, with nothing to
//! tune. Effect: none yet. A warp is busy if one lane adds. Here every second lane adds, then every
//! fourth: all 8 warps are busy in the first five rounds. That is 47 additions of a warp, not 12.
//!
//! Launched: a thread for each element; again for the sums of the blocks until one is left.

use super::{Summand, element, sums_of_block};
use cuda_std::prelude::*;

/// Sums the elements of each block into its element of `partials`. Called by every thread of the
/// grid. Blocks have a power of two threads, up to [`THREADS`](crate::ladder::THREADS).
// The number of threads is read at run time. With a constant the compiler would unroll the rounds,
// here and in the next rungs. It still sees that `2 * apart` is a power of two, and turns the `%`
// into a mask. The `%` was slow in Harris' time.
#[device]
pub fn interleaved<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
    let at = me as usize;
    sums.write(at, element(input, thread::index()));
    thread::sync_threads();
    let mut apart = 1;
    while apart < threads {
        if me % (2 * apart) == 0 {
            let other = sums.read(at + apart as usize);
            sums.write(at, sums.read(at).add(other));
        }
        thread::sync_threads();
        apart *= 2;
    }
    if me == 0 {
        partials.write(thread::block_index(), sums.read(0));
    }
}
