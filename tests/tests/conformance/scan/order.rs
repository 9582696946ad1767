//! An operation that does not commute: the order of the operands must not change.

use super::{FORMS, same_bits, scan_in};
use cuda_std::prelude::kernel;
use gridsync::device::Device;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync_entries::scan::{Arguments, BulkArguments};
use gridsync_entries::{Entry, NoKernel};
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::Operation;
use gridsync_tests::devices::{emulator, emulator_under, schedules};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            maps_that_do_not_commute_keep_their_order_in_every_shape,
            maps_that_do_not_commute_keep_their_order_under_every_schedule;
    }
}

/// Composes maps x ↦ a·x + b modulo 2^32; a is the high half, and b is the low half. The map of an
/// element depends on its index.
#[derive(Clone, Copy, Debug)]
struct Affine;

impl Operation for Affine {
    type Element = u64;
    type Accumulator = u64;
    type Output = u64;
    const COMMUTATIVE: bool = false;

    fn identity(self) -> u64 {
        1 << 32
    }

    // Odd factors lose no bits, and the index makes each map different.
    fn lift(self, element: u64, index: u64) -> u64 {
        (element | 1 << 32) ^ index
    }

    fn combine(self, first: u64, second: u64) -> u64 {
        let parts = |map: u64| ((map >> 32) as u32, map as u32);
        let ((a, b), (c, d)) = (parts(first), parts(second));
        u64::from(c.wrapping_mul(a)) << 32 | u64::from(c.wrapping_mul(b).wrapping_add(d))
    }

    fn finish(self, all: u64) -> u64 {
        all
    }
}

// SAFETY: the kernel calls `grid::scan` with these arguments in this order.
unsafe impl Entry<Arguments<u64, u64>> for Affine {
    type Kernel = scans_affine_maps;

    fn arguments(self, common: Arguments<u64, u64>) -> (Arguments<u64, u64>,) {
        (common,)
    }
}

// SAFETY: no kernel is launched.
unsafe impl Entry<BulkArguments<u64, u64>> for Affine {
    type Kernel = NoKernel;

    fn arguments(self, _: BulkArguments<u64, u64>) {}
}

/// Scans with [`Affine`].
///
/// # Safety
///
/// See `grid::scan`.
#[kernel]
unsafe fn scans_affine_maps(common: Arguments<u64, u64>) {
    common.scan(Affine);
}

/// The scan as a plain loop.
fn one_by_one(input: &[u64], form: Form) -> Vec<u64> {
    let up_to = |all: &mut u64, (&x, index): (&u64, u64)| {
        let before = *all;
        *all = Affine.combine(before, Affine.lift(x, index));
        Some(match form {
            Form::Inclusive => *all,
            Form::Exclusive => before,
        })
    };
    input.iter().zip(0..).scan(Affine.identity(), up_to).collect()
}

/// Scans three groups of four tiles, in blocks of two warps.
fn in_groups(device: &Device) {
    let host = sample::<u64>(Input::Values, 9 * 128 + 1, 3);
    let shape = Shape::with::<u64>(host.len(), 2, 1, 4);
    assert_eq!(shape.groups(), 3);
    for form in FORMS {
        let got = scan_in(Affine, device, shape, &host, form);
        same_bits(&format!("{form:?}"), &got, &one_by_one(&host, form));
    }
}

fn maps_that_do_not_commute_keep_their_order_in_every_shape() {
    let device = emulator();
    let mut scanner = Scanner::new(Affine, &device, 5000).expect("a scanner should fit");
    for len in [1, 2, 33, 64, 65, 511, 513, 5000] {
        let host = sample::<u64>(Input::Values, len, len as u64);
        let input = device.upload(&host).expect("the input should fit");
        let mut output = device.alloc(len).expect("the output should fit");
        for form in FORMS {
            let expected = one_by_one(&host, form);
            scanner.launch(&input, &mut output, form).expect("it should launch");
            let got = output.download().expect("the kernel should have run");
            same_bits(&format!("{form:?}, {len}"), &got, &expected);
            same_bits("the CPU", &scan_on_cpu(Affine, &host, form), &expected);
        }
    }
    in_groups(&device);
}

fn maps_that_do_not_commute_keep_their_order_under_every_schedule() {
    for schedule in schedules() {
        in_groups(&emulator_under(schedule));
    }
}
