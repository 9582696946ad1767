//! Arrays whose length only the device knows: what a selection has counted is scanned, reduced and
//! selected from again, without the host in between.

use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::reduce::{Reducible, reduce_on_cpu};
use gridsync::primitives::scan::{Scannable, scan_on_cpu};
use gridsync::primitives::select::{FirstOfRun, Selectable, Within, select_on_cpu};
use gridsync::primitives::{Checked, Reducer, Scanner, Selector};
use gridsync_kernels::grid::scan::Form;
use gridsync_kernels::op::{ArgMin, CompensatedSum, Compose, Max, Mean, Recurrence, Sum, WideSum};
use gridsync_program::verify::{Kind, Sample, sample};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            f32_sums,
            f16_sums,
            i32_sums,
            wide_sums,
            compensated_sums,
            f32_argmins,
            maps,
            f32_scans,
            f16_scans,
            i64_maximum_scans,
            recurrences,
            f32_selections,
            bf16_selections,
            u64_uniques,
            a_graph_takes_the_count_of_each_replay,
            what_cannot_be_counted_is_refused;
    }
}

/// Lengths of buffers: one tile and several, and on a GPU many.
fn capacities(device: &Device) -> &'static [usize] {
    match device.properties().is_emulated() {
        true => &[1, 33, 9001],
        false => &[1, 33, 9001, (1 << 20) + 7, 1 << 24],
    }
}

/// Counts for a buffer of `len` elements; more than all are all.
fn counts(len: usize) -> impl Iterator<Item = u64> {
    let len = len as u64;
    let ends = [len / 2, len.saturating_sub(1), len, len + 1, u64::MAX];
    [0, 1, 31, 32, 33, 4095, 4096, 4097].into_iter().filter(move |&few| few < len).chain(ends)
}

/// Reduces the first elements of a buffer. The elements after them, if they are `nothing`, change no
/// result; if there are no such elements, the order does not matter.
fn reductions<O>(device: &Device, op: O, nothing: Option<O::Element>)
where
    O: Reducible + Checked<Element: Sample + Pod, Output: Debug>,
{
    let mut reducer = Reducer::with(op, device).expect("a reducer should fit");
    for &len in capacities(device) {
        let host = sample::<O::Element>(Kind::Values, len, len as u64);
        let input = device.upload(&host).expect("the input should fit");
        for count in counts(len) {
            let counted = device.upload(&[count]).expect("a number should fit");
            reducer.launch_counted(&input, &counted).expect("it should launch");
            let result = reducer.result().expect("the kernel should have run");
            let mut there = host[..len.min(count as usize)].to_vec();
            if let Some(nothing) = nothing {
                there.resize(len, nothing);
            }
            let expected = reduce_on_cpu(op, &there);
            assert!(O::same(result, expected), "{count} of {len}: {result:?}, not {expected:?}");
        }
    }
}

fn scans<O>(device: &Device, op: O)
where
    O: Scannable<Element: Sample + Pod, Output: Sample + Pod + Debug>,
{
    let mut scanner = Scanner::with(op, device, 9001).expect("a scanner should fit");
    for &len in capacities(device) {
        let host = sample::<O::Element>(Kind::Values, len, len as u64);
        let before = sample::<O::Output>(Kind::Values, len, 1);
        let input = device.upload(&host).expect("the input should fit");
        for form in [Form::Inclusive, Form::Exclusive] {
            let all = scan_on_cpu(op, &host, form);
            for count in counts(len) {
                let counted = device.upload(&[count]).expect("a number should fit");
                let mut output = device.upload(&before).expect("the output should fit");
                scanner
                    .launch_counted(&input, &counted, &mut output, form)
                    .expect("it should launch");
                let got = output.download().expect("the kernel should have run");
                let there = len.min(count as usize);
                let what = format!("{form:?}, {count} of {len}");
                same_bits(&what, &got[..there], &all[..there]);
                same_bits(&format!("{what}, after them"), &got[there..], &before[there..]);
            }
        }
    }
}

fn selections<S>(device: &Device, by: S)
where
    S: Selectable<Element: Sample + Pod + Debug>,
{
    let mut selector = Selector::new(device, 9001).expect("a selector should fit");
    for &len in capacities(device) {
        let host = sample::<S::Element>(Kind::Values, len, len as u64);
        let before = sample::<S::Element>(Kind::Values, len, 1);
        let input = device.upload(&host).expect("the input should fit");
        for count in counts(len) {
            let of = device.upload(&[count]).expect("a number should fit");
            let mut kept = device.upload(&before).expect("the output should fit");
            let mut found = device.alloc(1).expect("a number should fit");
            selector
                .launch_counted(by, &input, &of, &mut kept, &mut found)
                .expect("it should launch");
            let found = found.download().expect("the kernel should have run")[0] as usize;
            let got = kept.download().expect("the kernel should have run");
            let expected = select_on_cpu(by, &host[..len.min(count as usize)]);
            let what = format!("{count} of {len}");
            assert_eq!(found, expected.len(), "{what}");
            same_bits(&what, &got[..found], &expected);
            same_bits(&format!("{what}, after them"), &got[found..], &before[found..]);
        }
    }
}

#[track_caller]
fn same_bits<A: Pod>(what: &str, got: &[A], expected: &[A]) {
    let same = bytemuck::cast_slice::<A, u8>(got) == bytemuck::cast_slice::<A, u8>(expected);
    assert!(same, "{what}: other bits");
}

fn f32_sums(device: &Device) {
    reductions(device, Sum::<f32>::new(), Some(-0.0));
}

fn f16_sums(device: &Device) {
    reductions(device, Sum::<f16, f32>::new(), Some(f16::NEG_ZERO));
}

fn i32_sums(device: &Device) {
    reductions(device, Sum::<i32, i64>::new(), None);
}

fn wide_sums(device: &Device) {
    reductions(device, WideSum::<u64>::new(), None);
}

fn compensated_sums(device: &Device) {
    reductions(device, CompensatedSum::<f32>::new(), Some(-0.0));
}

fn f32_argmins(device: &Device) {
    reductions(device, ArgMin::<f32>::new(), None);
}

fn maps(device: &Device) {
    reductions(device, Compose::new(), None);
}

fn f32_scans(device: &Device) {
    scans(device, Sum::<f32>::new());
}

fn f16_scans(device: &Device) {
    scans(device, Sum::<f16, f32>::new());
}

fn i64_maximum_scans(device: &Device) {
    scans(device, Max::<i64>::new());
}

fn recurrences(device: &Device) {
    scans(device, Recurrence::new(7));
}

fn f32_selections(device: &Device) {
    selections(device, Within::<f32>::greater_than(0.0));
}

fn bf16_selections(device: &Device) {
    selections(device, Within::<bf16>::less_than(bf16::ZERO));
}

fn u64_uniques(device: &Device) {
    selections(device, FirstOfRun::<u64>::new());
}

/// Selects, scans what was selected, and adds it up: three launches that no host waits between.
fn a_graph_takes_the_count_of_each_replay(device: &Device) {
    let len = 9001;
    let by = Within::<f32>::greater_than(0.0);
    let sum = Sum::<f32, f64>::new();
    let mut input = device.zeroed::<f32>(len).expect("the input should fit");
    let mut kept = device.zeroed(len).expect("an array should fit");
    let mut count = device.zeroed(1).expect("a number should fit");
    let mut sums = device.zeroed(len).expect("an array should fit");
    let mut selector = Selector::new(device, len).expect("a selector should fit");
    let mut scanner = Scanner::with(sum, device, len).expect("a scanner should fit");
    let mut reducer = Reducer::with(Max::<f32>::new(), device).expect("a reducer should fit");
    let recorded = device.record(|| {
        selector.launch(by, &input, &mut kept, &mut count)?;
        scanner.launch_counted(&kept, &count, &mut sums, Form::Inclusive)?;
        reducer.launch_counted(&kept, &count)
    });
    let graph = recorded.expect("launches can be recorded");
    for seed in 0..4 {
        // More and more of them are negative.
        let host: Vec<f32> = sample::<f32>(Kind::Values, len, seed)
            .into_iter()
            .map(|x| x - seed as f32 / 2.0 * x.abs())
            .collect();
        input.copy_from(&host).expect("the input should fit");
        // SAFETY: all that was recorded is alive.
        unsafe { graph.launch() }.expect("it should launch");
        let expected = select_on_cpu(by, &host);
        let there = count.download().expect("the kernels should have run")[0] as usize;
        assert_eq!(there, expected.len(), "seed {seed}");
        let got = sums.download_part(0..there).expect("the kernels should have run");
        // The sums depend on the length of the buffer, not on what comes after the elements.
        let padded: Vec<f32> = expected.iter().copied().chain([0.0; 9001]).take(len).collect();
        let all = scan_on_cpu(sum, &padded, Form::Inclusive);
        same_bits(&format!("seed {seed}"), &got, &all[..there]);
        let greatest = reducer.result().expect("the kernels should have run");
        assert_eq!(greatest.to_bits(), reduce_on_cpu(Max::<f32>::new(), &expected).to_bits());
    }
}

fn what_cannot_be_counted_is_refused(device: &Device) {
    let input = device.zeroed::<f32>(9).expect("the input should fit");
    let two = device.zeroed::<u64>(2).expect("two numbers should fit");
    let one = device.zeroed::<u64>(1).expect("a number should fit");
    let mut sum = Reducer::with(Sum::<f32>::new(), device).expect("a reducer should fit");
    let refused = sum.launch_counted(&input, &two);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 2, given: 1 }));
    assert!(matches!(sum.result(), Err(DeviceError::NoResult { .. })));
    let mut mean =
        Reducer::with(Mean::<Sum<f32>>::default(), device).expect("a reducer should fit");
    let refused = mean.launch_counted(&input, &one).expect_err("a mean needs the length");
    assert!(refused.to_string().contains("divide by the count"), "{refused}");
}
