//! NaN, infinities and zeros, compared as in IEEE 754; and a user-defined predicate.

use cuda_std::prelude::*;
use gridsync::device::Device;
use gridsync::primitives::select::{FirstOfRun, Predicate, Within, select};
use gridsync_entries::Entry;
use gridsync_entries::select::{Arguments, Selectable};
use gridsync_tests::devices::emulator;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample, select_case};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_predicate_sees_the_index_of_each_element;
        on_each_backend:
            a_nan_passes_only_the_comparison_not_equal,
            subnormal_numbers_are_not_zero,
            each_nan_is_a_separate_run_and_zeros_are_equal;
    }
}

/// The elements of `input` that `by` keeps.
fn kept<S: Selectable<Element = f32>>(device: &Device, by: S, input: &[f32]) -> Vec<u32> {
    let input = device.upload(input).expect("the input should fit");
    let kept = select(by, &input).expect("it should run");
    let kept = kept.download().expect("the results are there");
    kept.into_iter().map(f32::to_bits).collect()
}

fn a_nan_passes_only_the_comparison_not_equal(device: &Device) {
    let payload = f32::from_bits(0xFFC1_2345);
    let input = [payload, 1.0, f32::NAN, f32::INFINITY, -0.0, 0.0, -1.0];
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let not_nan = [1.0, f32::INFINITY, -0.0, 0.0, -1.0];
    let at_least_0 = [1.0, f32::INFINITY, -0.0, 0.0];
    let not_1 = [payload, f32::NAN, f32::INFINITY, -0.0, 0.0, -1.0];
    assert_eq!(kept(device, Within::<f32>::not_nan(), &input), bits(&not_nan));
    assert_eq!(kept(device, Within::<f32>::finite(), &input), bits(&[1.0, -0.0, 0.0, -1.0]));
    assert_eq!(kept(device, Within::<f32>::at_least(0.0), &input), bits(&at_least_0));
    assert_eq!(kept(device, Within::<f32>::at_least(-0.0), &input), bits(&at_least_0));
    assert_eq!(kept(device, Within::<f32>::less_than(0.0), &input), bits(&[-1.0]));
    assert_eq!(kept(device, Within::<f32>::not_equal_to(1.0), &input), bits(&not_1));
    assert_eq!(kept(device, Within::<f32>::not_equal_to(f32::NAN), &input), bits(&input));
    assert_eq!(kept(device, Within::<f32>::equal_to(f32::NAN), &input), bits(&[]));
}

fn subnormal_numbers_are_not_zero(device: &Device) {
    let tiny = f32::from_bits(1);
    let input = [0.0, tiny, -tiny, -0.0];
    assert_eq!(kept(device, Within::<f32>::greater_than(0.0), &input), [1]);
    assert_eq!(kept(device, Within::<f32>::nonzero(), &input), [1, 0x8000_0001]);
}

fn each_nan_is_a_separate_run_and_zeros_are_equal(device: &Device) {
    let nan = f32::NAN;
    let input = [nan, nan, 0.0, -0.0, 0.0, 1.0, nan, 1.0, 1.0];
    let runs = [nan, nan, 0.0, 1.0, nan, 1.0].map(f32::to_bits);
    assert_eq!(kept(device, FirstOfRun::<f32>::new(), &input), runs);
}

/// Keeps one element in every `step`, whatever its value. The layout is that of a kernel parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Every {
    step: u64,
}

// SAFETY: `repr(C)` with one number, the same on both sides.
unsafe impl cuda_std::launch::KernelArg for Every {}

impl Predicate for Every {
    type Element = u32;

    fn keeps(self, _element: u32, index: u64) -> bool {
        index.is_multiple_of(self.step)
    }
}

/// Selects with [`Every`].
///
/// # Safety
///
/// See `grid::select`.
#[kernel]
unsafe fn selects_every(common: Arguments<u32>, every: Every) {
    common.select(every);
}

// SAFETY: the kernel calls `grid::select` with these arguments in this order.
unsafe impl Entry<Arguments<u32>> for Every {
    type Kernel = selects_every;

    fn arguments(self, common: Arguments<u32>) -> (Arguments<u32>, Self) {
        (common, self)
    }
}

fn a_predicate_sees_the_index_of_each_element() {
    for (len, step) in [(1, 7), (1000, 1), (5000, 3), (5000, 97)] {
        let host = sample::<u32>(Input::Values, len, step);
        let done = select_case(&[Every { step }], &emulator(), &host);
        done.unwrap_or_else(|error| panic!("{error}"));
    }
}
