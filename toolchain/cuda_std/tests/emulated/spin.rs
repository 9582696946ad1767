//! Waiting, and clocks.

use crate::support::{config, fault_of, leaves, run, upload};
use cuda_std::memory::Ordering::{Acquire, Release};
use cuda_std::memory::Scope::Device;
use cuda_std::{spin, thread, time};
use simt::{Fault, Memory};

#[test]
fn a_wait_ends_when_the_other_block_has_written() {
    let after = leaves(&config(2, 1), &[0u32, 0, 0], |at| {
        if thread::block_index() == 1 {
            at.write(0, 42);
            at.store(1, 1, Release, Device);
        } else {
            spin::until(|| at.load(1, Acquire, Device) == 1);
            at.write(2, at.read(0));
        }
    });
    assert_eq!(after, [42, 1, 42]);
}

#[test]
fn waiting_for_a_write_that_never_happens_is_a_deadlock() {
    let mut memory = Memory::new(1 << 10);
    let flag = upload(&mut memory, &[0u32]);
    let fault = simt::launch(&mut memory, &config(2, 32), &|| {
        spin::until(|| flag.read_volatile(0) == 1);
    })
    .expect_err("nobody sets the flag");
    assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
}

#[test]
fn a_wait_with_a_timeout_ends_without_its_condition() {
    let after = leaves(&config(2, 32), &[0u32, 0], |flag| {
        let held = spin::until_timeout(1_000_000, || flag.read_volatile(0) == 1);
        if thread::first() {
            flag.write(1, if held { 1 } else { 2 });
        }
    });
    assert_eq!(after, [0, 2]);
}

#[test]
fn a_wait_with_a_timeout_returns_true_if_its_condition_holds_in_time() {
    run(&config(1, 4), || {
        let mut looks = 0;
        assert!(spin::until_timeout(0, || true));
        assert!(spin::until_timeout(1_000_000, || {
            looks += 1;
            looks == 10
        }));
        assert!(!spin::until_timeout(0, || false));
    });
}

#[test]
fn clocks_go_forward_and_a_sleep_ends() {
    run(&config(2, 2), || {
        let (cycles, nanoseconds) = (time::clock(), time::global_timer());
        time::nanosleep(100);
        assert!(time::clock() > cycles && time::global_timer() > nanoseconds);
    });
}

#[test]
fn a_deadlock_names_the_waiting_line() {
    let line = line!() + 2;
    let fault = fault_of(&config(1, 1), || {
        spin::until(|| false);
    });
    let Fault::Deadlock(deadlock) = &fault else { panic!("{fault}") };
    let place = deadlock.waiting[0].place;
    assert_eq!((place.file(), place.line()), (file!(), line), "{fault}");
}
