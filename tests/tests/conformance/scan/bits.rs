//! Scans have the same bits everywhere, including at the last stamp.

use super::{FORMS, same_bits, scan_in};
use crate::bits::{AROUND_THE_LAST, nasty, with_nans};
use gridsync::device::{Device, Geometry};
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::reference;
use gridsync_entries::scan::{Arguments, Scannable, sum_f32 as scan_sum_f32};
use gridsync_kernels::grid::scan::{STATE, Shape};
use gridsync_kernels::op::{Product, Sum};
use gridsync_tests::devices::{emulator_under, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Policy, Schedule};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_stamps_wrap_whichever_block_ends_last,
            larger_shapes_have_the_same_bits_on_cuda;
        on_each_backend:
            a_nan_has_the_same_bits_whatever_its_cause,
            the_stamps_wrap_after_the_last_one;
        thorough:
            larger_shapes_have_the_same_bits_on_the_emulator;
        thorough_on_the_emulator:
            floats_that_lose_digits_have_the_same_bits_as_on_the_cpu;
    }
}

/// Compares both forms with the CPU.
fn compare<O>(device: &Device, what: &str, host: &[f32])
where
    O: Scannable<Element = f32> + Default,
    O::Output: bytemuck::Pod + Debug,
{
    let input = device.upload(host).expect("the input should fit");
    let mut output = device.alloc(host.len()).expect("the output should fit");
    let mut scanner = Scanner::new(O::default(), device, host.len()).expect("a scanner should fit");
    for form in FORMS {
        scanner.launch(&input, &mut output, form).expect("it should launch");
        let got = output.download().expect("the kernel should have run");
        same_bits(&format!("{form:?} of {what}"), &got, &scan_on_cpu(O::default(), host, form));
    }
}

/// Repeats a scan in one workspace, starting two stamps before the last one. Returns the stamp that
/// each launch left.
fn stamps(device: &Device, launches: usize) -> Vec<u32> {
    let host = nasty(9 * 256 + 1);
    let shape = Shape::with::<f32>(host.len(), 2, 1, 4);
    assert_eq!((shape.tiles, shape.groups()), (10, 3));
    let expected = reference::scan_in(Sum::<f32>::new(), shape, &host, Form::Inclusive);
    let geometry = Geometry::new(shape.tiles, shape.threads());
    let input = device.upload(&host).expect("the input should fit");
    let words = device.zeroed::<u64>(shape.places()).expect("the words should fit");
    let mut state = [0; STATE];
    state[1] = u32::MAX - 3;
    let state = device.upload(&state).expect("the state should fit");
    let launch = |number: usize| {
        let output = device.alloc::<f32>(host.len()).expect("the output should fit");
        let args = (Arguments {
            input: input.view(),
            output: output.view(),
            words: words.view(),
            state: state.view(),
            rows: shape.rows,
            group: shape.group,
            mode: Form::Inclusive as u32,
        },);
        // SAFETY: the shape fits the input and the grid fits the shape. No word holds a stamp of a
        // later launch. All buffers live until the download has waited for the launch.
        unsafe { device.launch::<scan_sum_f32>(&geometry, args) }.expect("it should launch");
        let got = output.download().expect("the kernel should have run");
        same_bits(&format!("launch {number}"), &got, &expected);
        let left = state.download().expect("the kernel should have run");
        assert_eq!((left[0], left[2]), (0, 0), "launch {number}: {left:?}");
        if left[1] == 0 {
            let words = words.download().expect("the words are there");
            assert!(words.iter().all(|&word| word == 0), "an old stamp was left");
        }
        left[1]
    };
    (1..=launches).map(launch).collect()
}

fn floats_that_lose_digits_have_the_same_bits_as_on_the_cpu(device: &Device) {
    for len in [2, 100, 1023, 8193, 30_001] {
        let (what, host) = (format!("{len} nasty floats"), nasty(len));
        compare::<Sum<f32>>(device, &what, &host);
        compare::<Sum<f32, f64>>(device, &what, &host);
        compare::<Product<f32>>(device, &what, &host);
    }
}

fn a_nan_has_the_same_bits_whatever_its_cause(device: &Device) {
    for nans in with_nans() {
        compare::<Sum<f32>>(device, &format!("{nans:?}"), &nans);
        compare::<Product<f32>>(device, &format!("{nans:?}"), &nans);
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

/// A length at which tiles become larger, and one at which a second group begins.
fn larger_shapes() -> [usize; 2] {
    let lens = [(1 << 18) + 1, 1024 * 8192 + 1];
    let [small, large] = lens.map(Shape::of::<f32, f32>);
    assert_ne!(small.rows, Shape::of::<f32, f32>(1).rows);
    assert_eq!((small.groups(), large.groups()), (1, 2));
    lens
}

fn larger_shapes_have_the_same_bits_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    let [larger_tiles, _] = larger_shapes();
    let host = nasty(larger_tiles);
    compare::<Sum<f32>>(&device, "larger tiles", &host);
    // A second group in smaller tiles, so with fewer elements.
    let host = nasty(1024 * 1024 + 1);
    let shape = Shape::with::<f32>(host.len(), 8, 1, 1024);
    assert_eq!((shape.tiles, shape.groups()), (1025, 2));
    let got = scan_in(Sum::<f32>::new(), &device, shape, &host, Form::Exclusive);
    let expected = reference::scan_in(Sum::<f32>::new(), shape, &host, Form::Exclusive);
    same_bits("a second group", &got, &expected);
}

fn larger_shapes_have_the_same_bits_on_cuda() {
    with_cuda(|cuda| {
        for len in larger_shapes().into_iter().chain([(1 << 25) + 7]) {
            let (what, host) = (format!("{len} nasty floats"), nasty(len));
            compare::<Sum<f32>>(cuda, &what, &host);
            compare::<Sum<f32, f64>>(cuda, &what, &host);
        }
    });
}
