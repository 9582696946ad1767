//! Bulk copies: when their data is available, and the effect of a missing wait.

use crate::support::{config, download, leaves, upload};
use cuda_std::memory::{Global, Shared};
use cuda_std::{bulk, mbarrier, shared_array, thread, time, warp};
use simt::{Fault, LaunchConfig, Memory, MissingOrder, Policy, Schedule};

const STAGES: usize = 3;
const TILE: usize = 64;

/// The barriers of [`outgoing`]: all results are written; all are read and may be overwritten.
const WRITTEN: usize = 0;
const FREE: usize = 1;

shared_array! {
    pub(crate) fn full() -> [u64; STAGES];
    pub(crate) fn empty() -> [u64; STAGES];
    fn outgoing() -> [u64; 2];
    fn tiles() -> [u32; STAGES * TILE];
    pub(crate) fn results() -> [u32; TILE];
}

pub(crate) fn stage(at: usize) -> Shared<u32> {
    tiles().part(TILE * at, TILE)
}

/// Initialises the barriers of the ring: one arrival fills a stage, `readers` arrivals empty it.
pub(crate) fn init(readers: u32) {
    if thread::is_first_in_block() {
        for stage in 0..STAGES {
            mbarrier::init(full(), stage, 1);
            mbarrier::init(empty(), stage, readers);
        }
        mbarrier::fence_init();
    }
    thread::sync_threads();
}

/// Loads a tile into a stage, as the thread that fills it.
#[track_caller]
pub(crate) fn fill(at: usize, from: Global<u32>) {
    mbarrier::arrive_expect(full(), at, 4 * TILE as u32);
    bulk::load(stage(at), from, full(), at);
}

/// The result of a block of 64 threads in a tile of zeros. `body` also gets a tile of numbers.
/// `races` enables race detection.
pub(crate) fn launch(
    races: bool,
    body: impl Fn(Global<u32>, Global<u32>),
) -> Result<Vec<u32>, Fault> {
    let mut memory = Memory::new(1 << 16);
    let numbers: Vec<u32> = (0..TILE as u32).collect();
    let (from, to) = (upload(&mut memory, &numbers), upload(&mut memory, &[0; TILE]));
    let config = LaunchConfig { races, ..config(1, 64) };
    simt::launch(&mut memory, &config, &|| body(from, to))?;
    Ok(download(&memory, to))
}

#[track_caller]
pub(crate) fn fault(races: bool, body: impl Fn(Global<u32>, Global<u32>)) -> Fault {
    launch(races, body).expect_err("the kernel should fail")
}

#[test]
fn a_bulk_load_is_visible_after_the_wait() {
    let copied = launch(true, |from, to| {
        init(1);
        let i = thread::index_in_block();
        if i == 0 {
            fill(1, from);
        }
        mbarrier::wait(full(), 1, 0);
        to.write(i, stage(1).read(i) + 1);
    });
    let wanted: Vec<u32> = (1..=TILE as u32).collect();
    assert_eq!(copied.expect("no fault"), wanted);
}

#[test]
fn a_load_may_precede_its_expectation_and_a_phase_ends_with_its_last_byte() {
    let copied = launch(true, |from, to| {
        init(1);
        let i = thread::index_in_block();
        let half = |part: usize| (stage(0).part(32 * part, 32), from.part(32 * part, 32));
        if i == 0 {
            let ((first_to, first), (second_to, second)) = (half(0), half(1));
            bulk::load(first_to, first, full(), 0);
            mbarrier::arrive_expect(full(), 0, 4 * TILE as u32);
            time::nanosleep(1000);
            bulk::load(second_to, second, full(), 0);
        }
        mbarrier::wait(full(), 0, 0);
        to.write(i, stage(0).read(i));
    });
    assert_eq!(copied.expect("no fault")[63], 63);
}

#[test]
fn a_missing_wait_for_a_bulk_load_is_detected() {
    let fault = fault(true, |from, _| {
        init(1);
        match thread::index_in_block() {
            0 => fill(0, from),
            32 => {
                mbarrier::wait(full(), 0, 1);
                // The values may have arrived by now, but are not ordered.
                time::nanosleep(10_000);
                stage(0).read(0);
            }
            _ => {}
        }
    });
    assert!(matches!(fault, Fault::Race(_) | Fault::Uninitialised { .. }), "{fault}");
}

#[test]
fn filling_a_stage_before_it_is_empty_is_a_race() {
    for waits in [true, false] {
        let launched = launch(true, |from, _| {
            init(1);
            match thread::index_in_block() {
                0 => {
                    fill(0, from);
                    mbarrier::wait(full(), 0, 0);
                    mbarrier::wait(empty(), 0, if waits { 0 } else { 1 });
                    fill(0, from);
                    mbarrier::wait(full(), 0, 1);
                }
                32 => {
                    mbarrier::wait(full(), 0, 0);
                    stage(0).read(7);
                    bulk::fence_shared();
                    mbarrier::arrive(empty(), 0);
                }
                _ => {}
            }
        });
        match launched {
            Ok(_) => assert!(waits),
            Err(Fault::Race(_)) => assert!(!waits),
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// Two warps compute the results of `rounds` tiles, which a thread of a third warp loads through
/// the ring. The first of their threads stores the results. Only barriers in shared memory
/// synchronise them.
fn pipeline(from: Global<u32>, to: Global<u32>, rounds: usize) {
    if thread::is_first_in_block() {
        mbarrier::init(outgoing(), WRITTEN, 64);
        mbarrier::init(outgoing(), FREE, 1);
    }
    init(64);
    let i = thread::index_in_block();
    let tile = |of: Global<u32>, round: usize| of.part(TILE * round, TILE);
    let parity = |turn: usize| turn as u32 % 2;
    for round in 0..rounds {
        let (at, turn) = (round % STAGES, round / STAGES);
        if i == 64 {
            mbarrier::wait(empty(), at, parity(turn + 1));
            fill(at, tile(from, round));
        }
        if i >= 64 {
            continue;
        }
        mbarrier::wait(full(), at, parity(turn));
        warp::sync_warp(warp::FULL_MASK);
        let value = stage(at).read(i) + stage(at).read(TILE - 1 - i);
        bulk::fence_shared();
        mbarrier::arrive(empty(), at);
        mbarrier::wait(outgoing(), FREE, parity(round + 1));
        results().write(i, value + round as u32);
        bulk::fence_shared();
        mbarrier::arrive(outgoing(), WRITTEN);
        if i == 0 {
            mbarrier::wait(outgoing(), WRITTEN, parity(round));
            bulk::store(tile(to, round), results());
            bulk::wait_read::<0>();
            mbarrier::arrive(outgoing(), FREE);
        }
    }
}

#[test]
fn a_ring_of_three_stages_carries_many_tiles_under_every_schedule() {
    const ROUNDS: usize = 20;
    let numbers: Vec<u32> = (0..(TILE * ROUNDS) as u32).map(|i| i * i).collect();
    let policies = [
        Policy::RoundRobin,
        Policy::RunAhead,
        Policy::Reverse,
        Policy::Coarse,
        Policy::Random { quantum: 5 },
    ];
    for policy in policies {
        let mut memory = Memory::new(1 << 16);
        let from = upload(&mut memory, &numbers);
        let to = upload(&mut memory, &[0; TILE * ROUNDS]);
        let config = LaunchConfig { schedule: Schedule::new(policy), races: true, ..config(1, 96) };
        if let Err(fault) = simt::launch(&mut memory, &config, &|| pipeline(from, to, ROUNDS)) {
            panic!("under {policy:?}: {fault}");
        }
        for (at, &value) in download(&memory, to).iter().enumerate() {
            let (round, i) = (at / TILE, at % TILE);
            let mirrored = numbers[TILE * round + TILE - 1 - i];
            let wanted = numbers[at] + mirrored + round as u32;
            assert_eq!(value, wanted, "element {at} under {policy:?}");
        }
    }
}

/// Stores the block's results. The first thread does this after all threads have written them.
fn store_results(to: Global<u32>) {
    let i = thread::index_in_block();
    results().write(i, i as u32);
    bulk::fence_shared();
    thread::sync_threads();
    if i == 0 {
        bulk::store(to, results());
    }
}

#[test]
fn overwriting_a_stored_tile_before_it_is_read_is_detected() {
    for waits in [true, false] {
        let overwrite = |_, to| {
            store_results(to);
            if thread::is_first_in_block() {
                if waits {
                    bulk::wait_read::<0>();
                }
                results().write(5, 77);
                bulk::wait_read::<0>();
            }
        };
        let stored = launch(false, overwrite).expect("no fault");
        assert_eq!(stored[5], if waits { 5 } else { 77 });
    }
    let fault = fault(true, |_, to| {
        store_results(to);
        thread::sync_threads();
        match thread::index_in_block() {
            0 => bulk::wait_read::<0>(),
            40 => results().write(5, 77),
            _ => {}
        }
    });
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
}

/// The race that ends `body`. One of its accesses is by a bulk copy.
#[track_caller]
fn race_with_a_copy(body: impl Fn(Global<u32>, Global<u32>)) {
    let fault = fault(true, body);
    let Fault::Race(race) = &fault else { panic!("{fault}") };
    assert_eq!(race.missing, MissingOrder::Copy, "{fault}");
}

#[test]
fn a_load_over_an_unfinished_store_is_a_race_within_one_thread() {
    for waits in [true, false] {
        let reuse = |from, to| {
            store_results(to);
            mbarrier_of_one_thread();
            if thread::is_first_in_block() {
                if waits {
                    bulk::wait_read::<0>();
                }
                mbarrier::arrive_expect(full(), 0, 4 * TILE as u32);
                bulk::load(results(), from, full(), 0);
                bulk::wait_read::<0>();
            }
        };
        match waits {
            true => _ = launch(true, reuse).expect("the store has read"),
            false => race_with_a_copy(reuse),
        }
    }
}

/// Initialises the barriers of the ring, after a block barrier.
fn mbarrier_of_one_thread() {
    thread::sync_threads();
    init(1);
}

#[test]
fn a_thread_races_with_its_own_store_until_it_waits() {
    race_with_a_copy(|_, to| {
        store_results(to);
        if thread::is_first_in_block() {
            results().write(5, 77);
            bulk::wait_read::<0>();
        }
    });
    race_with_a_copy(|_, to| {
        store_results(to);
        if thread::is_first_in_block() {
            to.write(5, 77);
            bulk::wait_read::<0>();
            bulk::wait_stored();
        }
    });
}

#[test]
fn a_load_is_not_visible_to_its_own_thread_before_the_wait() {
    for waits in [true, false] {
        let read = |from, _| {
            init(1);
            if thread::is_first_in_block() {
                fill(0, from);
                if waits {
                    mbarrier::wait(full(), 0, 0);
                }
                stage(0).read(3);
            }
        };
        match waits {
            true => _ = launch(true, read).expect("the load is there"),
            false => race_with_a_copy(read),
        }
    }
}

#[test]
fn a_load_releases_only_its_own_bytes() {
    // Nothing releases the thread's writes after its arrival.
    let fault = fault(true, |from, _| {
        init(1);
        match thread::index_in_block() {
            0 => {
                mbarrier::arrive_expect(full(), 0, 4 * TILE as u32);
                results().write(0, 1);
                bulk::load(stage(0), from, full(), 0);
            }
            32 => {
                mbarrier::wait(full(), 0, 0);
                stage(0).read(0);
                results().read(0);
            }
            _ => {}
        }
    });
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
}

#[test]
fn waiting_for_all_but_the_last_stores_frees_the_first_ones() {
    let stored = leaves(&config(1, 1), &[0u32; 3 * TILE], |to| {
        for at in 0..STAGES {
            for i in 0..TILE {
                stage(at).write(i, 1);
            }
        }
        bulk::fence_shared();
        for at in 0..STAGES {
            bulk::store(to.part(TILE * at, TILE), stage(at));
        }
        bulk::wait_read::<2>();
        for at in 0..STAGES {
            stage(at).write(0, 9);
        }
        bulk::wait_stored();
        assert_eq!([0, TILE, 2 * TILE].map(|i| to.read(i)), [1, 9, 9]);
    });
    assert_eq!(stored[1], 1);
}

#[test]
fn a_store_is_visible_only_after_it_completes() {
    for races in [true, false] {
        launch(races, |_, to| {
            store_results(to);
            if thread::is_first_in_block() {
                bulk::wait_read::<0>();
                // This is a race, if race detection is on.
                assert!(races || to.read(9) == 0);
                bulk::wait_stored();
                assert_eq!(to.read(9), 9);
            }
            thread::sync_threads();
            assert_eq!(to.read(10), 10);
        })
        .expect("no fault");
    }
    let fault = fault(true, |_, to| {
        store_results(to);
        if thread::is_first_in_block() {
            bulk::wait_read::<0>();
        }
        thread::sync_threads();
        if thread::index_in_block() == 40 {
            to.read(10);
        }
    });
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
}

#[test]
fn a_late_load_exposes_a_kernel_that_does_not_wait() {
    let reads = |seed, waits: bool| {
        let mut memory = Memory::new(1 << 16);
        let (from, to) = (upload(&mut memory, &[1u32; TILE]), upload(&mut memory, &[0u32; TILE]));
        let config = LaunchConfig { schedule: Schedule::from_seed(seed), ..config(1, 64) };
        let launched = simt::launch(&mut memory, &config, &|| {
            let i = thread::index_in_block();
            stage(0).write(i, 7);
            bulk::fence_shared();
            init(1);
            if i == 0 {
                fill(0, from);
            }
            if waits {
                mbarrier::wait(full(), 0, 0);
            }
            to.write(i, stage(0).read(i));
            mbarrier::wait(full(), 0, 0);
        });
        launched.expect("the load is waited for in the end");
        download(&memory, to)
    };
    let is_wrong = |seed: &u64| reads(*seed, false) != [1; TILE];
    assert!((0..20).any(|seed| is_wrong(&seed)));
    for seed in 0..20 {
        assert_eq!(reads(seed, true), [1; TILE], "seed {seed}");
    }
}

#[track_caller]
pub(crate) fn assert_trap(fault: &Fault, line: u32, says: &str) {
    let Fault::Trap { site, message } = fault else { panic!("{fault}") };
    assert!(message.contains(says), "{message}");
    let place = site.place;
    let test = core::panic::Location::caller();
    assert_eq!((place.file(), place.line()), (test.file(), line), "{fault}");
}

#[test]
fn exiting_before_a_store_has_read_is_detected() {
    let line = line!() + 6;
    let fault = fault(false, |_, to| {
        results().write(thread::index_in_block(), 1);
        bulk::fence_shared();
        thread::sync_threads();
        if thread::is_first_in_block() {
            bulk::store(to, results());
        }
    });
    assert_trap(&fault, line, "wait by `wait_read::<0>`");
}

#[test]
fn lengths_that_differ_or_are_not_multiples_of_16_bytes_trap() {
    let load = |to: usize, from: usize| {
        fault(false, |all, _| {
            init(1);
            if thread::is_first_in_block() {
                bulk::load(stage(0).part(0, to), all.part(0, from), full(), 0);
            }
        })
    };
    let line = line!() - 4;
    assert_trap(&load(8, 4), line, "from 4 elements to 8");
    assert_trap(&load(5, 5), line, "a multiple of 16 bytes, not 20");
}

#[test]
fn copies_that_are_misaligned_unwritten_or_out_of_bounds_fault_at_their_line() {
    let misaligned = fault(false, |from, _| {
        init(1);
        bulk::load(stage(0).part(0, 8), from.part(2, 8), full(), 0);
    });
    assert!(matches!(misaligned, Fault::Misaligned { bytes: 16, .. }), "{misaligned}");
    let line = line!() + 2;
    let unwritten = fault(false, |_, to| {
        bulk::store(to, results());
        bulk::wait_read::<0>();
    });
    assert!(matches!(unwritten, Fault::Uninitialised { .. }), "{unwritten}");
    let place = unwritten.site().expect("an access has one").place;
    assert_eq!((place.file(), place.line()), (file!(), line));
    let beyond = fault(false, |from, _| {
        init(1);
        // SAFETY: none: the emulator must find the error of a wrong kernel.
        let from = unsafe { Global::from_address(from.address() + 4096, TILE) };
        bulk::load(stage(0), from, full(), 0);
    });
    assert!(matches!(beyond, Fault::OutOfBounds { .. }), "{beyond}");
}
