//! The exchange: all blocks leave with the combined values, in grids of any size, repeatedly.

use gridsync::device::{Buffer, Device, Emulator, EmulatorConfig};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::grid::barrier::{Exchange, GridBarrier};
use gridsync_lab_kernels::barrier::{exchange_by_barrier_only, exchange_only, exchange_rounds};
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_schedule_gives_the_right_results,
            two_steps_have_no_race,
            grids_that_fill_a_gpu_have_the_right_results_on_cuda;
        on_each_backend:
            its_words_serve_grids_of_changing_size,
            its_words_serve_launch_after_launch,
            it_holds_across_the_wrap_of_the_stamps,
            the_exchange_and_a_barrier_give_the_same_means;
        thorough:
            two_steps_give_the_right_results_under_every_schedule,
            more_blocks_than_fit_in_one_step_have_the_right_results,
            a_block_may_attach_again_before_others_have_left;
        thorough_on_the_emulator:
            the_mean_has_the_same_bits_in_every_block_and_every_run,
            every_thread_has_the_right_result;
    }
}

/// New words for an exchange of up to `blocks` blocks.
fn words(device: &Device, blocks: u32) -> Buffer<u64> {
    let words = Exchange::words(blocks as usize);
    device.zeroed(words).expect("the words should fit")
}

/// Crosses the exchange in `words` four times per round: all results in all threads must be right.
fn all_results_are_right(
    device: &Device,
    words: &Buffer<u64>,
    (blocks, threads): (u32, u32),
    rounds: u32,
    skew: u32,
) {
    let geometry = cooperative::<exchange_rounds>(device, Blocks::Exactly(blocks), threads, 0)
        .expect("the grid should fit");
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (words.view(), errors.view(), rounds, skew);
    // SAFETY: there are words for at least this many blocks, and a counter; they live until the
    // download has waited for the launch. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<exchange_rounds>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
    let wrong = errors.download().expect("the kernel should have run")[0];
    assert_eq!(wrong, 0, "{geometry}, {rounds} rounds, skew {skew}");
}

/// The value of each block after `rounds` rounds: means of means, starting with 1/1, 1/2, 1/3…
fn means(device: &Device, blocks: u32, rounds: u32) -> Vec<f32> {
    let geometry = cooperative::<exchange_only>(device, Blocks::Exactly(blocks), 64, 0)
        .expect("the grid should fit");
    let host: Vec<f32> = (1..=blocks).map(|n| 1.0 / n as f32).collect();
    let means = device.upload(&host).expect("the numbers should fit");
    let words = words(device, blocks);
    // SAFETY: there are words for this many blocks, and a number for each; they live until the
    // download has waited for the launch. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<exchange_only>(&geometry, (words.view(), means.view(), rounds)) }
        .unwrap_or_else(|error| panic!("{geometry}: {error}"));
    means.download().expect("the kernel should have run")
}

/// An emulated GPU that holds 384 blocks of one warp.
fn large_emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig { multiprocessors: 24, ..EmulatorConfig::default() }))
}

fn every_thread_has_the_right_result(device: &Device) {
    for shape in [(1, 32), (2, 64), (7, 512), (8, 96), (33, 32), (64, 64)] {
        let words = words(device, shape.0);
        all_results_are_right(device, &words, shape, 5, 0);
        all_results_are_right(device, &words, shape, 5, 300);
    }
}

fn its_words_serve_grids_of_changing_size(device: &Device) {
    let words = words(device, 64);
    for (blocks, threads, rounds) in
        [(33, 32, 1), (64, 64, 2), (1, 96, 3), (2, 32, 0), (40, 32, 5), (64, 32, 1), (3, 64, 2)]
    {
        all_results_are_right(device, &words, (blocks, threads), rounds, 100);
    }
}

fn its_words_serve_launch_after_launch(device: &Device) {
    let words = words(device, 5);
    for _ in 0..50 {
        all_results_are_right(device, &words, (5, 64), 1, 0);
    }
}

fn it_holds_across_the_wrap_of_the_stamps(device: &Device) {
    for before in 1..8 {
        // As if almost 2^32 crossings had used all of the words: each member has the number of the
        // last crossing, and each word with a value has it as its stamp. Words with the stamp 0
        // would count as new when the stamps wrap around.
        let crossed = u32::MAX - before;
        let mut host = vec![u64::from(crossed) << 32; Exchange::words(7)];
        let numbers = host.len() - 7;
        host[0] = crossed.into();
        host[numbers..].fill(crossed.into());
        let words = device.upload(&host).expect("the words should fit");
        all_results_are_right(device, &words, (7, 64), 3, 0);
        let now = words.download().expect("the words should be there")[0];
        assert_eq!(now, u64::from(crossed) + 12);
    }
}

pub(super) fn the_exchange_and_a_barrier_give_the_same_means(device: &Device) {
    let blocks = 7;
    let geometry = cooperative::<exchange_by_barrier_only>(device, Blocks::Exactly(blocks), 64, 0)
        .expect("the grid should fit");
    // With at most one number per lane, both forms add in the same tree.
    let host: Vec<f32> = (1..=blocks).map(|n| 1.0 / n as f32).collect();
    let numbers = device.zeroed::<f32>(2 * host.len()).expect("the numbers should fit");
    let results = device.upload(&host).expect("the numbers should fit");
    let barrier = barrier_words::<GridBarrier>(device, &geometry).expect("the words should fit");
    let args = (barrier.view(), numbers.view(), results.view(), 5);
    // SAFETY: the words of the barrier, and two numbers and a result for each block, live until the
    // download has waited for the launch. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<exchange_by_barrier_only>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}: {error}"));
    let by_barrier = results.download().expect("the kernel should have run");
    assert_eq!(by_barrier, means(device, blocks, 5));
}

fn the_mean_has_the_same_bits_in_every_block_and_every_run(device: &Device) {
    for blocks in [1, 2, 7, 33, 100] {
        let first = means(device, blocks, 9);
        let mean = (1..=blocks).map(|n| 1.0 / f64::from(n)).sum::<f64>() / f64::from(blocks);
        // At most about ten roundings per round, each by half a unit in the last place.
        let error = (f64::from(first[0]) - mean).abs();
        assert!(error < 100.0 * f64::from(f32::EPSILON) * mean, "{blocks} blocks: {error}");
        assert!(first.iter().all(|mean| mean.to_bits() == first[0].to_bits()), "{first:?}");
        assert_eq!(means(device, blocks, 9), first, "{blocks} blocks");
    }
}

fn every_schedule_gives_the_right_results() {
    for schedule in schedules().into_iter().chain((0..6).map(Schedule::from_seed)) {
        let device = emulator_under(schedule);
        for shape in [(1, 64), (2, 96), (5, 64)] {
            let words = words(&device, shape.0);
            for _ in 0..4 {
                all_results_are_right(&device, &words, shape, 2, 0);
            }
        }
    }
}

/// The kernel attaches again every third round. No barrier orders the blocks in between.
fn a_block_may_attach_again_before_others_have_left() {
    for schedule in schedules() {
        let device = unjudged_under(schedule);
        for blocks in [2, 5, 40] {
            all_results_are_right(&device, &words(&device, blocks), (blocks, 64), 7, 0);
        }
    }
}

/// More than 288 blocks cross in two steps: 289 with a last group of 1, 295 of 7, 319 of 31, and
/// 384 in full groups of 32.
fn more_blocks_than_fit_in_one_step_have_the_right_results() {
    let device = large_emulator();
    let words = words(&device, 384);
    for blocks in [289, 288, 295, 319, 287, 3, 384] {
        all_results_are_right(&device, &words, (blocks, 32), 2, 0);
    }
    let means = means(&large_emulator(), 295, 4);
    assert!(means.iter().all(|mean| mean.to_bits() == means[0].to_bits()), "{means:?}");
}

fn two_steps_have_no_race() {
    let device = Device::new(Emulator::new(EmulatorConfig {
        multiprocessors: 24,
        races: true,
        ..EmulatorConfig::default()
    }));
    all_results_are_right(&device, &words(&device, 295), (295, 32), 1, 0);
}

fn two_steps_give_the_right_results_under_every_schedule() {
    for schedule in schedules() {
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 24,
            schedule,
            ..EmulatorConfig::default()
        }));
        all_results_are_right(&device, &words(&device, 295), (295, 32), 1, 0);
    }
}

fn grids_that_fill_a_gpu_have_the_right_results_on_cuda() {
    with_cuda(|cuda| {
        let multiprocessors = cuda.properties().multiprocessors;
        let most = 8 * multiprocessors;
        let words = words(cuda, most);
        for blocks in [1, 2, 4, 8].map(|each| each * multiprocessors) {
            for blocks in [blocks - 1, blocks, (blocks + 1).min(most)] {
                for skew in [0, 2000] {
                    all_results_are_right(cuda, &words, (blocks, 64), 500, skew);
                }
            }
        }
        let first = means(cuda, most, 100);
        assert!(first.iter().all(|mean| mean.to_bits() == first[0].to_bits()));
        assert_eq!(means(cuda, most, 100), first);
    });
}
