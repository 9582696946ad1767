//! The forms of the library's kernels that no kind launches for a small array: scans of segments, by
//! bulk copies and over several GPUs, and arrays whose length is in memory.

use super::others::{Other, on_gpus, on_one};
use bytemuck::{Pod, Zeroable};
use cuda_std::{bf16, f16};
use gridsync::device::{Device, Devices};
use gridsync::primitives::reduce::{self, Reducible, reduce_on_cpu};
use gridsync::primitives::scan::{self, Design, Form, Scannable, scan_on_cpu};
use gridsync::primitives::select::{self, FirstOfRun, Selectable, Within, select_on_cpu};
use gridsync::primitives::{Checked, Entry, Reducer, Scanner, Selector, Spread, SpreadScanner};
use gridsync_entries::counted::Counted;
use gridsync_entries::spread::SpreadScannable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::*;
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

/// Elements of the arrays, and of those that the kernels with a counted length shall use.
const LEN: usize = 71;
const COUNT: usize = 40;
/// Elements of a segment.
const SEGMENT: u64 = 9;

/// The runs, from the tables of the library. `compute` is the target of the images.
pub(crate) fn all(compute: u32) -> Vec<Other> {
    let mut all = Vec::new();
    let has_bulk = compute >= 90;
    macro_rules! of_operations {
        (segments [$blocks:literal] $row:tt) => {};
        (segments $blocks:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            all.push(on_one(concat!("segments::", stringify!($name)), |device| {
                scans(device, InSegments::<$ty>::new(Segments::rows(SEGMENT)), Input::$inputs);
            }));
        };
        (counted_reduce $value:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            all.push(on_one(
                concat!("counted_reduce::", stringify!($name)),
                reduces_counted::<$ty>,
            ));
        };
        (counted_scan 2 ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            all.push(on_one(concat!("counted_scan::", stringify!($name)), scans_counted::<$ty>));
        };
        (scan [2 bulk] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            of_operations! { scan 2 ($name: $op $ty, $inputs) }
            if has_bulk {
                all.push(on_gpus(concat!("spread_bulk::", stringify!($name)), |devices| {
                    let len = LARGE / size_of::<<$ty as Operation>::Element>() + LEN;
                    scans_spread::<$ty>(devices, <$ty>::new(), Input::$inputs, len, Design::Bulk);
                }));
            }
        };
        (scan $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            of_operations! { scan $blocks ($name: $op $ty { <$ty>::new() }, $inputs) }
        };
        (scan $blocks:literal ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
            all.push(on_one(concat!("scan::", stringify!($name)), |device| {
                scans::<$ty>(device, $example, Input::$inputs);
            }));
            all.push(on_gpus(concat!("spread::", stringify!($name)), |devices| {
                scans_spread::<$ty>(devices, $example, Input::$inputs, LEN, Design::Registers);
            }));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(of_operations);
    macro_rules! of_elements {
        ($ty:ident, $select:ident $blocks:literal, $unique:ident $($of_unique:literal)? $(as $twin:ident)?) => {
            all.push(on_one(concat!("counted_select::", stringify!($ty)), |device| {
                selects_counted(device, Within::<$ty>::greater_than($ty::default()));
            }));
            $(
                const _: u32 = $of_unique;
                all.push(on_one(concat!("counted_unique::", stringify!($ty)), |device| {
                    selects_counted(device, FirstOfRun::<$ty>::new());
                }));
            )?
        };
    }
    gridsync_entries::selected_elements!(of_elements);
    all
}

/// Bytes of an array from which a scan uses bulk copies.
const LARGE: usize = 1 << 20;

fn same_bits<T: Pod + Debug>(got: &[T], expected: &[T]) {
    let bytes = bytemuck::cast_slice::<T, u8>;
    assert!(bytes(got) == bytes(expected), "{got:?}, not the bits of {expected:?}");
}

fn scans<O: Scannable<Element: Pod + Sample, Output: Pod + Debug>>(
    device: &Device,
    op: O,
    input: Input,
) {
    let host = sample::<O::Element>(input, LEN, 1);
    let mut output = device.alloc(LEN).expect("there is room");
    let mut scanner = Scanner::new(op, device, LEN).expect("there is room");
    let input = device.upload(&host).expect("there is room");
    scanner.launch(&input, &mut output, Form::Inclusive).expect("it runs");
    same_bits(&output.download().expect("it ran"), &scan_on_cpu(op, &host, Form::Inclusive));
}

/// In stripes of one tile.
fn scans_spread<O: SpreadScannable<Element: Pod + Sample, Output: Pod + Debug>>(
    devices: &Devices,
    op: O,
    input: Input,
    len: usize,
    design: Design,
) {
    let host = sample::<O::Element>(input, len, 1);
    let tile = match design {
        Design::Bulk => Shape::for_bulk::<O::Element>(len).tile::<O::Element>(),
        _ => Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>(),
    };
    let mut input = Spread::in_stripes(devices, len, tile).expect("there is room");
    input.copy_from(&host).expect("it is as long");
    let mut output = Spread::<O::Output>::like(devices, &input).expect("there is room");
    let scanner = SpreadScanner::new(op, devices, len).expect("there is room");
    let mut scanner = scanner.with_design(design).expect("the scan has it");
    scanner.launch(&input, &mut output, Form::Exclusive).expect("it runs");
    same_bits(&output.download().expect("it ran"), &scan_on_cpu(op, &host, Form::Exclusive));
}

fn reduces_counted<O>(device: &Device)
where
    O: Reducible + Entry<Counted<reduce::Common<O>>> + Default,
    O: Checked<Element: Sample + Pod, Output: Debug>,
{
    let op = O::default();
    let host = sample::<O::Element>(Input::Values, LEN, 1);
    let input = device.upload(&host).expect("there is room");
    let counted = device.upload(&[COUNT as u64]).expect("there is room");
    let mut reducer = Reducer::new(op, device).expect("there is room");
    reducer.launch_counted(&input, &counted).expect("it runs");
    let result = reducer.result().expect("it ran");
    let mut there = host[..COUNT].to_vec();
    if !O::EXACT {
        // A sum of floating-point numbers has the tree of the whole array; its identity is -0.
        let mut nothing = O::Element::zeroed();
        bytemuck::bytes_of_mut(&mut nothing).last_mut().into_iter().for_each(|sign| *sign = 0x80);
        there.resize(LEN, nothing);
    }
    let expected = reduce_on_cpu(op, &there);
    assert!(O::same(result, expected), "{result:?}, not {expected:?}");
}

fn scans_counted<O>(device: &Device)
where
    O: Scannable<Element: Sample + Pod, Output: Sample + Pod + Debug> + Default,
    O: Entry<Counted<scan::Common<O>>>,
{
    let op = O::default();
    let host = sample::<O::Element>(Input::Values, LEN, 1);
    let before = sample::<O::Output>(Input::Values, LEN, 2);
    let input = device.upload(&host).expect("there is room");
    let counted = device.upload(&[COUNT as u64]).expect("there is room");
    let mut output = device.upload(&before).expect("there is room");
    let mut scanner = Scanner::new(op, device, LEN).expect("there is room");
    scanner.launch_counted(&input, &counted, &mut output, Form::Inclusive).expect("it runs");
    let got = output.download().expect("it ran");
    same_bits(&got[..COUNT], &scan_on_cpu(op, &host, Form::Inclusive)[..COUNT]);
    same_bits(&got[COUNT..], &before[COUNT..]);
}

fn selects_counted<S>(device: &Device, by: S)
where
    S: Selectable<Element: Sample + Pod + Debug>,
    S: Entry<Counted<select::Arguments<S::Element>>>,
{
    let host = sample::<S::Element>(Input::Values, LEN, 1);
    let input = device.upload(&host).expect("there is room");
    let counted = device.upload(&[COUNT as u64]).expect("there is room");
    let mut kept = device.upload(&host).expect("there is room");
    let mut found = device.alloc(1).expect("there is room");
    let mut selector = Selector::new(by, device, LEN).expect("there is room");
    selector.launch_counted(&input, &counted, &mut kept, &mut found).expect("it runs");
    let expected = select_on_cpu(by, &host[..COUNT]);
    assert_eq!(found.download().expect("it ran"), [expected.len() as u64]);
    same_bits(&kept.download().expect("it ran")[..expected.len()], &expected);
}
