//! The report on a kernel that crosses no barrier, or crosses something that orders no memory.

use crate::support::{Zeros, launch};
use cuda_std::memory::{Ordering, Scope};
use cuda_std::thread;
use gridsync_kernels::grid::barrier::*;
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::barrier::{
    ClusterBarrier, FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier,
    ReleaseBarrier, TreeBarrier,
};
use simt::{Fault, LaunchConfig, MissingOrder, Race, Schedule};

const BLOCKS: u32 = 3;

/// The races of a kernel with a few small blocks, under each of many schedules.
#[track_caller]
fn races(kernel: impl Fn(Zeros)) -> Vec<Race> {
    let race = |seed| {
        let config = LaunchConfig {
            schedule: Schedule::from_seed(seed),
            races: true,
            ..LaunchConfig::new("test", BLOCKS, 40)
        };
        match launch(&config, &kernel).expect_err("there is a race") {
            Fault::Race(race) => *race,
            fault => panic!("seed {seed}: {fault}"),
        }
    };
    (0..40).map(race).collect()
}

/// The array of the barrier's words, and the array that the blocks write to.
const BARRIER: usize = 0;
const DATA: usize = 1;

/// Each block writes a word. After the barrier, if it is crossed, it reads the next block's word.
fn neighbours(zeros: Zeros, cross: impl FnOnce()) {
    let data = zeros.of::<u32>(DATA, BLOCKS as usize);
    let me = thread::block_index();
    if thread::is_first_in_block() {
        data.write(me, 1);
    }
    cross();
    data.read((me + 1) % BLOCKS as usize);
}

/// Checks the report on a barrier that is never crossed, or that one block crosses too late. It
/// must name the missing barrier and the caller's lines, and give no advice about the barrier's
/// internals.
#[track_caller]
fn a_forgotten_crossing_is_named<B: Barrier>() {
    let never = |zeros: Zeros| {
        B::attach(zeros.of(BARRIER, B::words(BLOCKS as usize)));
        neighbours(zeros, || {});
    };
    let late = |zeros: Zeros| {
        let mut barrier = B::attach(zeros.of(BARRIER, B::words(BLOCKS as usize)));
        if thread::block_index() == 1 {
            neighbours(zeros, || {});
            barrier.sync();
        } else {
            neighbours(zeros, || barrier.sync());
        }
    };
    for race in races(never).into_iter().chain(races(late)) {
        assert_eq!(race.missing, MissingOrder::Crossing("the grid barrier"), "{race}");
        for access in [&race.earlier, &race.later] {
            assert_eq!(access.site.place.file(), file!(), "{race}");
        }
    }
}

#[test]
fn a_forgotten_crossing_is_reported_for_each_design() {
    a_forgotten_crossing_is_named::<GridBarrier>();
    a_forgotten_crossing_is_named::<PhaseBarrier>();
    a_forgotten_crossing_is_named::<FlipBarrier>();
    a_forgotten_crossing_is_named::<SplitBarrier<4>>();
    a_forgotten_crossing_is_named::<LateBarrier>();
    a_forgotten_crossing_is_named::<GrowingBarrier>();
    a_forgotten_crossing_is_named::<GenerationBarrier>();
    a_forgotten_crossing_is_named::<LockFreeBarrier>();
    a_forgotten_crossing_is_named::<ReleaseBarrier>();
    a_forgotten_crossing_is_named::<TreeBarrier>();
    a_forgotten_crossing_is_named::<ClusterBarrier>();
}

#[test]
fn a_relaxed_ticket_does_not_hide_a_forgotten_crossing() {
    let ticket = |zeros: Zeros| {
        GridBarrier::attach(zeros.of(BARRIER, GridBarrier::words(BLOCKS as usize)));
        let tickets = zeros.of::<u32>(2, 1);
        neighbours(zeros, || {
            if thread::is_first_in_block() {
                tickets.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
            }
        });
    };
    for race in races(ticket) {
        let told = race.to_string();
        let crossing = "nothing orders them: cross the grid barrier between them";
        assert!(told.contains(crossing), "{told}");
    }
}

#[test]
fn an_exchange_used_as_a_barrier_is_reported() {
    let exchanged = |zeros: Zeros| {
        let words = zeros.of(BARRIER, Exchange::words(BLOCKS as usize));
        let mut exchange = Exchange::attach(words);
        neighbours(zeros, || _ = exchange.all_reduce(Sum::<u32>::new(), 1));
    };
    let config = |seed| LaunchConfig {
        schedule: Schedule::from_seed(seed),
        races: true,
        // An exchange needs whole warps.
        ..LaunchConfig::new("test", BLOCKS, 64)
    };
    for seed in 0..40 {
        let fault = launch(&config(seed), &exchanged).expect_err("an exchange orders no memory");
        let Fault::Race(race) = &fault else { panic!("{fault}") };
        assert_eq!(race.missing, MissingOrder::Protocol("the exchange"), "{fault}");
    }
}
