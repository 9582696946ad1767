//! The block barrier.

use simt::{Dim3, Fault, Memory, Policy, WaitingFor, launch};

use crate::support::{Words, assert_site, config, global_thread, schedules};

#[test]
fn writes_before_the_barrier_are_seen_after_it() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let words = Words::unwritten(&mut memory, 512);
        let sums = Words::unwritten(&mut memory, 512);
        let config = simt::LaunchConfig { schedule, ..config(2, 256, Policy::RoundRobin) };
        let stats = launch(&mut memory, &config, &|| {
            let i = global_thread();
            words.set(i, i as u32);
            simt::block_barrier();
            let other = i ^ 255;
            sums.set(i, words.get(other));
        })
        .expect("every thread writes its word before any reads it");
        assert_eq!(stats.barriers, 2);
        assert_eq!((stats.threads, stats.accesses), (512, 3 * 512));
        let expected: Vec<u32> = (0..512).map(|i| i ^ 255).collect();
        assert_eq!(sums.host(&memory, 512), expected);
    }
}

#[test]
fn votes_count_the_block() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(3, 70, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            let i = simt::position().linear_thread();
            let some = simt::block_vote(u32::from(i < 41));
            assert_eq!((some.count, some.all, some.any), (41, false, true));
            let all = simt::block_vote(1 + i);
            assert_eq!((all.count, all.all, all.any), (70, true, true));
            let none = simt::block_vote(0);
            assert_eq!((none.count, none.all, none.any), (0, false, false));
        })
        .expect("votes hold");
    }
}

#[test]
fn barriers_in_two_places_are_one_barrier() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 64, Policy::RunAhead), &|| {
        let votes = match simt::position().warp() {
            0 => simt::block_vote(0),
            _ => simt::block_vote(1),
        };
        assert_eq!(votes.count, 32);
    })
    .expect("a barrier is known by its number, not by its place");
}

#[test]
fn lanes_of_a_warp_at_different_barrier_calls_are_reported_with_both_lines() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(2, 64, Policy::RoundRobin) };
        let line = line!() + 3;
        let fault = launch(&mut memory, &config, &|| {
            if simt::position().linear_thread() < 40 {
                simt::block_barrier();
            } else {
                simt::block_vote(1);
            }
        })
        .expect_err("warp 1 is at both");
        let Fault::BarrierDiverged { barrier, sites } = &fault else { panic!("{fault}") };
        assert_eq!(*barrier, WaitingFor::BlockBarrier);
        let mut lines = sites.each_ref().map(|site| site.place.line());
        lines.sort_unstable();
        assert_eq!(lines, [line, line + 2], "{fault}");
        assert!(sites.iter().all(|site| site.thread.x >= 32), "{fault}");
        let told = fault.to_string();
        assert!(told.starts_with("the block barrier: lanes of one warp reach"), "{told}");
    }
}

#[test]
fn a_barrier_call_in_a_loop_counts_as_one_call() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(1, 64, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            for _ in 0..5 {
                simt::block_barrier();
            }
            simt::block_barrier();
        })
        .expect("all lanes come by the same calls");
    }
}

#[test]
fn a_thread_that_exits_before_the_barrier_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    // Thread 0 exits before anyone arrives; thread 40 leaves others waiting.
    for gone in [0, 40] {
        for schedule in schedules() {
            let config = simt::LaunchConfig { schedule, ..config(1, 64, Policy::RoundRobin) };
            let line = line!() + 3;
            let fault = launch(&mut memory, &config, &|| {
                if simt::position().linear_thread() != gone {
                    simt::block_barrier();
                }
            })
            .expect_err("one thread skips");
            let Fault::BarrierSkipped { site, missing } = &fault else { panic!("{fault}") };
            assert_eq!((site.place.file(), site.place.line()), (file!(), line));
            let exited = Dim3::new(gone, 0, 0);
            assert_eq!((missing.thread, &missing.stuck), (exited, &None));
            let said = format!("thread {exited} has exited");
            assert!(fault.to_string().contains(&said), "{fault}");
        }
    }
}

#[test]
fn a_thread_stuck_in_its_warp_skips_the_barrier() {
    let mut memory = Memory::new(1 << 20);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(2, 32, Policy::RoundRobin), &|| {
        if simt::position().linear_thread() < 16 {
            simt::block_barrier();
        } else {
            simt::warp_exchange(u32::MAX, "syncwarp", 0);
        }
    })
    .expect_err("half of the warp waits for the other half elsewhere");
    assert_site(&fault, 0, 0, file!(), line);
    let Fault::BarrierSkipped { missing, .. } = &fault else { panic!("{fault}") };
    assert_eq!(missing.thread, Dim3::new(16, 0, 0));
    assert!(fault.to_string().contains("waits forever at warp collective syncwarp"), "{fault}");
}
