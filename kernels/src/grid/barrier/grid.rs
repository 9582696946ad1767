//! The barrier to take: the fastest design for the grid at hand.

use super::split::{Counters, words};
use super::{Barrier, Members};
use cuda_std::prelude::*;

/// Up to so many blocks of up to so many threads one counter is enough; more arrive at two.
// The late barrier against the split one, µs, on an H200 at 1980 MHz, 2026-11-21 (bench/runs): 132
// blocks of 256 threads 0.838 and 0.855, 528 of 256 1.116 and 0.889; at 264 of 256 they are within
// 1 %. No other design is faster at any grid measured, from a quarter of a block to four blocks for
// each multiprocessor, but the split one by 0.5 % at 33 blocks of 1024 threads.
const ONE_COUNTER: (u32, u32) = (264, 512);

/// The grid barrier to take. It picks the design by the number of blocks and of threads, which are
/// the same in all blocks: [`LateBarrier`](super::LateBarrier) or
/// [`SplitBarrier`](super::SplitBarrier) of two counters, each in words of its own.
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
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct GridBarrier(Counters);

impl Barrier for GridBarrier {
    fn words(_blocks: usize) -> usize {
        words(1) + words(2)
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let (blocks, threads) = ONE_COUNTER;
        let one = members.count() <= blocks && thread::threads_per_block() <= threads;
        // The two designs are the same code with other numbers: a branch at each crossing would cost
        // 20 ns.
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
