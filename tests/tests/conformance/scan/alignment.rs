//! Input and output that start at any element, and scans in place: the same bits, and nothing
//! outside changes.

use super::{FORMS, same_bits};
use cuda_std::f16;
use gridsync::device::Device;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::scan_on_cpu;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Max, Operation, Sum};
use gridsync_tests::oracle::Plain;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            f16_sums_from_any_start,
            f32_sums_from_any_start,
            i32_sums_from_any_start,
            f16_sums_in_f64_from_any_start,
            f32_sums_in_place,
            i32_sums_in_place,
            u64_maxima_in_place;
        thorough_on_the_emulator:
            u64_maxima_from_any_start;
    }
}

/// Every start of the input and of the output past an aligned address, with lengths around one
/// pack, one row and several tiles.
fn every_start<O>(device: &Device)
where
    O: Scannable + Default,
    O::Element: Plain + Sample,
    O::Output: Plain + Sample + Debug,
{
    let mut scanner = Scanner::new(O::default(), device, 3000).expect("a scanner should fit");
    for len in [0, 1, 7, 9, 33, 2999] {
        for (from, into) in (0..=8).map(|start| (start, 0)).chain([(0, 1), (3, 1), (1, 3)]) {
            // Elements around the input would change the result; elements around the output must
            // not change.
            let host = sample::<O::Element>(Input::Values, from + len + 9, len as u64);
            let before = sample::<O::Output>(Input::Values, into + len + 5, 1);
            let input = device.upload(&host).expect("the input should fit");
            let mut output = device.upload(&before).expect("the output should fit");
            for form in FORMS {
                scanner
                    .launch_part(&input, from..from + len, &mut output, into..into + len, form)
                    .expect("it should launch");
                let got = output.download().expect("the kernel should have run");
                let mut expected = before.clone();
                let results = scan_on_cpu(O::default(), &host[from..from + len], form);
                expected[into..into + len].copy_from_slice(&results);
                same_bits(&format!("{form:?}, {len} from {from} into {into}"), &got, &expected);
            }
        }
    }
}

/// Scans an array onto itself.
fn in_place<T, O>(device: &Device)
where
    T: Plain + Sample + cuda_std::memory::Scalar + Debug,
    O: Scannable + Default + Operation<Element = T, Output = T>,
{
    let mut scanner = Scanner::new(O::default(), device, 9001).expect("a scanner should fit");
    for len in [0, 1, 33, 9001] {
        let host = sample::<T>(Input::Values, len, 5);
        for form in FORMS {
            let mut array = device.upload(&host).expect("the array should fit");
            scanner.launch_in_place(&mut array, form).expect("it should launch");
            let got = array.download().expect("the kernel should have run");
            same_bits(&format!("{form:?}, {len}"), &got, &scan_on_cpu(O::default(), &host, form));
        }
    }
}

fn f16_sums_from_any_start(device: &Device) {
    every_start::<Sum<f16, f32>>(device)
}

fn f32_sums_from_any_start(device: &Device) {
    every_start::<Sum<f32>>(device)
}

fn i32_sums_from_any_start(device: &Device) {
    every_start::<Sum<i32, i64>>(device)
}

fn u64_maxima_from_any_start(device: &Device) {
    every_start::<Max<u64>>(device)
}

fn f16_sums_in_f64_from_any_start(device: &Device) {
    every_start::<Sum<f16, f64>>(device)
}

fn f32_sums_in_place(device: &Device) {
    in_place::<f32, Sum<f32>>(device)
}

fn i32_sums_in_place(device: &Device) {
    in_place::<i32, Sum<i32>>(device)
}

fn u64_maxima_in_place(device: &Device) {
    in_place::<u64, Max<u64>>(device)
}
