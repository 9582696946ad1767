//! Compensated sums: the digits that a plain sum loses and a compensated one keeps, NaN, and
//! infinities.

use gridsync::device::Device;
use gridsync::primitives::{Checked, reduce, reduce::reduce_on_cpu};
use gridsync_kernels::op::{CompensatedSum, Sum};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            terms_that_cancel_leave_the_rest,
            infinities_and_nan_are_those_of_a_plain_sum,
            only_negative_zeros_sum_to_one,
            numbers_next_to_the_largest_do_not_become_nan;
    }
}

/// Two blocks or more.
const LEN: usize = 8211;

/// The compensated sum, after checking that device and CPU agree.
fn compensated(device: &Device, input: &[f32]) -> f32 {
    let buffer = device.upload(input).expect("the input should fit");
    let op = CompensatedSum::<f32>::new();
    let on_device = reduce(op, &buffer).unwrap_or_else(|error| panic!("{error}"));
    let on_the_cpu = reduce_on_cpu(op, input);
    assert!(
        CompensatedSum::<f32>::same(on_device, on_the_cpu),
        "{on_device:?}, on the CPU {on_the_cpu:?}"
    );
    on_device
}

fn terms_that_cancel_leave_the_rest(device: &Device) {
    // 2^40 absorbs all digits of 1/8 until −2^40 is added, at any position.
    for at in [1, 31, 129, 4000, LEN - 1] {
        let mut input = vec![0.125f32; LEN];
        (input[0], input[at]) = (1.0995116e12, -1.0995116e12);
        let exact = (LEN as f32 - 2.0) / 8.0;
        assert_eq!(compensated(device, &input), exact, "−2^40 at {at}");
        let plain = reduce_on_cpu(Sum::<f32>::new(), &input);
        assert_ne!(plain, exact, "a plain sum should lose digits, or this shows nothing");
    }
}

fn infinities_and_nan_are_those_of_a_plain_sum(device: &Device) {
    let (inf, nan, max) = (f32::INFINITY, f32::NAN, f32::MAX);
    for others in [[inf, 1.0], [-inf, 1.0], [inf, -inf], [inf, inf], [nan, inf], [max, max]] {
        for at in [0, 100, LEN - 2] {
            let mut input = vec![1.0f32; LEN];
            input[at..at + 2].copy_from_slice(&others);
            let plain = reduce_on_cpu(Sum::<f32>::new(), &input);
            let sum = compensated(device, &input);
            let same = CompensatedSum::<f32>::same(sum, plain);
            assert!(same || plain.is_finite(), "{others:?} at {at}: {sum}, plainly {plain}");
        }
    }
}

fn only_negative_zeros_sum_to_one(device: &Device) {
    for (input, zero) in [(vec![-0.0; LEN], -0.0f32), (vec![], -0.0), (vec![-0.0, 0.0], 0.0)] {
        assert_eq!(compensated(device, &input).to_bits(), zero.to_bits());
    }
}

fn numbers_next_to_the_largest_do_not_become_nan(device: &Device) {
    // TwoSum may overflow in between although the sum does not (Boldo, Graillat, Muller 2017).
    for others in [[f32::MAX, -f32::MAX / 2.0], [-f32::MAX, f32::MAX], [f32::MAX, -1.0]] {
        let sum = compensated(device, &others);
        let exact = f64::from(others[0]) + f64::from(others[1]);
        assert_eq!(sum, exact as f32, "{others:?}");
    }
}
