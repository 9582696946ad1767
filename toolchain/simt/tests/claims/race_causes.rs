//! What a race is blamed on: both accesses, the missing link between them, and nothing else.

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
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let config = LaunchConfig { races: true, ..config(2, 1, Policy::RoundRobin) };
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
            // There is a fence already, so advice to put one here would be wrong.
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
fn a_flag_that_is_told_before_the_value_is_not_blamed_on_another_access() {
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
fn a_fault_shows_its_message_where_errors_are_debugged() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let fault = launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| words.set(32, 1));
    let fault = fault.expect_err("there are 32 words");
    assert_eq!(format!("{fault:?}"), fault.to_string());
}
