//! The place of a block in its cluster, and the barrier of the cluster. From sm_90 on.

use crate::{does, gives};
use cuda_std::memory::Global;
use cuda_std::{cluster, thread};

gives! {
    cluster_rank() -> u32 { cluster::rank() }
    cluster_blocks() -> u32 { cluster::blocks() }
}

does! {
    cluster_place(at: Global<u64>) {
        at.write_volatile(cluster::index(), cluster::count() as u64);
    }
    cluster_sync() { cluster::sync(); }
    cluster_arrive_and_wait_apart(at: Global<u32>) {
        at.write_volatile(0, 1);
        cluster::arrive_relaxed();
        at.write_volatile(1, 2);
        cluster::wait();
        at.write_volatile(2, 3);
    }
    cluster_barrier_between_equal_branches(at: Global<u32>, flag: u32) {
        let chosen = thread::thread_idx_x() < flag;
        if chosen {
            at.write_volatile(0, 1);
        }
        cluster::sync();
        if chosen {
            at.write_volatile(1, 2);
        }
    }
    plain_read_round_cluster_barrier(at: Global<u32>) {
        let before = at.read(0);
        cluster::sync();
        at.write_volatile(1, before + at.read(0));
    }
}
