//! The grid barrier: that it holds, can be used again, and refuses what would hang.

use cuda_std::launch::Kernel;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, cooperative, resident_blocks};
use gridsync::verify::barrier_case;
use gridsync_kernels::entry::barrier::{Measured, barrier_only, barrier_rounds};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier, PhaseBarrier};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};

/// Crosses the barrier in `word` an odd or even number of times, by `blocks` blocks.
fn cross<B: Measured>(device: &Device, word: &Buffer<u32>, blocks: u32, threads: u32, rounds: u32) {
    let geometry = cooperative::<B::Only>(device, Blocks::Exactly(blocks), threads, 0)
        .expect("the grid should fit");
    // SAFETY: the words of the barrier, which outlive the launch since the caller downloads it;
    // all blocks are resident.
    unsafe { device.launch::<B::Only>(&geometry, (word.view(), rounds)) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
}

/// Crosses the barrier in `word` 2 × `rounds` times, and counts what is stale behind it.
fn stale_behind<B: Measured>(
    device: &Device,
    word: &Buffer<u32>,
    blocks: u32,
    threads: u32,
    rounds: u32,
) -> u32 {
    let geometry = cooperative::<B::Rounds>(device, Blocks::Exactly(blocks), threads, 0)
        .expect("the grid should fit");
    let cells = device
        .zeroed::<u32>((blocks * threads) as usize)
        .expect("the cells should fit");
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (word.view(), cells.view(), errors.view(), 1, rounds);
    // SAFETY: the words of the barrier, a cell for each thread, a counter of 0, all alive until
    // the download has waited for the launch; all blocks are resident.
    unsafe { device.launch::<B::Rounds>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
    errors.download().expect("the kernel should have run")[0]
}

fn holds(device: &Device, blocks: Blocks, threads: u32, launches: u32, rounds: u32) {
    barrier_case::<GridBarrier>(device, blocks, threads, launches, rounds)
        .unwrap_or_else(|error| panic!("grid barrier: {error}"));
    barrier_case::<PhaseBarrier>(device, blocks, threads, launches, rounds)
        .unwrap_or_else(|error| panic!("phase barrier: {error}"));
}

/// What `rounds` rounds leave in the words of a barrier: the top bits of each counter count them.
fn expect_crossed(left: &[u32], round: u32, rounds: u32, what: &str) {
    let count = round.wrapping_mul(rounds);
    assert_eq!(left[0], count, "{what}, after {rounds} rounds");
    assert!(
        left.iter().all(|&word| word == 0 || word == count),
        "{what}: {left:?}"
    );
}

/// `round`: what a counter grows by in a round.
fn serves_changing_grids<B: Measured>(device: &Device, round: u32) {
    let state = device
        .zeroed::<u32>(B::WORDS)
        .expect("the words should fit");
    let mut crossed = 0;
    for (blocks, rounds) in [(3, 1), (8, 2), (1, 3), (5, 5), (2, 0), (16, 7), (1, 1)] {
        cross::<B>(device, &state, blocks, 32, rounds);
        assert_eq!(stale_behind::<B>(device, &state, blocks + 1, 64, 2), 0);
        crossed += rounds + 4;
        let left = state.download().expect("the words should be there");
        expect_crossed(&left, round, crossed, B::Only::NAME);
    }
}

/// Any word grows past 2^32 within four rounds; these are seventeen, an odd number at a time.
fn holds_across_the_wrap<B: Measured>(device: &Device, round: u32) {
    let state = device
        .zeroed::<u32>(B::WORDS)
        .expect("the words should fit");
    cross::<B>(device, &state, 7, 64, 3);
    assert_eq!(stale_behind::<B>(device, &state, 7, 64, 5), 0);
    cross::<B>(device, &state, 7, 64, 4);
    let left = state.download().expect("the words should be there");
    expect_crossed(&left, round, 17, B::Only::NAME);
}

on_each_backend! {
    fn it_holds_for_a_thousand_rounds(device: &Device) {
        holds(device, Blocks::Exactly(5), 64, 1, 500);
        holds(device, Blocks::Exactly(2), 33, 1, 1000);
    }

    fn it_holds_in_blocks_of_any_size(device: &Device) {
        for threads in [1, 2, 31, 32, 33, 64, 100, 1000, 1024] {
            for blocks in [1, 2, 7] {
                holds(device, Blocks::Exactly(blocks), threads, 2, 3);
            }
        }
    }

    fn it_holds_with_every_block_that_fits(device: &Device) {
        for threads in [32, 256, 1024] {
            holds(device, Blocks::Fill, threads, 2, 5);
        }
    }

    fn its_word_serves_launch_after_launch(device: &Device) {
        holds(device, Blocks::Exactly(3), 64, 50, 3);
    }

    fn its_words_serve_grids_of_changing_size(device: &Device) {
        serves_changing_grids::<GridBarrier>(device, 1 << 30);
        serves_changing_grids::<PhaseBarrier>(device, 1 << 31);
    }

    fn it_holds_across_the_wrap_of_its_words(device: &Device) {
        holds_across_the_wrap::<GridBarrier>(device, 1 << 30);
        holds_across_the_wrap::<PhaseBarrier>(device, 1 << 31);
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

    fn a_launch_past_the_planner_is_refused_too(device: &Device) {
        let resident = resident_blocks::<barrier_only>(device, 64, 0).expect("it should be known");
        let word = device.zeroed::<u32>(GridBarrier::WORDS).expect("the words should fit");
        let geometry = Geometry::new(resident + 1, 64);
        // SAFETY: the launch is refused, and touches nothing.
        let refused = unsafe { device.launch::<barrier_only>(&geometry, (word.view(), 1)) };
        assert!(
            matches!(refused, Err(DeviceError::GridTooLarge { resident: r, .. }) if r == u64::from(resident)),
            "{refused:?}"
        );
        let left = word.download().expect("the device should still work");
        assert!(left.iter().all(|&word| word == 0));
    }

    fn shapes_that_are_no_grid_are_refused(device: &Device) {
        let plan = |blocks, threads| cooperative::<barrier_only>(device, blocks, threads, 0);
        assert!(matches!(plan(Blocks::Exactly(0), 32), Err(DeviceError::EmptyGrid { .. })));
        assert!(matches!(plan(Blocks::Exactly(1), 0), Err(DeviceError::BadBlock { .. })));
        assert!(matches!(plan(Blocks::Exactly(1), 1025), Err(DeviceError::BadBlock { .. })));
        let most = plan(Blocks::AtMost(u32::MAX), 32).expect("as many as fit should fit");
        assert_eq!(most.grid, plan(Blocks::Fill, 32).expect("as many as fit should fit").grid);
    }
}

#[test]
fn it_holds_under_every_schedule() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for (blocks, threads) in [(2, 33), (3, 64), (6, 1)] {
            barrier_case::<GridBarrier>(&device, Blocks::Exactly(blocks), threads, 2, 8)
                .unwrap_or_else(|error| panic!("grid barrier, {schedule:?}: {error}"));
            barrier_case::<PhaseBarrier>(&device, Blocks::Exactly(blocks), threads, 2, 8)
                .unwrap_or_else(|error| panic!("phase barrier, {schedule:?}: {error}"));
        }
    }
}

#[test]
fn a_full_gpu_crosses_it_ten_thousand_times_on_cuda() {
    with_cuda(|cuda| {
        holds(cuda, Blocks::Fill, 256, 2, 2500);
        holds(cuda, Blocks::PerMultiprocessor(1), 1024, 2, 2500);
    });
}

#[test]
fn one_block_more_per_multiprocessor_than_fits_is_refused() {
    let device = emulator();
    let fitting = resident_blocks::<barrier_only>(&device, 512, 0).expect("it should be known")
        / device.properties().multiprocessors;
    let plan =
        |blocks| cooperative::<barrier_only>(&device, Blocks::PerMultiprocessor(blocks), 512, 0);
    assert!(plan(fitting).is_ok());
    assert!(matches!(
        plan(fitting + 1),
        Err(DeviceError::GridTooLarge { .. })
    ));
}
