//! Causes in race reports: both accesses, the missing link between them, and nothing else.

use crate::races::{DATA, FLAG, race_in};
use crate::support::{Words, assert_site, config};
use simt::{
    AccessKind, Fault, LaunchConfig, Memory, MissingOrder, Order, Policy, Scope, launch, position,
};

#[test]
fn a_race_names_both_accesses_and_what_is_missing() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let config = LaunchConfig { races: true, ..config(2, 1, Policy::RoundRobin) };
    let line = line!();
    let fault = launch(&mut memory, &config, &|| {
        if position().block_idx.x == 0 {
            words.set(DATA, 42);
            words.store(FLAG, 1, Order::Relaxed, Scope::Device);
        } else {
            while words.load(FLAG, Order::Acquire, Scope::Device) != 1 {
                simt::spin();
            }
            words.get(DATA);
        }
    })
    .expect_err("the flag is not released");
    assert_site(&fault, 1, 0, file!(), line + 9);
    let Fault::Race(race) = &fault else { panic!("{fault}") };
    assert_eq!(race.later.access.kind, AccessKind::Read);
    assert_eq!(race.earlier.site.place.line(), line + 3);
    let at = |line: u32, block: u32| {
        let file = file!();
        format!("(kernel test, block ({block}, 0, 0), thread (0, 0, 0), at {file}:{line}:")
    };
    let told = fault.to_string();
    for part in [
        format!("data race: 4-byte weak load {}", at(line + 9, 1)),
        format!("and 4-byte weak store {}", at(line + 3, 0)),
        "touch offset 64 of allocation 0 (128 bytes), element 16; ".to_owned(),
        format!("the 4-byte acquire load at device scope {}", at(line + 6, 1)),
        format!("sees the 4-byte relaxed store at device scope {}", at(line + 4, 0)),
        "but the write is not released: make it release, or put a fence right before it".to_owned(),
    ] {
        assert!(told.contains(&part), "{part:?} should be in {told:?}");
    }
}

/// The message of the race that a kernel of two blocks has under any schedule.
#[track_caller]
fn told(kernel: impl Fn(Words)) -> String {
    told_of((2, 1), kernel)
}

/// Like [`told`], with the given numbers of blocks and threads.
#[track_caller]
fn told_of((blocks, threads): (u32, u32), kernel: impl Fn(Words)) -> String {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let config = LaunchConfig { races: true, ..config(blocks, threads, Policy::RoundRobin) };
    let fault = launch(&mut memory, &config, &|| kernel(words)).expect_err("there is a race");
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
    fault.to_string()
}

#[test]
fn a_fence_whose_scope_is_too_narrow_is_named_with_its_scope() {
    let line = line!() + 11;
    let told = told(|words| {
        if position().block_idx.x == 0 {
            words.set(DATA, 42);
            words.store(FLAG, 1, Order::Release, Scope::Device);
        } else {
            while words.load(FLAG, Order::Relaxed, Scope::Device) != 1 {
                simt::spin();
            }
            // A fence exists, so advice to add one here would be wrong.
            let scope = Scope::Block;
            simt::fence(scope, Order::AcqRel);
            words.get(DATA);
        }
    });
    let file = file!();
    let fence = format!("the fence after the read, at {file}:{line}:");
    assert!(told.contains(&fence), "{told}");
    let why = "has block scope, which does not reach the other thread: widen it";
    assert!(told.contains(why) && !told.contains("put a fence"), "{told}");
}

/// Acquires the flag, then reads the data that it guards.
fn waits_and_reads(words: Words) {
    while words.load(FLAG, Order::Acquire, Scope::Device) != 1 {
        simt::spin();
    }
    words.get(DATA);
}

#[test]
fn a_flag_set_before_the_value_is_not_blamed_on_another_access() {
    // Both take a relaxed ticket first. The flag is released and acquired. Neither is to blame.
    let missing = race_in(2, 1, |words| {
        words.add_at(FLAG + 1, 1, Order::Relaxed, Scope::Device);
        if position().block_idx.x == 0 {
            words.store(FLAG, 1, Order::Release, Scope::Device);
            simt::nanosleep(0);
            words.set(DATA, 42);
        } else {
            waits_and_reads(words);
        }
    });
    assert_eq!(missing, Some(MissingOrder::Everything { same_block: false }));
}

#[test]
fn a_write_after_a_relaxed_one_is_not_blamed_on_that() {
    // Thread 0 of block 0 adds before it writes, so a releasing addition would not help.
    let missing = race_in(2, 1, |words| {
        if position().block_idx.x == 0 {
            words.add_at(FLAG, 1, Order::Relaxed, Scope::Device);
            words.set(DATA, 42);
        } else {
            waits_and_reads(words);
        }
    });
    assert_eq!(missing, Some(MissingOrder::Everything { same_block: false }));
}

#[test]
fn a_fence_of_the_reader_after_the_barrier_of_its_block_is_too_late_for_the_others() {
    // Thread 0 of block 1 polls, then all meet, then it executes its fence: the release is sound.
    let told = told_of((2, 2), |words| {
        let at = position();
        if at.block_idx.x == 0 {
            if at.thread_idx.x == 0 {
                words.set(DATA, 42);
                simt::fence(Scope::Device, Order::AcqRel);
                words.store(FLAG, 1, Order::Relaxed, Scope::Device);
            }
            return;
        }
        if at.thread_idx.x == 0 {
            while words.load(FLAG, Order::Relaxed, Scope::Device) != 1 {
                simt::spin();
            }
        }
        simt::block_barrier();
        if at.thread_idx.x == 0 {
            simt::fence(Scope::Device, Order::AcqRel);
        } else {
            simt::nanosleep(9);
            simt::nanosleep(9);
            words.get(DATA);
        }
    });
    assert!(told.contains("the read does not acquire"), "{told}");
    assert!(!told.contains("not released"), "{told}");
}

#[test]
fn a_missing_barrier_of_a_warp_is_not_blamed_on_a_counter() {
    let missing = race_in(1, 2, |words| {
        let me = position().linear_thread() as usize;
        words.set(DATA + me, 42);
        words.add_at(FLAG, 1, Order::Relaxed, Scope::Device);
        words.get(DATA + 1 - me);
    });
    assert_eq!(missing, Some(MissingOrder::Everything { same_block: true }));
}

#[test]
fn between_blocks_the_advice_is_a_barrier_of_the_grid() {
    let told = told(|words| words.set(DATA, position().block_idx.x));
    assert!(told.contains("put a barrier of the grid between them"), "{told}");
    assert!(!told.contains("barrier of the block"), "{told}");
}

#[test]
fn is_like_ignores_the_threads_of_a_fault() {
    let spins = |blocks: u32, flag: usize| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let stuck = launch(&mut memory, &config(blocks, 3, Policy::RoundRobin), &|| {
            if flag == 0 {
                words.wait_for(0, 1);
            } else {
                words.wait_for(1, 1);
            }
        });
        stuck.expect_err("nobody writes")
    };
    assert!(spins(2, 0).is_like(&spins(3, 0)));
    assert_ne!(spins(2, 0), spins(3, 0));
    assert!(!spins(2, 0).is_like(&spins(2, 1)));
}

#[test]
fn debug_of_a_fault_is_its_message() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let fault = launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| words.set(32, 1));
    let fault = fault.expect_err("there are 32 words");
    assert_eq!(format!("{fault:?}"), fault.to_string());
}
