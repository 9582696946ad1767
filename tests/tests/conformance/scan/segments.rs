//! Scans within segments: no element affects another segment.

use super::{FORMS, same_bits, scan_in};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::{InSegments, Max, Min, Operation, Segments, Sum};
use gridsync_tests::devices::{emulator, emulator_under, schedules, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Check, Trials};
use gridsync_verify::{Input, Sample, sample};
use simt::{Policy, Schedule};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            segments_stay_separate_under_every_schedule,
            floating_point_segments_have_the_same_bits_on_cuda;
        thorough:
            floating_point_segments_have_the_same_bits_on_the_emulator;
    };
    let operations: [(&str, Check); 16] = [
        ("sum_i32_in_i64", agrees_with_a_loop::<Sum<i32, i64>>),
        ("sum_u32_in_u64", agrees_with_a_loop::<Sum<u32, u64>>),
        ("sum_i64", agrees_with_a_loop::<Sum<i64>>),
        ("sum_u64", agrees_with_a_loop::<Sum<u64>>),
        ("min_f32", agrees_with_a_loop::<Min<f32>>),
        ("min_f64", agrees_with_a_loop::<Min<f64>>),
        ("min_i32", agrees_with_a_loop::<Min<i32>>),
        ("min_u32", agrees_with_a_loop::<Min<u32>>),
        ("min_i64", agrees_with_a_loop::<Min<i64>>),
        ("min_u64", agrees_with_a_loop::<Min<u64>>),
        ("max_f32", agrees_with_a_loop::<Max<f32>>),
        ("max_f64", agrees_with_a_loop::<Max<f64>>),
        ("max_i32", agrees_with_a_loop::<Max<i32>>),
        ("max_u32", agrees_with_a_loop::<Max<u32>>),
        ("max_i64", agrees_with_a_loop::<Max<i64>>),
        ("max_u64", agrees_with_a_loop::<Max<u64>>),
    ];
    for (name, check) in operations {
        let claim = format!("{name}::each_segment_is_scanned_by_itself");
        // Types of the same width share nearly all code.
        let budget = Budget::thorough_if(!["sum_i32_in_i64", "max_f32"].contains(&name));
        trials.add(format!("{claim}_on_the_emulator"), budget, move || {
            check(&emulator());
        });
        trials.test(format!("{claim}_on_cuda"), move || with_cuda(check));
    }
    trials
}

/// The scan as a plain loop; `starts` marks the elements that start a segment.
fn one_by_one<O: Operation + Default>(
    input: &[O::Element],
    starts: impl Fn(usize) -> bool,
    form: Form,
) -> Vec<O::Output> {
    let op = O::default();
    let mut all = op.identity();
    let up_to = |(index, &x): (usize, &O::Element)| {
        let before = match starts(index) {
            true => op.identity(),
            false => all,
        };
        all = op.combine(before, op.lift(x, index as u64));
        op.finish(match form {
            Form::Inclusive => all,
            Form::Exclusive => before,
        })
    };
    input.iter().enumerate().map(up_to).collect()
}

/// Lengths around every edge of a lane, a row and a tile.
const LENS: [usize; 10] = [1, 2, 31, 32, 33, 127, 129, 1023, 1025, 4097];

/// Lengths of rows: shorter and longer than a pack, a warp's row and a tile.
const ROWS: [u64; 9] = [1, 2, 3, 4, 5, 31, 128, 1000, 1 << 40];

/// Compares rows of every length, and segments with irregular starts, with a loop. The values are
/// small integers, so no sum is rounded.
fn agrees_with_a_loop<O>(device: &Device)
where
    O: Operation + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
    O::Element: Pod + Sample,
    O::Output: Pod + Debug,
{
    for len in LENS {
        let host = sample::<O::Element>(Input::Values, len, len as u64);
        let input = device.upload(&host).expect("the input should fit");
        let mut output = device.alloc(len).expect("the output should fit");
        let mut check =
            |what: &str, mut scanner: Scanner<InSegments<O>>, starts: &dyn Fn(usize) -> bool| {
                for form in FORMS {
                    let expected = one_by_one::<O>(&host, starts, form);
                    scanner.launch(&input, &mut output, form).expect("it should launch");
                    let got = output.download().expect("the kernel should have run");
                    same_bits(&format!("{form:?}, {what} of {len}"), &got, &expected);
                }
            };
        for row in ROWS {
            let starts = |index: usize| (index as u64).is_multiple_of(row);
            let op = InSegments::<O>::new(Segments::rows(row));
            let scanner = Scanner::new(op, device, len).expect("a scanner should fit");
            check(&format!("rows of {row}"), scanner, &starts);
        }
        for every in [1, 2, 7, 300] {
            let starts = |index: usize| (index * 2_654_435_761) >> 7 & 0xFFFF < 0x10000 / every;
            let marks: Vec<bool> = (0..len).map(starts).collect();
            let scanner = Scanner::in_marked(device, &marks).expect("a scanner should fit");
            check(&format!("one in {every} marked"), scanner, &starts);
        }
    }
}

/// Scans three groups of four tiles.
fn in_groups(device: &Device) {
    let host = sample::<i64>(Input::Values, 9 * 128 + 1, 3);
    let shape = Shape::with::<i64>(host.len(), 2, 1, 4);
    assert_eq!(shape.groups(), 3);
    for row in [1, 7, 128, 500] {
        let op = InSegments::<Sum<i64>>::new(Segments::rows(row));
        let starts = |index: usize| (index as u64).is_multiple_of(row);
        for form in FORMS {
            let got = scan_in(op, device, shape, &host, form);
            let expected = one_by_one::<Sum<i64>>(&host, starts, form);
            same_bits(&format!("{form:?}, rows of {row}"), &got, &expected);
        }
    }
}

fn segments_stay_separate_under_every_schedule() {
    for schedule in schedules() {
        in_groups(&emulator_under(schedule));
    }
}

/// Sums in the order of the whole array have the same bits as on the CPU.
fn same_bits_as_the_cpu<O>(device: &Device)
where
    O: Operation<Element: Pod + Sample, Output: Pod + Debug> + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    for (len, row) in [(5, 2), (1000, 33), (70_001, 1000), ((1 << 18) + 9, 777)] {
        let host = sample::<O::Element>(Input::Values, len, row);
        let op = InSegments::<O>::new(Segments::rows(row));
        let input = device.upload(&host).expect("the input should fit");
        let mut output = device.alloc(len).expect("the output should fit");
        let mut scanner = Scanner::new(op, device, len).expect("a scanner should fit");
        for form in FORMS {
            scanner.launch(&input, &mut output, form).expect("it should launch");
            let got = output.download().expect("the kernel should have run");
            let expected = scan_on_cpu(op, &host, form);
            same_bits(&format!("{form:?}, rows of {row} of {len}"), &got, &expected);
        }
    }
}

fn floating_point_segments_have_the_same_bits_on_the_emulator() {
    // Without race checks: the grid is too large.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    same_bits_as_the_cpu::<Sum<f32>>(&device);
    same_bits_as_the_cpu::<Sum<f32, f64>>(&device);
    same_bits_as_the_cpu::<Sum<f64>>(&device);
}

fn floating_point_segments_have_the_same_bits_on_cuda() {
    with_cuda(|cuda| {
        same_bits_as_the_cpu::<Sum<f32>>(cuda);
        same_bits_as_the_cpu::<Sum<f32, f64>>(cuda);
        same_bits_as_the_cpu::<Sum<f64>>(cuda);
    });
}
