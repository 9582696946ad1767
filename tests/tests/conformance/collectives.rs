//! The collectives of the exchange: every thread has the right results, in grids of any size.

use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, Emulator, EmulatorConfig, Geometry};
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_kernels::op::{Affine, Compose, Operation};
use gridsync_lab_kernels::barrier::{
    block_scans, exchange_in_order, exchange_scan_threads, exchange_scan_threads_only,
    exchange_votes,
};
use gridsync_tests::devices::{emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_schedule_gives_the_right_results,
            two_steps_give_the_right_results_without_a_race,
            grids_that_fill_a_gpu_have_the_right_results_on_cuda;
        on_each_backend:
            small_grids_have_the_right_results,
            the_scan_over_threads_keeps_their_order,
            the_scan_that_is_measured_adds_up,
            the_scans_of_a_block_keep_the_order_of_its_threads;
        thorough:
            more_blocks_than_fit_in_one_step_have_the_right_results;
    }
}

/// Crosses two exchanges at once: all results in all threads must be right.
pub(super) fn all_results_are_right(device: &Device, shape: (u32, u32), rounds: u32, skew: u32) {
    results_are_right::<exchange_in_order>(device, shape, rounds, skew);
    results_are_right::<exchange_votes>(device, shape, rounds, skew);
}

fn results_are_right<K>(device: &Device, (blocks, threads): (u32, u32), rounds: u32, skew: u32)
where
    K: Kernel<Args = (Global<u64>, Global<u32>, u32, u32)>,
{
    let geometry =
        cooperative::<K>(device, Blocks::Exactly(blocks), threads, 0).expect("the grid should fit");
    let words = 2 * Exchange::words(blocks as usize);
    let words = device.zeroed::<u64>(words).expect("the words should fit");
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (words.view(), errors.view(), rounds, skew);
    // SAFETY: the words of two exchanges, and a counter; they live until the download has waited for
    // the launch. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<K>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{}, {geometry}, {rounds} rounds: {error}", K::NAME));
    let wrong = errors.download().expect("the kernel should have run")[0];
    assert_eq!(wrong, 0, "{}, {geometry}, {rounds} rounds, skew {skew}", K::NAME);
}

/// Scans over all threads of a grid. The maps must be composed as by a single thread.
pub(super) fn threads_are_scanned(device: &Device, (blocks, threads): (u32, u32), rounds: u32) {
    let exactly = Blocks::Exactly(blocks);
    let geometry = cooperative::<exchange_scan_threads>(device, exactly, threads, 0)
        .expect("the grid should fit");
    let len = (blocks * threads) as usize;
    let maps: Vec<u64> =
        (1..=len as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).collect();
    let words = device.zeroed::<u64>(Exchange::words(blocks as usize)).expect("words");
    let input = device.upload(&maps).expect("the maps should fit");
    let [before, all] = [(); 2].map(|()| device.zeroed::<u64>(len).expect("room for results"));
    let args = (words.view(), input.view(), before.view(), all.view(), rounds);
    // SAFETY: the words of an exchange, and an element for each thread in the other arrays; they live
    // until the downloads have waited for the launch. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<exchange_scan_threads>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
    let [before, all] =
        [before, all].map(|results| results.download().expect("it should have run"));
    let op = Compose::new();
    let mut composed = op.identity();
    for (at, &map) in maps.iter().enumerate() {
        assert_eq!(before[at], composed.to_bits(), "before thread {at} of {geometry}");
        composed = op.combine(composed, Affine::from_bits(map));
    }
    let expected = composed.to_bits();
    assert!(all.iter().all(|&all| all == expected), "{geometry}: all threads get all maps");
}

/// Scans within the blocks of a grid. The maps must be composed as by a single thread.
pub(super) fn blocks_are_scanned(device: &Device, (blocks, threads): (u32, u32), rounds: u32) {
    let geometry = Geometry::new(blocks, threads);
    let len = (blocks * threads) as usize;
    let maps: Vec<u64> =
        (1..=len as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).collect();
    let input = device.upload(&maps).expect("the maps should fit");
    let [through, before, all] =
        [(); 3].map(|()| device.zeroed::<u64>(len).expect("room for results"));
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (&input, &through, &before, &all, &errors, rounds);
    // SAFETY: an element for each thread, a counter, and whole warps.
    unsafe { device.launch::<block_scans>(&geometry, args) }
        .unwrap_or_else(|error| panic!("{geometry}, {rounds} rounds: {error}"));
    let [through, before, all] =
        [through, before, all].map(|results| results.download().expect("it should have run"));
    assert_eq!(errors.download().expect("it should have run"), [0], "{geometry}: scans of warps");
    let op = Compose::new();
    for (block, maps) in maps.chunks(threads as usize).enumerate() {
        let mut composed = op.identity();
        let first = block * threads as usize;
        for (at, &map) in (first..).zip(maps) {
            assert_eq!(before[at], composed.to_bits(), "before thread {at} of {geometry}");
            composed = op.combine(composed, Affine::from_bits(map));
            assert_eq!(through[at], composed.to_bits(), "through thread {at} of {geometry}");
        }
        let all = &all[first..first + threads as usize];
        assert!(
            all.iter().all(|&all| all == composed.to_bits()),
            "{geometry}: all of block {block}"
        );
    }
}

/// An emulated GPU that holds 384 blocks of one warp.
fn large_emulator(races: bool) -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        multiprocessors: 24,
        races,
        ..EmulatorConfig::default()
    }))
}

fn small_grids_have_the_right_results(device: &Device) {
    for shape in [(1, 32), (2, 64), (7, 128), (33, 32)] {
        all_results_are_right(device, shape, 3, 0);
        all_results_are_right(device, shape, 3, 300);
    }
}

fn the_scan_over_threads_keeps_their_order(device: &Device) {
    for shape in [(1, 32), (1, 384), (3, 96), (5, 64), (40, 32)] {
        threads_are_scanned(device, shape, 1);
        threads_are_scanned(device, shape, 4);
    }
}

fn the_scans_of_a_block_keep_the_order_of_its_threads(device: &Device) {
    for shape in [(1, 32), (3, 64), (2, 96), (1, 1024)] {
        blocks_are_scanned(device, shape, 1);
        blocks_are_scanned(device, shape, 3);
    }
}

pub(super) fn the_scan_that_is_measured_adds_up(device: &Device) {
    let (blocks, threads) = (5, 96);
    let exactly = Blocks::Exactly(blocks);
    let geometry = cooperative::<exchange_scan_threads_only>(device, exactly, threads, 0)
        .expect("the grid should fit");
    let mut expected: Vec<u32> = (0..blocks * threads).map(|i| i.wrapping_mul(i)).collect();
    let words = device.zeroed::<u64>(Exchange::words(blocks as usize)).expect("words");
    let numbers = device.upload(&expected).expect("the numbers should fit");
    // SAFETY: the words of an exchange, and a number for each thread, alive until the download. Warps
    // are whole, and all blocks are resident.
    unsafe {
        let args = (words.view(), numbers.view(), 7);
        device.launch::<exchange_scan_threads_only>(&geometry, args)
    }
    .expect("the kernel should run");
    for _ in 0..7 {
        let mut before = 0u32;
        for number in &mut expected {
            let own = *number;
            *number = own.wrapping_add(1).wrapping_add(before);
            before = before.wrapping_add(own);
        }
    }
    assert_eq!(numbers.download().expect("it should have run"), expected);
}

fn every_schedule_gives_the_right_results() {
    for schedule in schedules().into_iter().chain((0..8).map(Schedule::from_seed)) {
        let device = emulator_under(schedule);
        for shape in [(1, 64), (2, 96), (5, 64)] {
            all_results_are_right(&device, shape, 2, 0);
            threads_are_scanned(&device, shape, 3);
            blocks_are_scanned(&device, shape, 2);
        }
    }
}

fn two_steps_give_the_right_results_without_a_race() {
    let device = large_emulator(true);
    all_results_are_right(&device, (295, 32), 1, 0);
    threads_are_scanned(&device, (289, 32), 1);
}

/// More than 288 blocks cross in two steps.
fn more_blocks_than_fit_in_one_step_have_the_right_results() {
    let device = large_emulator(false);
    for blocks in [289, 288, 319, 384] {
        all_results_are_right(&device, (blocks, 32), 2, 0);
        threads_are_scanned(&device, (blocks, 32), 2);
    }
}

fn grids_that_fill_a_gpu_have_the_right_results_on_cuda() {
    with_cuda(|cuda| {
        let multiprocessors = cuda.properties().multiprocessors;
        for each in [1, 2, 4] {
            for blocks in [each * multiprocessors - 1, each * multiprocessors] {
                for skew in [0, 2000] {
                    all_results_are_right(cuda, (blocks, 64), 100, skew);
                }
                threads_are_scanned(cuda, (blocks, 64), 50);
                threads_are_scanned(cuda, (blocks.min(multiprocessors), 256), 50);
            }
        }
    });
}
