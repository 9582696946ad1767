//! Long arrays in parts: the same bits as one scan.

use super::{FORMS, same_bits};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::scan::{Design, Form, scan_on_cpu};
use gridsync::primitives::{Scanner, scan_in_parts};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::{CompensatedSum, Max, Sum};
use gridsync_tests::devices::{emulator, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use simt::{Policy, Schedule};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            short_parts_continue_where_the_last_one_ended,
            both_designs_pass_on_the_same_bits_wherever_a_part_ends,
            an_array_larger_than_the_memory_it_goes_through_is_scanned_on_cuda,
            parts_that_are_whole_groups_have_the_bits_of_the_whole_on_cuda;
        thorough:
            parts_that_are_whole_groups_have_the_bits_of_the_whole_on_the_emulator,
            parts_by_bulk_copies_continue_where_the_last_one_ended;
    }
}

/// Scans parts of the lengths `lens`, twice, and then all at once.
fn parts_are_one<O>(device: &Device, lens: &[usize], design: Option<Design>)
where
    O: Scannable<Element: Pod + Sample, Output: Pod + Debug> + Default,
{
    let len = lens.iter().sum();
    let host = sample::<O::Element>(Input::Values, len, 11);
    let input = device.upload(&host).expect("the input should fit");
    let mut output = device.alloc(len).expect("the output should fit");
    let mut scanner = Scanner::new(O::default(), device, 0).expect("a scanner should fit");
    if let Some(design) = design {
        scanner = scanner.with_design(design).expect("it has that design");
    }
    for form in FORMS {
        let mut start = 0;
        for len in lens {
            let part = start..start + len;
            scanner
                .launch_next(&input, part.clone(), &mut output, part, form)
                .expect("it should launch");
            start += len;
        }
        scanner.end();
        let got = output.download().expect("the kernel should have run");
        let expected = scan_on_cpu(O::default(), &host, form);
        same_bits(&format!("{form:?} of {lens:?}"), &got, &expected);
    }
}

fn short_parts_continue_where_the_last_one_ended() {
    // Integers and maxima: any parts give the bits of the whole array.
    for lens in [&[1, 1, 1][..], &[5, 0, 2000, 1, 8192, 8193, 40_000, 3]] {
        parts_are_one::<Sum<i32, i64>>(&emulator(), lens, None);
        parts_are_one::<Max<f32>>(&emulator(), lens, None);
        parts_are_one::<Sum<u64>>(&emulator(), lens, None);
    }
}

fn parts_by_bulk_copies_continue_where_the_last_one_ended() {
    let lens = [8192, 8193, 1, 50_000];
    let device = super::bulk::emulator(2, Schedule::new(Policy::Coarse), true);
    let design = Some(Design::Bulk);
    parts_are_one::<Sum<u32>>(&device, &lens, design);
    parts_are_one::<Sum<i64>>(&device, &lens, design);
}

/// Scans `host` in parts of the lengths `lens`.
fn in_parts<T>(device: &Device, design: Design, host: &[T], lens: &[usize], form: Form) -> Vec<T>
where
    T: Pod,
    Sum<T>: Scannable<Element = T, Output = T>,
{
    let input = device.upload(host).expect("the input should fit");
    let mut output = device.alloc(host.len()).expect("the output should fit");
    let scanner = Scanner::new(Sum::<T>::new(), device, 0).expect("a scanner should fit");
    let mut scanner = scanner.with_design(design).expect("it has that design");
    let mut start = 0;
    for len in lens {
        let part = start..start + len;
        scanner
            .launch_next(&input, part.clone(), &mut output, part, form)
            .expect("it should launch");
        start += len;
    }
    output.download().expect("the kernels should have run")
}

fn both_designs_pass_on_the_same_bits_wherever_a_part_ends() {
    let device = super::bulk::emulator(2, Schedule::new(Policy::Coarse), true);
    let lens = [8192, 3 * 8192 + 5, 8192 + 2, 100];
    let len = lens.iter().sum();
    let values = sample::<f32>(Input::Values, len, 3);
    for (host, form) in
        [vec![-0.0f32; len], values].iter().flat_map(|host| FORMS.map(|form| (host, form)))
    {
        let by = |design| in_parts(&device, design, host, &lens, form);
        let (registers, bulk) = (by(Design::Registers), by(Design::Bulk));
        same_bits(&format!("{form:?} of {} …", host[0]), &bulk, &registers);
    }
    let zeros = vec![-0.0f64; len];
    let sums = in_parts(&device, Design::Bulk, &zeros, &lens, Form::Inclusive);
    assert!(sums.iter().all(|sum| sum.is_sign_negative()), "−0 + −0 is −0");
}

/// The array is on the host, and is larger than the device memory that it passes through.
fn an_array_larger_than_the_memory_it_goes_through_is_scanned_on_cuda() {
    with_cuda(|cuda| {
        let len = 3 * Shape::part::<f32, f32>() + 5;
        let host = sample::<f32>(Input::Values, len, 2);
        let mut seen = Vec::new();
        let op = Sum::<f32>::new();
        let got = scan_in_parts(op, cuda, &host, FORMS[0], len / 3, |done| seen.push(done));
        let got = got.expect("the kernels should have run");
        assert_eq!(seen.last(), Some(&len), "{seen:?}");
        assert_eq!(seen.len(), 4, "{seen:?}");
        same_bits("in parts", &got, &scan_on_cpu(op, &host, FORMS[0]));
    });
}

/// Two groups, one group, and part of a group.
fn groups<O: Scannable>() -> [usize; 3] {
    let part = Shape::part::<O::Element, O::Accumulator>();
    [2 * part, part, part / 2 + 77]
}

fn parts_that_are_whole_groups_have_the_bits_of_the_whole_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    let part = Shape::part::<f32, f64>();
    parts_are_one::<Sum<f32, f64>>(&device, &[part, 77], None);
}

fn parts_that_are_whole_groups_have_the_bits_of_the_whole_on_cuda() {
    with_cuda(|cuda| {
        parts_are_one::<Sum<f32>>(cuda, &groups::<Sum<f32>>(), None);
        parts_are_one::<Sum<f32>>(cuda, &groups::<Sum<f32>>(), Some(Design::Registers));
        parts_are_one::<Sum<f64>>(cuda, &groups::<Sum<f64>>(), None);
        parts_are_one::<Sum<f32, f64>>(cuda, &groups::<Sum<f32, f64>>(), None);
        parts_are_one::<CompensatedSum<f32>>(cuda, &groups::<CompensatedSum<f32>>(), None);
    });
}
