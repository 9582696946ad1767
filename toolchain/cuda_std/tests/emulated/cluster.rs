//! The place of a block in its cluster, and the barrier of the cluster.

use crate::support::{config, fault_of, leaves, run};
use cuda_std::memory::Ordering::{AcqRel, Acquire, Relaxed};
use cuda_std::memory::Scope::Device;
use cuda_std::{cluster, spin, thread};
use simt::{Fault, LaunchConfig};

fn in_clusters_of(blocks: u32, config: LaunchConfig<'static>) -> LaunchConfig<'static> {
    LaunchConfig { cluster: Some(blocks), ..config }
}

#[test]
fn clusters_are_numbered_x_first_and_blocks_in_each() {
    run(&in_clusters_of(2, config((6, 2, 2), 3)), || {
        let block = thread::block_idx();
        assert_eq!((cluster::blocks(), cluster::count()), (2, 12));
        assert_eq!(cluster::rank(), block.x % 2);
        let index = block.x / 2 + 3 * (block.y + 2 * block.z);
        assert_eq!(cluster::index(), index as usize);
    });
    run(&config(5, 3), || {
        assert_eq!((cluster::blocks(), cluster::count()), (1, 5));
        assert_eq!((cluster::rank(), cluster::index()), (0, thread::block_index()));
        cluster::sync();
    });
}

#[test]
fn the_cluster_barrier_shows_each_thread_what_all_blocks_wrote_before() {
    let sums = leaves(&in_clusters_of(4, config(8, 40)), &[0u32; 640], |data| {
        let (i, first) = (thread::index(), 160 * cluster::index());
        data.write(i, i as u32);
        cluster::sync();
        data.write(320 + i, (first..first + 160).map(|j| data.read(j)).sum());
    });
    assert_eq!(sums[320..480], [159 * 80; 160]);
    assert_eq!(sums[480..], [159 * 80 + 160 * 160; 160]);
}

/// A grid barrier by one thread of each cluster. The cluster barrier holds the others.
#[test]
fn a_cluster_can_be_held_at_its_barrier_until_its_leader_arrives() {
    let sums = leaves(&in_clusters_of(2, config(6, 40)), &[0u32; 241], |data| {
        let clusters = cluster::count() as u32;
        data.fetch_add(thread::index(), 1, Relaxed, Device);
        cluster::sync();
        if cluster::rank() == 0 && thread::is_first_in_block() {
            data.fetch_add(240, 1, AcqRel, Device);
            spin::until(|| data.load(240, Acquire, Device) == clusters);
        }
        cluster::arrive_relaxed();
        cluster::wait();
        assert!((0..240).all(|i| data.read(i) == 1));
    });
    assert_eq!(sums[240], 3);
}

#[test]
fn a_wait_without_an_arrival_is_a_fault_at_the_kernels_own_line() {
    let line = line!() + 2;
    let fault = fault_of(&config(1, 1), || {
        cluster::wait();
    });
    assert!(matches!(fault, Fault::ClusterNotArrived { .. }), "{fault}");
    let place = fault.site().expect("it has a place").place;
    assert_eq!((place.file(), place.line()), (file!(), line));
}
