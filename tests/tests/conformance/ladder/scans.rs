//! The ladder of scans: every rung at every edge, all in the same memory.

use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Geometry};
use gridsync_lab::ladder::Ladder;
use gridsync_lab::ladder::scans::{Climb, Rung, rungs};
use gridsync_lab_kernels::ladder::scans::kernels::{
    ladder_scan_copy, ladder_scan_inject, ladder_scan_inject_packs,
};
use gridsync_tests::devices::{
    emulator, emulator_under, schedules, skipped, unjudged_under, with_cuda,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};
use simt::{Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_rung_of_the_scans_is_exact_for_long_arrays_on_cuda,
            blocks_that_wait_for_each_other_end_even_if_only_some_are_resident,
            a_look_back_goes_past_a_window_of_32_tiles,
            the_scan_by_bulk_copies_is_a_rung_if_a_block_has_room_for_it;
        on_each_backend:
            every_rung_of_the_scans_is_exact,
            copying_only_copies_every_length;
        thorough:
            every_rung_of_the_scans_is_exact_for_longer_arrays_on_the_emulator,
            every_rung_of_the_scans_is_exact_and_without_races_whatever_the_schedule;
    }
}

/// Around a pack, a warp, and tiles of 256, 512 and 2048 elements; also two tiles of most rungs.
const SHORT: [usize; 14] = [0, 1, 3, 4, 5, 33, 255, 256, 257, 512, 513, 2047, 2048, 4099];

/// Around 2^16, above which rung 3 has three levels; 36 tiles of rung 9, which exceeds its window
/// of 32; and lengths that are not a multiple of any tile.
const LONG: [usize; 5] = [12_345, 65_536, 65_537, 36 * 2048, 75_001];

/// The kernels of the ladder's own rungs, and the other kernels of the ladder.
pub(crate) fn kernels() -> Vec<&'static str> {
    let beside = [ladder_scan_copy::NAME, ladder_scan_inject::NAME, ladder_scan_inject_packs::NAME];
    let own = rungs().into_iter().take_while(|rung| rung.number < 10);
    own.map(|rung| rung.kernel()).chain(beside).collect()
}

/// The prefix sums.
fn scanned(input: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    let next = |&element: &u32| {
        sum = sum.wrapping_add(element);
        sum
    };
    input.iter().map(next).collect()
}

/// For each of `lengths`, scans that many elements of one input with every rung that `asked`
/// accepts.
fn climb(device: &Device, lengths: &[usize], asked: impl Fn(&Rung) -> bool) {
    let most = lengths.iter().copied().max().unwrap_or(0);
    let input = sample::<u32>(Input::Values, most, 7);
    let expected = scanned(&input);
    let mut climb = Climb::new(device, &input).expect("the input should fit");
    for rung in rungs().into_iter().filter(asked) {
        for len in lengths.iter().map(|&len| len.min(rung.at_most)) {
            let case = || format!("{} of {len}", rung.kernel());
            climb.clear().expect("it should be cleared");
            match climb.launch(&rung, len, &rung.moves(len)) {
                Err(
                    error @ (DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. }),
                ) => {
                    skipped(&error.to_string());
                    continue;
                }
                other => other.unwrap_or_else(|error| panic!("{}: {error}", case())),
            }
            let sums = climb.sums().unwrap_or_else(|error| panic!("{}: {error}", case()));
            let wrong = (0..len).find(|&i| sums[i] != expected[i]);
            assert_eq!(wrong, None, "{}: the first wrong place", case());
            let after = sums[len..].iter().position(|&word| word != 0);
            assert_eq!(after, None, "{}: written after the end", case());
        }
    }
}

/// Whether the rung belongs to the ladder itself. The library's rungs are tested elsewhere.
fn own(rung: &Rung) -> bool {
    rung.number < 10
}

fn every_rung_of_the_scans_is_exact(device: &Device) {
    climb(device, &SHORT, |rung| rung.number <= 10);
}

fn every_rung_of_the_scans_is_exact_for_longer_arrays_on_the_emulator() {
    // Without race checks: the emulator refuses to check a grid with this many threads.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    climb(&device, &LONG, own);
}

fn every_rung_of_the_scans_is_exact_for_long_arrays_on_cuda() {
    with_cuda(|device| {
        climb(device, &LONG, |rung| rung.number <= 10);
        climb(device, &[(1 << 20) + 3, (1 << 25) + 1], |_| true);
    });
}

fn every_rung_of_the_scans_is_exact_and_without_races_whatever_the_schedule() {
    for schedule in schedules() {
        climb(&emulator_under(schedule), &[3 * 2048 - 5], own);
    }
}

fn blocks_that_wait_for_each_other_end_even_if_only_some_are_resident() {
    for policy in [Policy::RunAhead, Policy::Reverse, Policy::Coarse] {
        // 4 of 21 blocks are resident.
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 1,
            schedule: Schedule::new(policy),
            races: true,
            ..EmulatorConfig::default()
        }));
        climb(&device, &[20 * 2048 + 1], |rung| matches!(rung.number, 7..=9));
    }
}

fn a_look_back_goes_past_a_window_of_32_tiles() {
    // All 60 blocks are resident and run in lockstep: when they look back, all have published an
    // aggregate, but only the first has published a prefix.
    let device = Device::new(Emulator::new(EmulatorConfig {
        multiprocessors: 16,
        schedule: Schedule::new(Policy::RoundRobin),
        races: true,
        ..EmulatorConfig::default()
    }));
    climb(&device, &[60 * 2048], |rung| rung.number == 9);
}

fn the_scan_by_bulk_copies_is_a_rung_if_a_block_has_room_for_it() {
    let hopper = Device::new(Emulator::new(EmulatorConfig {
        shared_per_block: 227 << 10,
        ..EmulatorConfig::default()
    }));
    climb(&hopper, &[(1 << 18) + 5], |rung| rung.number >= 10);
    let input = sample::<u32>(Input::Values, 1 << 18, 7);
    let bulk = rungs().into_iter().find(|rung| rung.number == 11);
    let bulk = bulk.expect("it is the last rung");
    // The first device has too few elements, the second too little shared memory.
    for device in [&hopper, &emulator()] {
        let mut climb = Climb::new(device, &input).expect("the input should fit");
        let moves = bulk.moves(input.len());
        let refused = climb.launch(&bulk, input.len(), &moves);
        assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
    }
}

fn copying_only_copies_every_length(device: &Device) {
    for len in [0, 1, 3, 4, 5, 1023, 9999] {
        let host = sample::<u32>(Input::Values, len, 5);
        let input = device.upload(&host).expect("the input should fit");
        let output = device.zeroed::<u32>(len).expect("the output should fit");
        // SAFETY: two buffers of the same length. The download waits for the launch.
        unsafe {
            let views = (input.view(), output.view());
            device.launch::<ladder_scan_copy>(&Geometry::new(3, 256), views)
        }
        .expect("it should launch");
        assert_eq!(output.download().expect("it should have run"), host);
    }
}
