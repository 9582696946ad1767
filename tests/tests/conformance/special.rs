//! NaN, infinities and the two zeros in a reduction, at any position.

use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::{reduce, reduce::reduce_on_cpu};
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{Count, Max, Min, Product, Sum};
use gridsync_tests::oracle::{Number, Plain};
use gridsync_tests::outcome::Outcome;
use gridsync_tests::trials::Trials;
use gridsync_verify::Widen;

/// Adds the checks of one type.
macro_rules! of_each_type {
    ($trials:ident: $($module:literal $ty:ident;)*) => {$(
        $trials.on_each_backend(concat!($module, "::one_nan_is_enough"), one_nan::<$ty>);
        $trials.on_each_backend(concat!($module, "::infinities_win_or_cancel"), infinities::<$ty>);
        $trials.on_each_backend(concat!($module, "::the_zeros_are_told_apart"), zeros::<$ty>);
    )*};
}

pub(crate) fn trials() -> Trials {
    let mut trials = Trials::of(module_path!());
    of_each_type! {
        trials:
        "of_f16" f16;
        "of_bf16" bf16;
        "of_f32" f32;
        "of_f64" f64;
    }
    trials
}

/// Two blocks or more, with a partial pack at the end.
const LEN: usize = 8211;

/// First, last, the edges of a lane, a warp and a pack, and the tail.
const PLACES: [usize; 8] = [0, 1, 7, 31, 32, LEN / 2, LEN - 2, LEN - 1];

/// A floating-point type, with the operations on it.
trait Float: Plain {
    type Sum: Tried<Self>;
    type Product: Tried<Self>;
    type Min: Tried<Self>;
    type Max: Tried<Self>;
    type Count: Tried<Self>;

    fn from_f64(x: f64) -> Self;
}

macro_rules! float {
    ($($ty:ty, $accumulator:ty: $convert:expr;)*) => {$(
        impl Float for $ty {
            type Sum = Sum<$ty, $accumulator>;
            type Product = Product<$ty, $accumulator>;
            type Min = Min<$ty, $accumulator>;
            type Max = Max<$ty, $accumulator>;
            type Count = Count<$ty>;

            fn from_f64(x: f64) -> Self {
                let convert: fn(f64) -> Self = $convert;
                convert(x)
            }
        }
    )*};
}
float! { f16, f32: f16::from_f64; bf16, f32: bf16::from_f64; f32, f32: |x| x as f32; f64, f64: |x| x; }

/// Ones, with other values at some indices.
fn ones_but<T: Float>(others: &[(usize, f64)]) -> Vec<T> {
    let mut input = vec![T::from_f64(1.0); LEN];
    for &(at, x) in others {
        input[at] = T::from_f64(x);
    }
    input
}

/// An operation on floating-point numbers.
trait Tried<T>: Reducible<Element = T, Output: Outcome> + Default {}

impl<T, O: Reducible<Element = T, Output: Outcome> + Default> Tried<T> for O {}

/// Reduces on the device and on the CPU; the results have the same bits, or both are NaN.
fn both<O>(device: &Device, input: &[O::Element]) -> f64
where
    O: Reducible + Default,
    O::Element: Plain,
    O::Output: Outcome,
{
    let buffer = device.upload(input).expect("the input should fit");
    let on_device = reduce(O::default(), &buffer).unwrap_or_else(|error| panic!("{error}"));
    let (on_device, on_cpu) = (on_device.number(), reduce_on_cpu(O::default(), input).number());
    match (on_device, on_cpu) {
        (Number::Float(a), Number::Float(b)) => {
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
                "the device says {a:?}, the CPU {b:?}"
            );
            a
        }
        (Number::Int(a), Number::Int(b)) => {
            assert_eq!(a, b, "device and CPU");
            a as f64
        }
        both => panic!("{both:?}"),
    }
}

/// One NaN of either sign, at any index, makes every result NaN; it counts as not zero.
fn one_nan<T: Float>(device: &Device) {
    for at in PLACES {
        for nan in [f64::NAN, -f64::NAN] {
            // An infinity in the same array must not win as the extreme.
            let input =
                ones_but::<T>(&[(at, nan), (LEN / 3, f64::NEG_INFINITY), (99, f64::INFINITY)]);
            assert!(both::<T::Min>(device, &input).is_nan(), "min, NaN at {at}");
            assert!(both::<T::Max>(device, &input).is_nan(), "max, NaN at {at}");
            let input = ones_but::<T>(&[(at, nan), (LEN / 3, 0.0)]);
            assert!(both::<T::Sum>(device, &input).is_nan(), "sum, NaN at {at}");
            assert!(both::<T::Product>(device, &input).is_nan(), "product, NaN at {at}");
            assert_eq!(both::<T::Count>(device, &input), LEN as f64 - 1.0, "NaN at {at}");
        }
    }
}

/// An infinity is the sum, the product, and the extreme in its direction; ∞ − ∞ and ∞ × 0 are NaN.
fn infinities<T: Float>(device: &Device) {
    for at in PLACES {
        for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
            let input = ones_but::<T>(&[(at, infinity)]);
            assert_eq!(both::<T::Sum>(device, &input), infinity);
            assert_eq!(both::<T::Product>(device, &input), infinity);
            assert_eq!(both::<T::Min>(device, &input), infinity.min(1.0));
            assert_eq!(both::<T::Max>(device, &input), infinity.max(1.0));
        }
        let other = (at + LEN / 2 + 1) % LEN;
        let input = ones_but::<T>(&[(at, f64::INFINITY), (other, f64::NEG_INFINITY)]);
        assert!(both::<T::Sum>(device, &input).is_nan(), "∞ − ∞");
        assert_eq!(both::<T::Min>(device, &input), f64::NEG_INFINITY);
        assert_eq!(both::<T::Max>(device, &input), f64::INFINITY);
        let input = ones_but::<T>(&[(at, f64::INFINITY), (other, 0.0)]);
        assert!(both::<T::Product>(device, &input).is_nan(), "∞ × 0");
    }
}

/// −0 is less than +0, neither counts as nonzero, and a sum is −0 only if all elements are −0.
fn zeros<T: Float>(device: &Device) {
    let is = |x: f64, zero: f64| assert_eq!(x.to_bits(), zero.to_bits(), "{x:?}");
    for at in PLACES {
        for (all, one) in [(0.0, -0.0), (-0.0, 0.0)] {
            let mut input = vec![T::from_f64(all); LEN];
            input[at] = T::from_f64(one);
            is(both::<T::Min>(device, &input), -0.0);
            is(both::<T::Max>(device, &input), 0.0);
            is(both::<T::Sum>(device, &input), 0.0);
            is(both::<T::Count>(device, &input), 0.0);
        }
    }
    is(both::<T::Sum>(device, &[T::from_f64(-0.0); LEN]), -0.0);
    is(both::<T::Max>(device, &[T::from_f64(-0.0); LEN]), -0.0);
}
