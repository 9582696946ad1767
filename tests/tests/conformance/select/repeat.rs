//! Repeated selections in one workspace; the last stamp; devices that hold few blocks at once;
//! larger shapes.

use super::{first, same_bits};
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::Selector;
use gridsync::primitives::select::{
    FirstOfRun, Within, partition, positions_on_cpu, run_lengths, select, select_on_cpu,
    select_with_positions, unique,
};
use gridsync_kernels::grid::scan::Shape;
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, SelectBench, runs, sample, select_case};
use simt::{Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_stamps_wrap_whichever_block_ends_last,
            a_device_that_holds_four_blocks_at_once_selects_from_many_under_every_schedule,
            larger_shapes_select_the_same_on_the_emulator,
            larger_shapes_select_the_same_on_cuda;
        on_each_backend:
            one_workspace_serves_selections_of_every_length,
            single_selections_give_the_same_results,
            outputs_of_other_lengths_are_refused,
            the_stamps_wrap_after_the_last_one;
    }
}

/// Launches repeatedly in one workspace, starting two stamps before the last one. Returns the stamp
/// that each launch left.
fn stamps(device: &Device, launches: usize) -> Vec<u32> {
    let host = sample::<f32>(Input::Values, 9 * 256 + 1, 4);
    let shape = Shape::with::<f32>(host.len(), 2, 1, 4);
    assert_eq!((shape.tiles, shape.groups()), (10, 3));
    let by = Within::<f32>::greater_than(0.0);
    let bench = SelectBench::new(by, device, shape, host, u32::MAX - 3).expect("it should fit");
    let run = |_| bench.run().unwrap_or_else(|error| panic!("{error}"));
    (0..launches).map(run).collect()
}

const AROUND_THE_LAST: [u32; 6] = [u32::MAX - 2, u32::MAX - 1, 0, 1, 2, 3];

fn one_workspace_serves_selections_of_every_length(device: &Device) {
    let (below, first_of_run) = (Within::<f32>::less_than(1.0), FirstOfRun::<f32>::new());
    let mut below_one = Selector::new(below, device, 5000).expect("a selector should fit");
    let mut unique = Selector::new(first_of_run, device, 5000).expect("a selector should fit");
    let mut count = device.alloc(1).expect("the count should fit");
    // Short after long and long after short, and longer than the selector was created for.
    for (seed, len) in (0..).zip([5000, 0, 1, 40_000, 1024, 1025, 0, 33, 12_289, 12_289]) {
        let host = runs::<f32>(len, seed);
        let input = device.upload(&host).expect("the input should fit");
        let mut kept = device.alloc(len).expect("the output should fit");
        below_one.launch(&input, &mut kept, &mut count).expect("it should launch");
        let expected = select_on_cpu(below, &host);
        same_bits("less than 1", &first(&kept, expected.len()), &expected);
        same_bits("their count", &first(&count, 1), &[expected.len() as u64]);
        unique.launch(&input, &mut kept, &mut count).expect("it should launch");
        let expected = select_on_cpu(first_of_run, &host);
        same_bits("runs", &first(&kept, expected.len()), &expected);
        same_bits("their count", &first(&count, 1), &[expected.len() as u64]);
    }
}

fn single_selections_give_the_same_results(device: &Device) {
    let host = runs::<i32>(5001, 1);
    let input = device.upload(&host).expect("the input should fit");
    let by = Within::<i32>::nonzero();
    let kept = select(by, &input).expect("it should run");
    let got = kept.download().expect("the results are there");
    same_bits("nonzero", &got, &select_on_cpu(by, &host));
    let [kept, rest] = partition(by, &input).expect("it should run");
    assert_eq!((kept.len(), kept.len() + rest.len()), (got.len(), 5001));
    let rest = rest.download().expect("the results are there");
    same_bits("zero", &rest, &select_on_cpu(Within::equal_to(0), &host));
    let values = unique(&input).expect("it should run");
    let by = FirstOfRun::<i32>::new();
    let got = values.download().expect("the results are there");
    same_bits("runs", &got, &select_on_cpu(by, &host));
    let (values, starts) = select_with_positions(by, &input).expect("it should run");
    let starts = starts.download().expect("the results are there");
    same_bits("starts", &starts, &positions_on_cpu(by, &host));
    // Repeating each value for the length of its run gives the array.
    let lengths = run_lengths(&starts, host.len());
    let values = values.download().expect("the results are there");
    let runs = values.iter().zip(lengths);
    let again: Vec<i32> = runs.flat_map(|(&x, n)| vec![x; n as usize]).collect();
    same_bits("all runs", &again, &host);
}

fn outputs_of_other_lengths_are_refused(device: &Device) {
    let input = device.upload(&[1.0f32; 5]).expect("the input should fit");
    let not_nan = Within::<f32>::not_nan();
    let mut selector = Selector::new(not_nan, device, 5).expect("a selector should fit");
    for (kept, count) in [(4, 1), (5, 0), (5, 2)] {
        let mut kept = device.alloc(kept).expect("the output should fit");
        let mut count = device.alloc(count).expect("the count should fit");
        let refused = selector.launch(&input, &mut kept, &mut count);
        assert!(matches!(refused, Err(DeviceError::LengthMismatch { .. })), "{refused:?}");
    }
}

fn the_stamps_wrap_after_the_last_one(device: &Device) {
    assert_eq!(stamps(device, 6), AROUND_THE_LAST);
}

fn the_stamps_wrap_whichever_block_ends_last() {
    for policy in [Policy::RunAhead, Policy::Reverse, Policy::Random { quantum: 7 }] {
        let device = emulator_under(Schedule::seeded(policy, 5));
        assert_eq!(stamps(&device, 4), AROUND_THE_LAST[..4], "{policy:?}");
    }
}

fn a_device_that_holds_four_blocks_at_once_selects_from_many_under_every_schedule() {
    let host = sample::<f32>(Input::Values, 11 * 1024, 2);
    let shape = Shape::with::<f32>(host.len(), 8, 1, 4);
    assert_eq!(shape.tiles, 11);
    for schedule in schedules() {
        // 1024 threads per multiprocessor: four blocks of 8 warps.
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 1,
            schedule,
            races: true,
            ..EmulatorConfig::default()
        }));
        let by = Within::<f32>::less_than(0.5);
        let bench = SelectBench::new(by, &device, shape, host.clone(), 0).expect("it should fit");
        bench.run().unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
    }
}

/// A length at which tiles become larger, and one at which a second group begins.
fn larger_shapes() -> [usize; 2] {
    let lens = [(1 << 18) + 1, 256 * 8192 + 1];
    assert_ne!(Shape::of::<f32, f32>(lens[0]).rows, Shape::of::<f32, f32>(1).rows);
    lens
}

fn larger_shapes_select_the_same_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    let [larger_tiles, _] = larger_shapes();
    let host = runs::<f32>(larger_tiles, 3);
    let half = select_case(&[Within::<f32>::greater_than(0.0)], &device, &host);
    half.unwrap_or_else(|error| panic!("{error}"));
    let unique = select_case(&[FirstOfRun::<f32>::new()], &device, &host);
    unique.unwrap_or_else(|error| panic!("{error}"));
}

fn larger_shapes_select_the_same_on_cuda() {
    with_cuda(|cuda| {
        for len in larger_shapes().into_iter().chain([(1 << 25) + 7]) {
            let host = runs::<f32>(len, 3);
            let half = select_case(&[Within::<f32>::greater_than(0.0)], cuda, &host);
            half.unwrap_or_else(|error| panic!("{error}"));
            let unique = select_case(&[FirstOfRun::<f32>::new()], cuda, &host);
            unique.unwrap_or_else(|error| panic!("{error}"));
        }
    });
}
