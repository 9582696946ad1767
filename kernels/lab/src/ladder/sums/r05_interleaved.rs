//! Rung 5: a pyramid of block sums, neighbours first (Harris' first).
//!
//! Changed: a block adds up its 256 elements as a tournament in shared memory: neighbours, then elements
//! 2 apart, then 4. Why: log n rounds, for any n, on any device, with nothing to tune. Effect: none yet. A
//! warp adds if one of its lanes does, and here every second lane does, then every fourth: all 8 warps
//! are busy in each of the first five rounds. That makes 47 additions of a warp, where 12 would do.
//!
//! Launched: a thread for each element; again for the sums of the blocks until one is left.

use super::{Summand, element, sums_of_block};
use cuda_std::prelude::*;

/// Sums the elements of each block's threads to the block's element of `partials`. Called by every
/// thread of the grid; blocks have a power of two of threads, up to [`THREADS`](crate::ladder::THREADS).
// The number of threads is read at run time. With a constant the compiler would unroll the rounds, here
// and in the rungs that follow. Even so it sees that `2 * apart` is a power of two, and turns the `%`,
// which was slow in Harris' time, into a mask.
#[device]
pub fn interleaved<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) = (thread::index_in_block(), thread::threads_per_block());
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
