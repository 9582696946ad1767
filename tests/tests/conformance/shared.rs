//! Host arrays that several GPUs share: results and bits equal those of one GPU and of the CPU. On
//! one to eight emulated GPUs, and on real ones; a single real GPU is used twice.

use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::{Devices, EmulatorConfig};
use gridsync::primitives::kendall::kendall_on_cpu;
use gridsync::primitives::range_sum::range_sums_on_cpu;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::select::{FirstOfRun, Within, partition_on_cpu, positions_on_cpu};
use gridsync::primitives::{
    Checked, PartReducer, PartReducible, Wanted, kendall_in_parts, range_sums_in_parts,
    scan_in_parts, select_in_parts,
};
use gridsync_entries::scan::Scannable;
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::*;
use gridsync_tests::devices::with_cuda_gpus;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, Ties, runs, sample, sample_ranges};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            sums_have_the_same_bits_on_any_number_of_gpus,
            selections_have_the_elements_of_the_whole,
            range_sums_have_the_bits_of_the_whole,
            rank_correlations_are_those_of_the_whole,
            arrays_larger_than_the_memory_of_a_gpu_are_shared,
            everything_has_the_bits_of_the_whole_on_cuda,
            an_error_of_one_of_several_gpus_names_that_gpu;
        thorough:
            scans_have_the_bits_of_the_whole;
    };
    macro_rules! reductions {
        (reduce $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            trials.test(concat!("reduce::", stringify!($name)), || reduced(<$ty>::new()));
        };
        (reduce $value:tt ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
            trials.test(concat!("reduce::", stringify!($name)), || reduced::<$ty>($example));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(reductions);
    trials.test("reduce::mean_f32", || reduced(Mean::new(Sum::<f32>::new())));
    trials
}

fn emulated(gpus: u32) -> Devices {
    let config = EmulatorConfig { gpus, ..EmulatorConfig::default() };
    Devices::emulated(config).expect("there may be so many")
}

/// Reduces on several GPUs, and compares with the CPU.
#[track_caller]
fn reduced_by<O>(devices: &Devices, op: O, input: &[O::Element], part: usize)
where
    O: PartReducible + Checked<Element: Pod, Output: Debug>,
{
    let len = input.len();
    let mut reducer = PartReducer::new(op, devices, len, part).expect("there is room");
    for part in input.chunks(reducer.part().max(1)) {
        reducer.next(part).expect("it runs");
    }
    let (got, expected) = (reducer.finish(), reduce_on_cpu(op, input));
    let (name, gpus) = (std::any::type_name::<O>(), devices.len());
    assert!(O::same(got, expected), "{name} of {len}, {gpus} GPUs: {got:?}, not {expected:?}");
}

/// One operation, on arrays of one tile, and of tiles that do not divide evenly, at once and in
/// parts.
fn reduced<O>(op: O)
where
    O: PartReducible + Checked<Element: Pod + Sample, Output: Debug>,
{
    let small = sample::<O::Element>(Input::Values, 5003, 1);
    let each = size_of::<O::Element>();
    // 4 MiB and some more tiles of 64 KiB.
    let large =
        sample::<O::Element>(Input::Values, (4 << 20) / each + 5 * (64 << 10) / each + 77, 2);
    reduced_by(&emulated(2), op, &small, small.len());
    reduced_by(&emulated(3), op, &large, large.len());
}

/// One to eight GPUs, at once and in parts.
fn sums_have_the_same_bits_on_any_number_of_gpus() {
    let op = Sum::<f32>::new();
    let large = sample::<f32>(Input::Values, (1 << 20) + 5 * (16 << 10) + 77, 2);
    for gpus in 1..=8 {
        for part in [large.len(), large.len() / 3, 1 << 18] {
            reduced_by(&emulated(gpus), op, &large, part);
        }
    }
}

fn bits<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Selects on several GPUs, and compares with the CPU.
#[track_caller]
fn selected_by<S>(devices: &Devices, by: S, input: &[S::Element], part: usize)
where
    S: Selectable<Element: Pod>,
{
    let wanted = Wanted { rest: true, positions: true };
    let got = select_in_parts(by, devices, input, part, wanted, |_| ()).expect("it runs");
    let [kept, rest] = partition_on_cpu(by, input);
    let gpus = devices.len();
    assert!(bits(&got.kept) == bits(&kept), "kept, {} by {part}, {gpus} GPUs", input.len());
    assert!(got.rest.is_some_and(|got| bits(&got) == bits(&rest)), "rest, by {part}, {gpus} GPUs");
    assert_eq!(got.positions, Some(positions_on_cpu(by, input)), "by {part}, {gpus} GPUs");
}

fn selections_have_the_elements_of_the_whole() {
    for gpus in [1, 2, 3, 8] {
        let devices = emulated(gpus);
        for len in [0, 1, 2, 7, 33, 603] {
            let floats = runs::<f32>(len, 3);
            for part in [len, len / 2 + 1, len / 40 + 1] {
                selected_by(&devices, Within::less_than(0.0f32), &floats, part);
                selected_by(&devices, FirstOfRun::<f32>::new(), &floats, part);
            }
        }
        selected_by(&devices, FirstOfRun::<i64>::new(), &runs::<i64>(10_003, 4), usize::MAX);
    }
}

/// Scans on several GPUs, and compares with the CPU.
#[track_caller]
fn scanned_by<O>(devices: &Devices, len: usize, part: usize)
where
    O: Scannable<Element: Pod + Sample, Output: Pod> + Default,
{
    let input = sample::<O::Element>(Input::Values, len, 5);
    for form in [Form::Inclusive, Form::Exclusive] {
        let got = scan_in_parts(O::default(), devices, &input, form, part, |_| ());
        let got = got.expect("it runs");
        let expected = scan_on_cpu(O::default(), &input, form);
        assert!(bits(&got) == bits(&expected), "{form:?} of {len}, {} GPUs", devices.len());
    }
}

fn scans_have_the_bits_of_the_whole() {
    // Groups of f16 in f64 are the shortest.
    let group = Shape::part::<f16, f64>();
    for (gpus, len) in [(2, group + 1), (2, 2 * group), (3, 2 * group + 4321), (2, 1000), (3, 0)] {
        scanned_by::<Sum<f16, f64>>(&emulated(gpus), len, len);
    }
    scanned_by::<Sum<f16, f64>>(&emulated(2), 3 * group + 5, group);
    scanned_by::<Max<f32>>(&emulated(2), 2000, 2000);
}

#[track_caller]
fn range_summed_by(devices: &Devices, len: usize) {
    let (op, input) = (Sum::<f32, f64>::new(), sample::<f32>(Input::Values, len, 9));
    let queries = sample_ranges(len, 500, 1);
    let got = range_sums_in_parts(op, devices, &input, &queries, len, |_| ()).expect("it runs");
    let expected = range_sums_on_cpu(op, &input, &queries).expect("all are ranges");
    assert!(bits(&got) == bits(&expected), "{len}, {} GPUs", devices.len());
}

fn range_sums_have_the_bits_of_the_whole() {
    for gpus in [1, 2, 3] {
        range_summed_by(&emulated(gpus), 3003);
    }
}

#[track_caller]
fn correlated_by(devices: &Devices, len: usize, part: usize) {
    let (x, y) = Ties::Few.sample::<f32>(len, 1);
    let mut seen = Vec::new();
    let got = kendall_in_parts(devices, &x, &y, part, |done, of| seen.push((done, of)));
    let (got, expected) = (got.expect("no NaN"), kendall_on_cpu(&x, &y).expect("no NaN"));
    assert!(got.same(&expected), "{len} by {part}, {} GPUs: {got:?}", devices.len());
    assert!(seen.iter().zip(1..).all(|(step, i)| *step == (i, seen.len())), "{seen:?}");
}

fn rank_correlations_are_those_of_the_whole() {
    for gpus in [1, 2, 3] {
        for (len, part) in [(1001, 1001), (1001, 200), (1000, 500), (12, 2)] {
            correlated_by(&emulated(gpus), len, part);
        }
    }
}

/// Each GPU has memory for half of the array.
fn arrays_larger_than_the_memory_of_a_gpu_are_shared() {
    let base = EmulatorConfig::default();
    let gpus = |gpus| {
        Devices::emulated(EmulatorConfig { gpus, memory_bytes: 4 << 20, ..base }).expect("gpus")
    };
    let input = sample::<i64>(Input::Values, 1 << 20, 3);
    let refused = PartReducer::new(Sum::<i64>::new(), gpus(1), input.len(), input.len());
    assert!(refused.is_err(), "it should not fit");
    reduced_by(&gpus(3), Sum::<i64>::new(), &input, input.len());
    // Also for floats: the tree is that of the whole array.
    let input = sample::<f64>(Input::Values, 1 << 20, 3);
    reduced_by(&gpus(3), Sum::<f64>::new(), &input, input.len());
    selected_by(&gpus(8), Within::less_than(0.0), &input[..200_000], usize::MAX);
}

fn an_error_of_one_of_several_gpus_names_that_gpu() {
    let input = sample::<i64>(Input::Values, 1000, 3);
    let select = |gpus: u32| {
        let config = EmulatorConfig { gpus, step_limit: 3, ..EmulatorConfig::default() };
        let devices = Devices::emulated(config).expect("there may be so many");
        let by = Within::less_than(0i64);
        select_in_parts(by, &devices, &input, 1000, Wanted::default(), |_| ()).expect_err("steps")
    };
    assert!(select(2).to_string().starts_with("GPU "), "{}", select(2));
    assert!(select(1).to_string().starts_with("the emulator stopped"), "{}", select(1));
}

fn everything_has_the_bits_of_the_whole_on_cuda() {
    with_cuda_gpus(|devices| {
        let large = sample::<f32>(Input::Values, (1 << 26) + 12_345, 2);
        reduced_by(devices, Sum::<f32>::new(), &large, large.len());
        reduced_by(devices, Sum::<f32>::new(), &large, large.len() / 5);
        reduced_by(devices, Mean::new(Sum::<f32>::new()), &large, large.len());
        scanned_by::<Sum<f32>>(devices, large.len(), large.len());
        scanned_by::<Sum<f32>>(devices, large.len(), large.len() / 3);
        scanned_by::<Sum<i32, i64>>(devices, 100_000_007, usize::MAX);
        selected_by(devices, Within::less_than(0.0f32), &large, usize::MAX);
        selected_by(devices, FirstOfRun::<i32>::new(), &runs::<i32>(10_000_001, 4), 3_000_000);
        range_summed_by(devices, 50_000_001);
        correlated_by(devices, 100_001, 30_000);
    });
}
