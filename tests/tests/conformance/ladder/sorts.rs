//! The ladder of sorts: every rung at every edge, all in the same memory.

use cuda_std::launch::Kernel;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync_lab::ladder::Ladder;
use gridsync_lab::ladder::sorts::{Climb, Rung, rungs};
use gridsync_lab_kernels::ladder::sorts::kernels::{ladder_sort_count, ladder_sort_count_all};
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Keys, sample};
use simt::{Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_rung_of_the_sorts_is_exact_for_long_arrays_on_cuda,
            tiles_of_a_sweep_end_even_if_only_some_are_resident,
            rungs_sort_keys_with_equal_digits;
        on_each_backend:
            every_rung_of_the_sorts_is_exact;
        thorough:
            every_rung_of_the_sorts_is_exact_for_longer_arrays_on_the_emulator,
            every_rung_of_the_sorts_is_exact_and_without_races_whatever_the_schedule;
    }
}

/// Around a pair, a row of 512 keys and a tile of 2048, and powers of two.
const SHORT: [usize; 12] = [0, 1, 2, 3, 5, 33, 511, 513, 1024, 2047, 2048, 2049];

/// Three and five tiles, and more tiles than are resident; lengths that are not a multiple of a row.
const LONG: [usize; 4] = [4099, 8193, 10_000, 33_000];

/// The kernels of the ladder's own rungs, and the other kernels of the ladder.
pub(crate) fn kernels() -> Vec<&'static str> {
    let beside = [ladder_sort_count::NAME, ladder_sort_count_all::NAME];
    rungs().iter().filter_map(Rung::kernel).chain(beside).collect()
}

/// For each of `lengths`, sorts that many keys of `input` with every rung that `asked` accepts.
fn climb(device: &Device, input: &[u32], lengths: &[usize], asked: impl Fn(&Rung) -> bool) {
    let mut climb = Climb::new(device, input).expect("the input should fit");
    for rung in rungs().into_iter().filter(own).filter(asked) {
        for len in lengths.iter().map(|&len| len.min(rung.at_most)) {
            let case = || format!("{} of {len}", rung.name);
            climb.clear().expect("it should be cleared");
            let plan = climb.plan(&rung, len).expect("every length has a plan");
            let launched = climb.launch(&rung, len, &plan);
            launched.unwrap_or_else(|error| panic!("{}: {error}", case()));
            let sorted = climb.sorted().unwrap_or_else(|error| panic!("{}: {error}", case()));
            let mut expected = input[..len].to_vec();
            expected.sort_unstable();
            let wrong = (0..len).find(|&i| sorted[i] != expected[i]);
            assert_eq!(wrong, None, "{}: the first wrong index", case());
            let after = sorted[len..].iter().position(|&key| key != 0);
            assert_eq!(after, None, "{}: written after the end", case());
        }
    }
}

/// Random keys, as many as the longest of these arrays has.
fn keys(lengths: &[usize]) -> Vec<u32> {
    sample(Input::Values, lengths.iter().copied().max().unwrap_or(0), 7)
}

/// Whether the rung belongs to the ladder itself. The library's sort is tested elsewhere.
fn own(rung: &Rung) -> bool {
    rung.number < 7
}

fn every_rung_of_the_sorts_is_exact(device: &Device) {
    climb(device, &keys(&SHORT), &SHORT, |_| true);
}

fn every_rung_of_the_sorts_is_exact_for_longer_arrays_on_the_emulator() {
    // Without race checks: the emulator refuses to check a grid with this many threads.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    climb(&device, &keys(&LONG), &LONG, |rung| rung.number > 1);
}

fn every_rung_of_the_sorts_is_exact_for_long_arrays_on_cuda() {
    with_cuda(|device| {
        climb(device, &keys(&LONG), &LONG, |_| true);
        let lengths = [(1 << 20) + 3, (1 << 24) - 1];
        climb(device, &keys(&lengths), &lengths, |rung| rung.number > 1);
    });
}

fn every_rung_of_the_sorts_is_exact_and_without_races_whatever_the_schedule() {
    let lengths = [2 * 2048 + 5];
    for schedule in schedules() {
        climb(&emulator_under(schedule), &keys(&lengths), &lengths, |_| true);
    }
}

fn tiles_of_a_sweep_end_even_if_only_some_are_resident() {
    let lengths = [6 * 2048 + 1];
    for policy in [Policy::RunAhead, Policy::Reverse, Policy::Coarse] {
        // 2 of 7 blocks are resident.
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 1,
            schedule: Schedule::new(policy),
            races: true,
            ..EmulatorConfig::default()
        }));
        climb(&device, &keys(&lengths), &lengths, |rung| rung.number == 6);
    }
}

/// A stable pass keeps the order of the passes before, and none may lose the greatest key, which
/// also stands for the elements after the end.
fn rungs_sort_keys_with_equal_digits() {
    let device = gridsync_tests::devices::emulator();
    for keys in [Keys::Equal, Keys::Few] {
        climb(&device, &keys.sample::<u32>(2100, 3), &[2100], |_| true);
    }
    climb(&device, &[u32::MAX; 2100], &[2100], |_| true);
}
