//! Positions of the extremes: with NaN, zeros of either sign, equal elements, and empty arrays.

use gridsync::device::Device;
use gridsync::primitives::{Checked, reduce, reduce::reduce_on_cpu};
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{ArgMax, ArgMin, Indexed};
use gridsync_tests::oracle::Plain;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            the_first_of_equal_ones_is_found,
            elements_equal_to_the_identity_are_still_found,
            the_first_nan_is_found_before_any_number,
            the_zeros_are_equal,
            argmin_and_argmax_of_empty_have_no_index;
    }
}

/// Two blocks or more, with a partial pack at the end.
const LEN: usize = 8211;

/// The index on which device and CPU agree, and the element there.
fn argument<O, A>(op: O, device: &Device, input: &[O::Element]) -> Option<(u64, A)>
where
    O: Reducible<Output = Option<Indexed<A>>> + Checked,
    O::Element: Plain,
    A: Copy,
{
    let buffer = device.upload(input).expect("the input should fit");
    let on_device = reduce(op, &buffer).unwrap_or_else(|error| panic!("{error}"));
    let on_the_cpu = reduce_on_cpu(op, input);
    assert!(O::same(on_device, on_the_cpu), "the CPU differs");
    on_device.map(|found| (found.index, found.value))
}

fn the_first_of_equal_ones_is_found(device: &Device) {
    for places in [[5, 6], [31, 32], [40, 4200], [4096, 8210]] {
        let mut input = vec![7i64; LEN];
        for at in places {
            input[at] = i64::MAX;
        }
        let expected = Some((places[0] as u64, i64::MAX));
        assert_eq!(argument(ArgMax::<i64>::new(), device, &input), expected);
        for at in places {
            input[at] = i64::MIN;
        }
        let expected = Some((places[0] as u64, i64::MIN));
        assert_eq!(argument(ArgMin::<i64>::new(), device, &input), expected);
    }
}

fn elements_equal_to_the_identity_are_still_found(device: &Device) {
    for len in [1, 33, LEN] {
        let worst = vec![i32::MAX; len];
        let found = argument(ArgMin::<i32>::new(), device, &worst);
        assert_eq!(found, Some((0, i32::MAX)), "{len}");
        let worst = vec![f64::NEG_INFINITY; len];
        let found = argument(ArgMax::<f64>::new(), device, &worst);
        assert_eq!(found, Some((0, f64::NEG_INFINITY)), "{len}");
    }
}

fn the_first_nan_is_found_before_any_number(device: &Device) {
    for places in [[0, 1], [7, 6000], [31, 33], [8200, 8210]] {
        let mut input = vec![1.0f32; LEN];
        input[100] = f32::INFINITY;
        input[4100] = f32::NEG_INFINITY;
        for at in places {
            input[at] = f32::NAN;
        }
        for (index, value) in [
            argument(ArgMin::<f32>::new(), device, &input),
            argument(ArgMax::<f32>::new(), device, &input),
        ]
        .into_iter()
        .flatten()
        {
            assert_eq!(index, places[0] as u64);
            assert!(value.is_nan(), "{value}");
        }
    }
}

fn the_zeros_are_equal(device: &Device) {
    for first in [0.0f64, -0.0] {
        let mut input = vec![-first; LEN];
        input[0] = first;
        for found in [
            argument(ArgMin::<f64>::new(), device, &input),
            argument(ArgMax::<f64>::new(), device, &input),
        ] {
            let found = found.map(|(index, value)| (index, value.to_bits()));
            assert_eq!(found, Some((0, first.to_bits())), "the element itself is given");
        }
    }
}

fn argmin_and_argmax_of_empty_have_no_index(device: &Device) {
    assert_eq!(argument(ArgMin::<u32>::new(), device, &[]), None);
    assert_eq!(argument(ArgMax::<f32>::new(), device, &[]), None);
}
