//! Arrays whose length only the device knows: the output of a selection is scanned, reduced and
//! selected from again, without the host in between.

use crate::matrix::same_bits;
use bytemuck::{Pod, Zeroable};
use cuda_std::launch::Kernel;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::reduce::{self, Reducible, reduce_on_cpu};
use gridsync::primitives::scan::{self, Scannable, scan_on_cpu};
use gridsync::primitives::select::{self, FirstOfRun, Selectable, Within, select_on_cpu};
use gridsync::primitives::{Checked, Entry, Reducer, Scanner, Selector};
use gridsync_entries::counted::{self, Counted};
use gridsync_kernels::grid::scan::Form;
use gridsync_kernels::op::{Max, Min, Sum};
use gridsync_tests::trials;
use gridsync_tests::trials::{Check, Trials};
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        on_each_backend:
            a_graph_uses_the_count_of_each_replay,
            counts_of_the_wrong_length_are_refused;
    };
    for (name, check) in kernels() {
        trials.on_each_backend(name, check);
    }
    trials
}

/// A test of each kernel that reads its length from memory, with the kernel's name.
pub(crate) fn kernels() -> Vec<(&'static str, Check)> {
    let mut kernels: Vec<(&'static str, Check)> = Vec::new();
    macro_rules! of_operations {
        (counted_reduce $value:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            kernels.push((counted::reduce::$name::NAME, reductions::<$ty>));
        };
        (counted_scan 2 ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            kernels.push((counted::scan::$name::NAME, scans::<$ty>));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(of_operations);
    macro_rules! of_elements {
        ($ty:ident, $select:ident $blocks:literal, $unique:ident $($of_unique:literal)? $(as $twin:ident)?) => {
            let by = |device: &Device| selections(device, Within::<$ty>::greater_than($ty::default()));
            kernels.push((counted::select::$select::NAME, by));
            $(
                const _: u32 = $of_unique;
                let by = |device: &Device| selections(device, FirstOfRun::<$ty>::new());
                kernels.push((counted::select::$unique::NAME, by));
            )?
        };
    }
    gridsync_entries::selected_elements!(of_elements);
    kernels
}

/// Lengths of buffers: one tile and several, and many on a GPU.
fn capacities(device: &Device) -> &'static [usize] {
    match device.properties().is_emulated() {
        true => &[1, 33, 5001],
        false => &[1, 33, 9001, (1 << 20) + 7, 1 << 24],
    }
}

/// Counts for a buffer of `len` elements; a count above `len` means all elements.
fn counts(len: usize) -> impl Iterator<Item = u64> {
    let len = len as u64;
    let ends = [len / 2, len.saturating_sub(1), len, len + 1, u64::MAX];
    [0, 1, 31, 32, 33, 4095, 4096, 4097].into_iter().filter(move |&few| few < len).chain(ends)
}

/// Reduces the first elements of a buffer.
fn reductions<O>(device: &Device)
where
    O: Reducible + Entry<Counted<reduce::Common<O>>>,
    O: Checked<Element: Sample + Pod, Output: Debug> + Default,
{
    let op = O::default();
    // The identity of a sum of floating-point numbers is -0. Other operations accept any order.
    let mut nothing = O::Element::zeroed();
    if let Some(sign) = bytemuck::bytes_of_mut(&mut nothing).last_mut() {
        *sign = 0x80;
    }
    let mut reducer = Reducer::new(op, device).expect("a reducer should fit");
    for &len in capacities(device) {
        let host = sample::<O::Element>(Input::Values, len, len as u64);
        let input = device.upload(&host).expect("the input should fit");
        for count in counts(len) {
            let counted = device.upload(&[count]).expect("a number should fit");
            reducer.launch_counted(&input, &counted).expect("it should launch");
            let result = reducer.result().expect("the kernel should have run");
            let mut there = host[..len.min(count as usize)].to_vec();
            if !O::EXACT {
                there.resize(len, nothing);
            }
            let expected = reduce_on_cpu(op, &there);
            assert!(O::same(result, expected), "{count} of {len}: {result:?}, not {expected:?}");
        }
    }
}

/// Scans the first elements of a buffer.
fn scans<O>(device: &Device)
where
    O: Scannable<Element: Sample + Pod, Output: Sample + Pod + Debug> + Default,
    O: Entry<Counted<scan::Common<O>>>,
{
    let op = O::default();
    let mut scanner = Scanner::new(op, device, 9001).expect("a scanner should fit");
    for &len in capacities(device) {
        let host = sample::<O::Element>(Input::Values, len, len as u64);
        let before = sample::<O::Output>(Input::Values, len, 1);
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

/// Selects from the first elements of a buffer.
fn selections<S>(device: &Device, by: S)
where
    S: Selectable<Element: Sample + Pod + Debug>,
    S: Entry<Counted<select::Arguments<S::Element>>>,
{
    let mut selector = Selector::new(by, device, 9001).expect("a selector should fit");
    for &len in capacities(device) {
        let host = sample::<S::Element>(Input::Values, len, len as u64);
        let before = sample::<S::Element>(Input::Values, len, 1);
        let input = device.upload(&host).expect("the input should fit");
        for count in counts(len) {
            let of = device.upload(&[count]).expect("a number should fit");
            let mut kept = device.upload(&before).expect("the output should fit");
            let mut found = device.alloc(1).expect("a number should fit");
            selector.launch_counted(&input, &of, &mut kept, &mut found).expect("it should launch");
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

/// Selects, scans the selected elements and sums them: three launches, without waiting on the host
/// in between.
fn a_graph_uses_the_count_of_each_replay(device: &Device) {
    let len = 9001;
    let by = Within::<f32>::greater_than(0.0);
    let sum = Sum::<f32, f64>::new();
    let mut input = device.zeroed::<f32>(len).expect("the input should fit");
    let mut kept = device.zeroed(len).expect("an array should fit");
    let mut count = device.zeroed(1).expect("a number should fit");
    let mut sums = device.zeroed(len).expect("an array should fit");
    let mut selector = Selector::new(by, device, len).expect("a selector should fit");
    let mut scanner = Scanner::new(sum, device, len).expect("a scanner should fit");
    let mut reducer = Reducer::new(Max::<f32>::new(), device).expect("a reducer should fit");
    let recorded = device.record(|| {
        selector.launch(&input, &mut kept, &mut count)?;
        scanner.launch_counted(&kept, &count, &mut sums, Form::Inclusive)?;
        reducer.launch_counted(&kept, &count)
    });
    let graph = recorded.expect("launches can be recorded");
    for seed in 0..4 {
        // The share of negative elements grows.
        let host: Vec<f32> = sample::<f32>(Input::Values, len, seed)
            .into_iter()
            .map(|x| x - seed as f32 / 2.0 * x.abs())
            .collect();
        input.copy_from(&host).expect("the input should fit");
        // SAFETY: everything that was recorded is alive.
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

fn counts_of_the_wrong_length_are_refused(device: &Device) {
    let input = device.zeroed::<f32>(9).expect("the input should fit");
    let two = device.zeroed::<u64>(2).expect("two numbers should fit");
    let mut sum = Reducer::new(Sum::<f32>::new(), device).expect("a reducer should fit");
    let refused = sum.launch_counted(&input, &two);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 2, given: 1 }));
    assert!(matches!(sum.result(), Err(DeviceError::NoResult { .. })));
}
