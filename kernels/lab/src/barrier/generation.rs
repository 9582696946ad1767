//! The reset barrier, repaired: a counter that wraps to 0, and a generation whose change persists.

use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use gridsync_kernels::grid::barrier::{Barrier, Members, NAME, STRIDE};

/// Indices of the counter and of the number of full rounds.
const COUNT: usize = 0;
const GENERATION: usize = STRIDE;

/// [`ResetBarrier`](super::ResetBarrier) with the fewest changes that make it correct.
///
/// As there, the counter is an `atomicInc` that wraps to 0 with the last arrival, the fences are
/// `__threadfence`, and the spin is volatile. This one adds a block barrier before the arrival, a
/// fence after the spin, and the generation. The last block to arrive increments the generation,
/// and the others wait for that. A slow block cannot miss it.
/// [`ReleaseBarrier`](super::ReleaseBarrier) does the same with release and acquire, not fences.
// Not `Copy`: each copy would have a separate generation.
#[derive(Debug)]
pub struct GenerationBarrier {
    state: Global<u32>,
    members: Members,
    /// The number of full rounds. Valid in the first thread only.
    generation: u32,
}

impl Barrier for GenerationBarrier {
    fn words(_blocks: usize) -> usize {
        GENERATION + 1
    }

    #[device(protocol = NAME)]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, state);
        let generation =
            if thread::is_first_in_block() { state.read_volatile(GENERATION) } else { 0 };
        Self { state, members, generation }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        thread::device_fence();
        // Otherwise the first thread could arrive while others of the block are still writing.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let (state, last) = (self.state, self.members.count() - 1);
            // Orders the writes of all threads of the block before the arrival.
            thread::device_fence();
            if state.fetch_inc(COUNT, last, Ordering::Relaxed, Scope::Device) == last {
                // A block that sees the new generation also sees the counter at 0.
                thread::device_fence();
                state.write_volatile(GENERATION, self.generation.wrapping_add(1));
            }
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (state, generation) = (self.state, self.generation);
            spin::until(|| state.read_volatile(GENERATION) != generation);
            self.generation = generation.wrapping_add(1);
            thread::device_fence();
        }
        thread::sync_threads();
    }
}
