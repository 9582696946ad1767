//! The seed's barrier (row R4), repaired: the counter that wraps to 0, and a generation that says
//! so for good.

use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// Where the counter lies, and where the number of full rounds.
const COUNT: usize = 0;
const GENERATION: usize = STRIDE;

/// The seed's barrier with the least that makes it right.
///
/// As in the seed the counter is an `atomicInc` that wraps to 0 with the last arrival, the fences
/// are `__threadfence` and the spin is volatile. New are the barrier of the block before the
/// arrival, and the generation: the last block to arrive counts it up, and the others wait for that,
/// which a slow one cannot miss. [`ReleaseBarrier`](super::ReleaseBarrier) is the same idea with
/// release and acquire in place of fences.
// Not `Copy`: two copies would not know of each other's generation.
#[derive(Debug)]
pub struct GenerationBarrier {
    state: Global<u32>,
    members: Members,
    /// The number of full rounds, as the block's first thread knows it.
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
        // The seed lacks it: its first thread arrives while others of the block still write.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let (state, last) = (self.state, self.members.count() - 1);
            // Makes the threads' fences one: what they wrote precedes this block's arrival.
            thread::device_fence();
            if state.fetch_inc(COUNT, last, Ordering::Relaxed, Scope::Device) == last {
                // The counter is 0 again for whoever sees the new generation.
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
