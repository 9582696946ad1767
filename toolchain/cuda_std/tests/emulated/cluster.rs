//! The position of a block in its cluster, the shared memory of the other blocks, and the cluster
//! barrier.

use crate::support::{config, fault_of, leaves, run};
use cuda_std::memory::Ordering::{AcqRel, Acquire, Relaxed};
use cuda_std::memory::Scope::Device;
use cuda_std::{cluster, shared_array, spin, thread};
use simt::{Fault, LaunchConfig};

shared_array! {
    fn counts() -> [u32; 8];
}

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
fn the_cluster_barrier_makes_earlier_writes_of_all_blocks_visible() {
    let sums = leaves(&in_clusters_of(4, config(8, 40)), &[0u32; 640], |data| {
        let (i, first) = (thread::index(), 160 * cluster::index());
        data.write(i, i as u32);
        cluster::sync();
        data.write(320 + i, (first..first + 160).map(|j| data.read(j)).sum());
    });
    assert_eq!(sums[320..480], [159 * 80; 160]);
    assert_eq!(sums[480..], [159 * 80 + 160 * 160; 160]);
}

/// A grid barrier by one thread of each cluster. The cluster barrier holds the other threads.
#[test]
fn the_cluster_barrier_waits_for_a_leader_at_a_grid_barrier() {
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

/// A histogram whose bins are spread over the shared memories of a cluster.
#[test]
fn blocks_add_to_the_shared_memory_of_their_cluster_and_read_it() {
    let checked = LaunchConfig { races: true, ..in_clusters_of(4, config(8, 40)) };
    let bins = leaves(&checked, &[0u32; 320], |out| {
        let me = thread::index_in_block();
        if me < 8 {
            counts().write(me, 0);
        }
        cluster::sync();
        let bin = thread::index() % 32;
        let holder = cluster::shared_of(counts(), bin as u32 / 8);
        assert_eq!(holder.len(), 8);
        holder.fetch_add(bin % 8, 1, Relaxed, Device);
        cluster::sync();
        let next = cluster::shared_of(counts().part(2, 6), (cluster::rank() + 1) % 4);
        out.write(thread::index(), next.read(me % 6) * 100 + cluster::rank());
        cluster::sync();
    });
    let expected = (0..320).map(|thread| 500 + thread / 40 % 4);
    assert_eq!(bins, expected.collect::<Vec<u32>>());
}

#[test]
fn own_shared_memory_has_block_scope_and_through_the_cluster_cluster_scope() {
    let added = |own_by_the_cluster: bool| {
        let checked = LaunchConfig { races: true, ..in_clusters_of(2, config(2, 1)) };
        let body = move || {
            counts().write(0, 0);
            cluster::sync();
            match (cluster::rank(), own_by_the_cluster) {
                (0, false) => counts().add(0, 1, Relaxed, Device),
                _ => cluster::shared_of(counts(), 0).add(0, 1, Relaxed, Device),
            }
            cluster::sync();
        };
        simt::launch(&mut simt::Memory::new(0), &checked, &body)
    };
    assert!(added(true).is_ok());
    assert!(matches!(added(false), Err(Fault::Race(_))));
}

#[test]
fn reading_from_a_block_that_is_not_running_faults_at_the_kernels_line() {
    let line = line!() + 2;
    let fault = fault_of(&in_clusters_of(2, config(2, 1)), || {
        cluster::shared_of(counts(), 1 - cluster::rank()).write(3, 1);
    });
    assert!(matches!(fault, Fault::ClusterBlockAbsent { rank: 0, ended: true, .. }), "{fault}");
    let place = fault.site().expect("it has a place").place;
    assert_eq!((place.file(), place.line()), (file!(), line));
}

#[test]
fn a_wait_without_an_arrival_faults_at_the_kernels_line() {
    let line = line!() + 2;
    let fault = fault_of(&config(1, 1), || {
        cluster::wait();
    });
    assert!(matches!(fault, Fault::ClusterNotArrived { .. }), "{fault}");
    let place = fault.site().expect("it has a place").place;
    assert_eq!((place.file(), place.line()), (file!(), line));
}
