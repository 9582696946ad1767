//! Scans of a block, under many schedules.

use crate::support::launch;
use cuda_std::thread;
use gridsync_kernels::block::{self, Prefix};
use gridsync_kernels::op::{Affine, Compose, Operation, Sum};
use gridsync_kernels::warp;
use simt::{Fault, LaunchConfig, Schedule};

fn config(threads: u32, seed: u64) -> LaunchConfig<'static> {
    LaunchConfig {
        schedule: Schedule::from_seed(seed),
        races: true,
        ..LaunchConfig::new("test", 2, threads)
    }
}

/// The map of a thread. Maps do not commute.
fn map(thread: usize) -> Affine {
    Affine { factor: 2 * thread as u32 + 3, summand: thread as u32 + 1 }
}

/// The composition of the maps of the first `threads` threads.
fn composed(threads: usize) -> Affine {
    let op = Compose::new();
    (0..threads).map(map).fold(op.identity(), |all, map| op.combine(all, map))
}

#[test]
fn scans_of_a_block_keep_the_order_of_its_threads() {
    for (threads, seed) in [(32, 0), (64, 1), (96, 2), (96, 3), (1024, 4)] {
        let all: Vec<Affine> = (0..=threads).map(composed).collect();
        launch(&config(threads as u32, seed), &|_| {
            let (op, me) = (Compose::new(), thread::index_in_block());
            assert_eq!(block::scan(op, map(me)), all[me + 1]);
            thread::sync_threads();
            let prefix = block::scan_exclusive(op, map(me));
            assert_eq!(prefix, Prefix { before: all[me], all: all[threads] });
        })
        .unwrap_or_else(|fault| panic!("{threads} threads, seed {seed}: {fault}"));
    }
}

#[test]
fn an_exclusive_scan_of_a_warp_begins_with_the_identity() {
    launch(&config(32, 1), &|_| {
        let me = thread::index_in_block() as u32;
        let before = warp::scan_exclusive(Sum::<u32>::new(), me + 1);
        assert_eq!(before, me * (me + 1) / 2);
    })
    .unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn two_scans_of_a_block_need_a_barrier_between_them() {
    for seed in 0..8 {
        let fault = launch(&config(64, seed), &|_| {
            let first = block::scan(Sum::<u32>::new(), 1);
            block::scan(Sum::<u32>::new(), first);
        });
        assert!(matches!(fault, Err(Fault::Race(_))), "seed {seed}: {fault:?}");
    }
}
