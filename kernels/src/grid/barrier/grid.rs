//! The barrier to use: the fastest design for the current grid.

use super::split::{Counters, words};
use super::{Barrier, Members};
use cuda_std::prelude::*;

/// One counter is used up to this many blocks of up to this many threads, and two beyond.
// Late and split barrier, µs, on an H200 at 1980 MHz, 2026-11-21 (bench/runs): 0.838 and 0.855 for
// 132 blocks of 256 threads, 1.116 and 0.889 for 528 of 256; at 264 of 256 they are within 1 %.
// No other design was faster at any grid measured, from a quarter of a block to four blocks per
// multiprocessor, except the split one by 0.5 % at 33 blocks of 1024 threads.
const ONE_COUNTER: (u32, u32) = (264, 512);

/// The grid barrier to use. It picks [`LateBarrier`](super::LateBarrier) or
/// [`SplitBarrier`](super::SplitBarrier) with two counters, each with separate words. The choice
/// depends on the number of blocks and of threads, so it is the same in all blocks.
///
/// ```no_run
/// use cuda_std::prelude::*;
/// use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
///
/// #[kernel(cooperative)]
/// pub unsafe fn two_stages(values: Global<f32>, barrier: Global<u32>) {
///     let mut barrier = GridBarrier::attach(barrier);
///     let (me, threads) = (thread::index(), thread::thread_count());
///     values.write(me, me as f32);
///     barrier.sync();
///     let other = values.read(threads - 1 - me);
///     barrier.sync();
///     values.write(me, other);
/// }
/// ```
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct GridBarrier(Counters);

impl Barrier for GridBarrier {
    fn words(_blocks: usize) -> usize {
        words(1) + words(2)
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let (blocks, threads) = ONE_COUNTER;
        let one = members.count() <= blocks && thread::in_32_bits::threads_per_block() <= threads;
        // Both designs are the same code with different constants, so a crossing needs no slow
        // branch.
        let (start, counters) = if one { (0, 1) } else { (words(1), 2) };
        Self(Counters::attach(state.part(start, words(counters)), members, counters))
    }

    #[device]
    fn arrive(&mut self) {
        self.0.arrive();
    }

    #[device]
    fn wait(&mut self) {
        self.0.wait();
    }
}
