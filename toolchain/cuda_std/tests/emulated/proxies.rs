//! Fences between ordinary accesses and bulk copies.

use crate::bulk::{assert_trap, empty, fault, fill, full, init, launch, results, stage};
use cuda_std::{bulk, mbarrier, thread};
use simt::{Fault, MissingOrder, Space};

#[test]
fn a_store_without_a_proxy_fence_is_detected() {
    let line = line!() + 7;
    let fault = fault(false, |_, to| {
        let i = thread::index_in_block();
        bulk::fence_shared();
        results().write(i, i as u32);
        thread::sync_threads();
        if i == 0 {
            bulk::store(to, results());
            bulk::wait_read::<0>();
        }
    });
    assert_trap(&fault, line, "call `fence_shared`");
}

#[test]
fn reloading_a_stage_needs_a_fence_after_its_reads() {
    for fences in [true, false] {
        let launched = launch(true, |from, _| {
            init(64);
            for round in 0..2 {
                if thread::is_first_in_block() {
                    mbarrier::wait(empty(), 0, (round + 1) % 2);
                    fill(0, from);
                }
                mbarrier::wait(full(), 0, round);
                stage(0).read(thread::index_in_block());
                if fences {
                    bulk::fence_shared();
                }
                mbarrier::arrive(empty(), 0);
            }
        });
        match launched {
            Ok(_) => assert!(fences),
            Err(Fault::Race(race)) => {
                assert_eq!(race.missing, MissingOrder::Proxy(Space::Shared));
                assert!(!fences && race.to_string().contains("call `fence_shared`"), "{race}");
            }
            Err(fault) => panic!("{fault}"),
        }
    }
}

#[test]
fn a_load_to_a_barrier_without_its_fence_is_detected() {
    let line = line!() + 11;
    let load = |fences: bool| {
        launch(false, |from, _| {
            if thread::is_first_in_block() {
                mbarrier::init(full(), 0, 1);
                if fences {
                    mbarrier::fence_init();
                }
            }
            thread::sync_threads();
            if thread::index_in_block() == 32 {
                fill(0, from);
                mbarrier::wait(full(), 0, 0);
            }
        })
    };
    assert!(load(true).is_ok());
    assert_trap(&load(false).expect_err("no fence"), line, "must call `fence_init`");
}

#[test]
fn loaded_data_may_be_stored_without_a_fence() {
    let copied = launch(true, |from, to| {
        init(1);
        if thread::is_first_in_block() {
            stage(2).write(3, 1);
            bulk::fence_shared();
            fill(2, from);
            mbarrier::wait(full(), 2, 0);
            bulk::store(to, stage(2));
            bulk::wait_read::<0>();
        }
    });
    assert_eq!(copied.expect("no fault")[63], 63);
}
