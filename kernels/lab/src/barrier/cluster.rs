//! The cluster barrier: the blocks of a cluster synchronise at Hopper's cluster barrier, and the
//! first blocks of all clusters in global memory.

use super::GrowingBarrier;
use cuda_std::cluster;
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, Members};

/// A barrier in two levels, for compute capability 9.0 or higher: `barrier.cluster` within each
/// cluster, and a [`GrowingBarrier`] between the first blocks of the clusters.
///
/// Fewer blocks arrive in global memory, by a factor of the cluster's size. In return each crossing
/// has two cluster barriers. A launch without clusters has clusters of one block. The members are
/// whole clusters, and the ranks within a cluster are consecutive.
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

    /// Arrives. Waits for the other blocks of its cluster.
    #[device]
    fn arrive(&mut self) {
        // One fence then covers the writes of all threads of the block. `cluster::arrive` would
        // issue a fence in each thread.
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
            // Passes what this block acquired to the whole cluster.
            cluster::arrive();
        } else {
            cluster::arrive_relaxed();
        }
        cluster::wait();
    }
}
