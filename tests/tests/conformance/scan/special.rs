//! Operations with parameters, and operations with accumulators of several words.

use super::{FORMS, same_bits};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Affine, CompensatedSum, ProductModulo, Recurrence};
use gridsync_tests::devices::{emulator, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            operations_with_parameters_scan_on_the_emulator,
            operations_with_parameters_scan_on_cuda,
            compensated_sums_scan_on_cuda;
        thorough:
            compensated_sums_scan_on_the_emulator;
    }
}

/// Lengths around every edge of a lane, a row and a tile.
const LENS: [usize; 9] = [0, 1, 31, 33, 127, 129, 1025, 4097, 9001];

/// Scans on the device, and checks that the CPU gives the same bits.
fn results<O>(op: O, device: &Device, host: &[O::Element], form: Form) -> Vec<O::Output>
where
    O: Scannable<Element: Pod, Output: Pod + Debug>,
{
    let input = device.upload(host).expect("the input should fit");
    let mut output = device.alloc(host.len()).expect("the output should fit");
    let mut scanner = Scanner::new(op, device, host.len()).expect("a scanner should fit");
    scanner.launch(&input, &mut output, form).expect("it should launch");
    let got = output.download().expect("the kernel should have run");
    let what = format!("{form:?} of {}", host.len());
    same_bits(&what, &got, &scan_on_cpu(op, host, form));
    got
}

fn recurrences(device: &Device) {
    for len in LENS {
        let maps = sample::<u64>(Input::Values, len, len as u64);
        // Odd factors: an even factor would lose bits of the preceding maps.
        let maps: Vec<u64> = maps.iter().map(|map| map | 1).collect();
        let op = Recurrence::new(12_345);
        let inclusive = results(op, device, &maps, Form::Inclusive);
        let exclusive = results(op, device, &maps, Form::Exclusive);
        let mut x = 12_345;
        for (i, &map) in maps.iter().enumerate() {
            assert_eq!(exclusive[i], x, "before element {i} of {len}");
            x = Affine::from_bits(map).of(x);
            assert_eq!(inclusive[i], x, "after element {i} of {len}");
        }
    }
}

fn residues(device: &Device) {
    let op = ProductModulo::<u32>::new(1_000_000_007).expect("it is in range");
    for len in LENS {
        let factors = sample::<u32>(Input::Values, len, len as u64);
        let got = results(op, device, &factors, Form::Inclusive);
        let mut all = 1;
        for (i, &factor) in factors.iter().enumerate() {
            all = all * u64::from(factor) % 1_000_000_007;
            assert_eq!(u64::from(got[i]), all, "element {i} of {len}");
        }
    }
}

/// Sums with cancellation: each is within one rounding of the true sum. A plain sum is far off.
fn compensated<T: Pod + Sample + Debug + Into<f64>>(device: &Device, large: T, one: T, least: T)
where
    CompensatedSum<T>: Scannable<Element = T, Output = T> + Default,
{
    for len in LENS {
        let host: Vec<T> = (0..len).map(|i| [large, one, least][i % 3]).collect();
        for form in FORMS {
            let got = results(CompensatedSum::default(), device, &host, form);
            for (i, &sum) in got.iter().enumerate() {
                let before = i + usize::from(form == Form::Inclusive);
                let ones = before / 3 + usize::from(before % 3 == 2);
                let expected = match before % 3 {
                    0 => ones as f64,
                    _ => large.into() + ones as f64,
                };
                let off = (sum.into() - expected).abs();
                assert!(off <= expected.abs() * 1.2e-7, "{sum:?} at {i} of {len}, {form:?}");
            }
        }
    }
}

fn operations_with_parameters_scan_on_the_emulator() {
    recurrences(&emulator());
    residues(&emulator());
}

fn operations_with_parameters_scan_on_cuda() {
    with_cuda(|cuda| {
        recurrences(cuda);
        residues(cuda);
    });
}

fn compensated_sums_scan_on_the_emulator() {
    compensated::<f32>(&emulator(), 1e9, 1.0, -1e9);
    compensated::<f64>(&emulator(), 1e18, 1.0, -1e18);
}

fn compensated_sums_scan_on_cuda() {
    with_cuda(|cuda| {
        compensated::<f32>(cuda, 1e9, 1.0, -1e9);
        compensated::<f64>(cuda, 1e18, 1.0, -1e18);
    });
}
