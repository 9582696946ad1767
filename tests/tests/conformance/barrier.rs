//! The grid barriers: they order memory, are reusable, and refuse a grid that would hang.

use cuda_std::launch::Kernel;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, cooperative, resident_blocks};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier, LateBarrier, SplitBarrier};
use gridsync_lab_kernels::barrier::{
    FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier, ReleaseBarrier,
    TreeBarrier,
};
use gridsync_lab_kernels::barrier::{Measured, Stressed, barrier_only, barrier_rounds};
use gridsync_tests::devices::{emulator, emulator_under, schedules, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Crossing, DESIGNS};
use simt::{Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            they_hold_with_every_block_that_fits_on_cuda,
            they_hold_under_every_schedule,
            a_full_gpu_crosses_every_barrier_ten_thousand_times_on_cuda,
            one_block_more_per_multiprocessor_than_fits_is_refused;
        on_each_backend:
            they_hold_with_late_warps_and_many_words,
            their_words_serve_launch_after_launch,
            their_words_serve_grids_of_changing_size,
            they_hold_across_the_wrap_of_their_words,
            a_grid_that_does_not_fit_is_refused_with_the_numbers,
            a_launch_that_bypasses_the_planner_is_refused_too,
            invalid_grid_shapes_are_refused;
        thorough:
            they_hold_with_every_block_that_fits_on_the_emulator,
            a_block_may_attach_again_before_others_have_left;
        thorough_on_the_emulator:
            they_hold_for_a_thousand_rounds,
            they_hold_in_blocks_of_any_size;
    }
}

/// Threads of the largest block that every kernel here can run in. In a block of 1024, a thread has
/// 64 registers, but the kernel that crosses `GridBarrier` needs 66 on some GPUs.
const LARGEST: u32 = 512;

/// Crosses the barrier in `words`, `rounds` times.
fn cross<B: Measured>(
    device: &Device,
    words: &Buffer<u32>,
    blocks: u32,
    threads: u32,
    rounds: u32,
) {
    let geometry = cooperative::<B::Only>(device, Blocks::Exactly(blocks), threads, 0)
        .expect("the grid should fit");
    // SAFETY: the words of the barrier outlive the launch: the caller downloads them. All blocks
    // are resident.
    unsafe { device.launch::<B::Only>(&geometry, (words.view(), rounds)) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
}

/// Crosses the barrier in `words` 2 × `rounds` times, and counts stale reads after it.
fn stale_after<B: Stressed>(
    device: &Device,
    words: &Buffer<u32>,
    blocks: u32,
    threads: u32,
    rounds: u32,
) -> u32 {
    let geometry = cooperative::<B::Rounds>(device, Blocks::Exactly(blocks), threads, 0)
        .expect("the grid should fit");
    let cells = device.zeroed::<u32>((blocks * threads) as usize).expect("the cells should fit");
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (words.view(), cells.view(), errors.view(), 1, rounds, 0);
    // SAFETY: the words of the barrier, a cell for each thread and a counter of 0 live until the
    // download has waited for the launch. All blocks are resident.
    unsafe { device.launch::<B::Rounds>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
    errors.download().expect("the kernel should have run")[0]
}

/// Checks that every design passes this crossing.
fn all_hold(device: &Device, crossing: &Crossing) {
    for design in DESIGNS {
        let held = design.case(device, crossing);
        held.unwrap_or_else(|error| panic!("{}: {error}", design.name));
    }
}

/// One set of words serves grids of changing size that cross the barrier 0 to 7 times each.
fn serves_changing_grids<B: Measured>(device: &Device) {
    let words = device.zeroed::<u32>(B::words(20)).expect("the words should fit");
    for (blocks, rounds) in [(3, 1), (8, 2), (1, 3), (5, 5), (2, 0), (17, 7), (1, 1), (20, 3)] {
        cross::<B>(device, &words, blocks, 32, rounds);
        let blocks = (blocks + 1).min(20);
        assert_eq!(
            stale_after::<B>(device, &words, blocks, 64, 2),
            0,
            "{}, {blocks} blocks",
            B::Only::NAME
        );
    }
}

/// `near_the_end` fills the words as after very many rounds, so the next rounds wrap.
fn holds_across_the_wrap<B: Measured>(device: &Device, near_the_end: impl Fn(&mut [u32])) {
    let mut start = vec![0; B::words(7)];
    near_the_end(&mut start);
    let words = device.upload(&start).expect("the words should fit");
    cross::<B>(device, &words, 7, 64, 3);
    assert_eq!(stale_after::<B>(device, &words, 7, 64, 5), 0);
    cross::<B>(device, &words, 7, 64, 4);
    let left = words.download().expect("the words should be there");
    assert!(
        left.iter().zip(&start).all(|(left, start)| left <= start),
        "{}: {start:?} should have wrapped, but is {left:?}",
        B::Only::NAME
    );
}

fn they_hold_for_a_thousand_rounds(device: &Device) {
    for (blocks, threads) in [(5, 64), (2, 33)] {
        let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
        all_hold(device, &Crossing { launches: 1, rounds: 500, ..crossing });
    }
}

fn they_hold_in_blocks_of_any_size(device: &Device) {
    for threads in [1, 2, 31, 32, 33, 100, LARGEST] {
        for blocks in [1, 2, 7] {
            let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
            all_hold(device, &Crossing { rounds: 3, ..crossing });
        }
    }
}

fn they_hold_with_late_warps_and_many_words(device: &Device) {
    for (blocks, threads) in [(2, 64), (6, 96)] {
        let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
        all_hold(device, &Crossing { cells: 5, skew: 300, ..crossing });
    }
}

fn their_words_serve_launch_after_launch(device: &Device) {
    let crossing = Crossing::of(Blocks::Exactly(3), 64);
    all_hold(device, &Crossing { launches: 20, rounds: 3, ..crossing });
}

fn their_words_serve_grids_of_changing_size(device: &Device) {
    serves_changing_grids::<GridBarrier>(device);
    serves_changing_grids::<SplitBarrier<4>>(device);
    serves_changing_grids::<LateBarrier>(device);
    serves_changing_grids::<PhaseBarrier>(device);
    serves_changing_grids::<FlipBarrier>(device);
    serves_changing_grids::<GrowingBarrier>(device);
    serves_changing_grids::<GenerationBarrier>(device);
    serves_changing_grids::<ReleaseBarrier>(device);
    serves_changing_grids::<TreeBarrier>(device);
    serves_changing_grids::<LockFreeBarrier>(device);
}

fn they_hold_across_the_wrap_of_their_words(device: &Device) {
    holds_across_the_wrap::<GridBarrier>(device, |words| words.fill(3 << 30));
    holds_across_the_wrap::<LateBarrier>(device, |words| words.fill(3 << 30));
    holds_across_the_wrap::<PhaseBarrier>(device, |words| words[0] = 1 << 31);
    holds_across_the_wrap::<FlipBarrier>(device, |words| words[0] = 1 << 31);
    holds_across_the_wrap::<GrowingBarrier>(device, |words| words[0] = 0xffe << 20);
    let last_word = |words: &mut [u32]| *words.last_mut().expect("there are words") = u32::MAX - 1;
    holds_across_the_wrap::<GenerationBarrier>(device, last_word);
    holds_across_the_wrap::<ReleaseBarrier>(device, |words| {
        words[0] = 1 << 31;
        last_word(words);
    });
    holds_across_the_wrap::<TreeBarrier>(device, |words| {
        words[0] = 1 << 31;
        words[64] = u32::MAX - 1;
        words[128] = 1 << 31;
    });
    holds_across_the_wrap::<LockFreeBarrier>(device, |words| {
        words[0] = u32::MAX - 1;
        words[64..].fill(u32::MAX - 1);
    });
}

fn a_grid_that_does_not_fit_is_refused_with_the_numbers(device: &Device) {
    let resident = resident_blocks::<barrier_rounds>(device, 256, 0).expect("it should be known");
    let refused = cooperative::<barrier_rounds>(device, Blocks::Exactly(resident + 1), 256, 0);
    let Err(error @ DeviceError::GridTooLarge { .. }) = refused else {
        panic!("one block too many should be refused: {refused:?}");
    };
    let message = error.to_string();
    for part in [
        "barrier_rounds".to_owned(),
        format!("{} blocks of 256 threads", resident + 1),
        format!("holds {resident} such blocks"),
        format!("at most {resident} blocks"),
    ] {
        assert!(message.contains(&part), "{part:?} should be in {message:?}");
    }
    assert!(cooperative::<barrier_rounds>(device, Blocks::Exactly(resident), 256, 0).is_ok());
}

fn a_launch_that_bypasses_the_planner_is_refused_too(device: &Device) {
    let resident = resident_blocks::<barrier_only>(device, 64, 0).expect("it should be known");
    let geometry = Geometry::new(resident + 1, 64);
    let words = device.zeroed::<u32>(GridBarrier::words(0)).expect("the words should fit");
    // SAFETY: the launch is refused, so it accesses no memory.
    let refused = unsafe { device.launch::<barrier_only>(&geometry, (words.view(), 1)) };
    assert!(
        matches!(refused, Err(DeviceError::GridTooLarge { resident: r, .. }) if r == u64::from(resident)),
        "{refused:?}"
    );
    let left = words.download().expect("the device should still work");
    assert!(left.iter().all(|&word| word == 0));
}

fn invalid_grid_shapes_are_refused(device: &Device) {
    let plan = |blocks, threads| cooperative::<barrier_only>(device, blocks, threads, 0);
    assert!(matches!(plan(Blocks::Exactly(0), 32), Err(DeviceError::EmptyGrid { .. })));
    assert!(matches!(plan(Blocks::Exactly(1), 0), Err(DeviceError::BadBlock { .. })));
    assert!(matches!(plan(Blocks::Exactly(1), 1025), Err(DeviceError::BadBlock { .. })));
    let most = plan(Blocks::AtMost(u32::MAX), 32).expect("as many as fit should fit");
    assert_eq!(most.grid, plan(Blocks::Fill, 32).expect("as many as fit should fit").grid);
}

fn hold_with_every_block_that_fits(device: &Device) {
    for threads in [32, 256, LARGEST] {
        let crossing = Crossing::of(Blocks::Fill, threads);
        all_hold(device, &Crossing { rounds: 3, ..crossing });
    }
}

fn they_hold_with_every_block_that_fits_on_the_emulator() {
    // Checking this many threads for races would take minutes.
    hold_with_every_block_that_fits(&unjudged_under(Schedule::new(Policy::Coarse)));
}

fn they_hold_with_every_block_that_fits_on_cuda() {
    with_cuda(hold_with_every_block_that_fits);
}

fn they_hold_under_every_schedule() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for (blocks, threads) in [(2, 33), (3, 64), (6, 1)] {
            let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
            all_hold(&device, &Crossing { rounds: 5, ..crossing });
        }
    }
}

/// The kernels attach again every third round. With more blocks than a warp has lanes, several
/// warps of the first block of the lock-free barrier release the other blocks.
fn a_block_may_attach_again_before_others_have_left() {
    for policy in [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse] {
        let crossing = Crossing { rounds: 4, ..Crossing::of(Blocks::Exactly(40), 64) };
        all_hold(&unjudged_under(Schedule::new(policy)), &crossing);
    }
}

fn a_full_gpu_crosses_every_barrier_ten_thousand_times_on_cuda() {
    with_cuda(|cuda| {
        for (blocks, threads) in [(Blocks::Fill, 256), (Blocks::PerMultiprocessor(1), LARGEST)] {
            let crossing = Crossing::of(blocks, threads);
            all_hold(cuda, &Crossing { rounds: 2500, ..crossing });
        }
    });
}

fn one_block_more_per_multiprocessor_than_fits_is_refused() {
    let device = emulator();
    let fitting = resident_blocks::<barrier_only>(&device, 512, 0).expect("it should be known")
        / device.properties().multiprocessors;
    let plan =
        |blocks| cooperative::<barrier_only>(&device, Blocks::PerMultiprocessor(blocks), 512, 0);
    assert!(plan(fitting).is_ok());
    assert!(matches!(plan(fitting + 1), Err(DeviceError::GridTooLarge { .. })));
}
