//! The cluster barrier: the blocks of a cluster meet by Hopper's own barrier, and one block of each
//! cluster meets the others.

use super::{Barrier, GrowingBarrier, Members};
use cuda_std::cluster;
use cuda_std::prelude::*;

/// A barrier in two levels, from compute capability 9.0: clusters by `barrier.cluster`, then one
/// block of each by a [`GrowingBarrier`].
///
/// Fewer blocks arrive in global memory, by a factor of the cluster's size; for that there are two
/// barriers of the cluster on the way. A launch without clusters has clusters of one block. The
/// members are whole clusters, numbered side by side.
#[derive(Debug)]
pub struct ClusterBarrier {
    clusters: GrowingBarrier,
}

impl Barrier for ClusterBarrier {
    fn words(blocks: usize) -> usize {
        GrowingBarrier::<super::Acquire>::words(blocks)
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let blocks = cluster::blocks();
        let clusters = Members::new(members.rank() / blocks, members.count() / blocks);
        Self { clusters: GrowingBarrier::attach_among(state, clusters) }
    }

    /// Says that the block has arrived; waits for the other blocks of its cluster.
    #[device]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one fence covers it: as `sync`, but
        // with one fence for a block where each thread's release would be one.
        thread::sync_threads();
        if thread::is_first_in_block() {
            thread::fence(Ordering::AcqRel, Scope::Device);
        }
        cluster::arrive_relaxed();
        cluster::wait();
        if cluster::rank() == 0 {
            self.clusters.arrive();
        }
    }

    #[device]
    fn wait(&mut self) {
        if cluster::rank() == 0 {
            self.clusters.wait();
            // Passes on to the whole cluster what this block acquired.
            cluster::arrive();
        } else {
            cluster::arrive_relaxed();
        }
        cluster::wait();
    }
}
