//! Means of floating-point numbers whose sum overflows although the mean does not.
//!
//! Such a mean is recomputed from elements times 2^−64: no sum of fewer than 2^64 of them
//! overflows. The factor is a power of two, so it rounds only values far below the rounding of a
//! sum that large.

use super::PartReducible;
use crate::reference::Reduction;
use cuda_std::{bf16, f16};
use gridsync_kernels::op::{Compensated, Operation};
use std::ops::Range;

/// The factor and its inverse.
const DOWN: f64 = 1.0 / UP;
const UP: f64 = (1u128 << 64) as f64;

/// The number type of elements or accumulators.
pub trait Scale: Copy {
    /// Whether its sums may overflow, and it can be scaled.
    const MAY_OVERFLOW: bool = false;

    /// The number times 2^−64.
    #[must_use]
    fn scaled(self) -> Self {
        self
    }

    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool {
        true
    }
}

macro_rules! scale {
    ($($ty:ident: $down:expr;)*) => {$(
        impl Scale for $ty {
            const MAY_OVERFLOW: bool = true;

            fn scaled(self) -> Self {
                let down: fn(Self) -> Self = $down;
                down(self)
            }

            fn is_finite(self) -> bool {
                $ty::is_finite(self)
            }
        }
    )*};
}
scale! {
    f32: |x| x * DOWN as f32;
    f64: |x| x * DOWN;
    bf16: |x| bf16::from_f32(x.to_f32() * DOWN as f32);
}

/// No array is long enough for a sum of f16 to overflow in f32.
impl Scale for f16 {}
impl Scale for i32 {}
impl Scale for u32 {}
impl Scale for i64 {}
impl Scale for u64 {}
impl Scale for i128 {}

impl<A: Scale> Scale for Compensated<A> {
    const MAY_OVERFLOW: bool = A::MAY_OVERFLOW;

    fn scaled(self) -> Self {
        Self { sum: self.sum.scaled(), error: self.error.scaled() }
    }

    fn is_finite(self) -> bool {
        self.sum.is_finite() && self.error.is_finite()
    }
}

/// How to recompute a result if accumulators of the operation overflow.
pub struct Overflow<O: Operation> {
    element: fn(O::Element) -> O::Element,
    element_is_finite: fn(O::Element) -> bool,
    accumulator: fn(O::Accumulator) -> O::Accumulator,
    accumulator_is_finite: fn(O::Accumulator) -> bool,
    result_is_finite: fn(O::Output) -> bool,
    unscaled: fn(O::Output) -> O::Output,
}

impl<O> Overflow<O>
where
    O: Operation<Element: Scale, Accumulator: Scale, Output = Option<f64>>,
{
    /// The recomputation of a mean. `None` if its sum does not overflow.
    pub(super) const OF_MEAN: Option<Self> =
        if <O::Element as Scale>::MAY_OVERFLOW && <O::Accumulator as Scale>::MAY_OVERFLOW {
            Some(Self {
                element: Scale::scaled,
                element_is_finite: Scale::is_finite,
                accumulator: Scale::scaled,
                accumulator_is_finite: Scale::is_finite,
                result_is_finite: |mean| mean.is_none_or(f64::is_finite),
                unscaled: |mean| mean.map(|mean| mean * UP),
            })
        } else {
            None
        };
}

impl<O: Operation> Overflow<O> {
    /// Whether a result is neither infinite nor NaN.
    pub fn is_finite(&self, result: O::Output) -> bool {
        (self.result_is_finite)(result)
    }

    /// The result of all `elements` of an array, if an accumulator overflowed on the way to
    /// `result`.
    pub fn again(&self, op: O, elements: &[O::Element], result: O::Output) -> O::Output {
        if self.is_finite(result) || !self.are_finite(elements) {
            return result;
        }
        let mut reduction = Reduction::new(op, elements.len());
        reduction.next(&self.scaled(elements));
        (self.unscaled)(reduction.finish())
    }

    fn are_finite(&self, elements: &[O::Element]) -> bool {
        elements.iter().all(|&x| (self.element_is_finite)(x))
    }

    fn scaled(&self, elements: &[O::Element]) -> Vec<O::Element> {
        elements.iter().map(|&x| (self.element)(x)).collect()
    }
}

/// The recomputed leaves that overflowed in a reduction by parts.
pub(super) struct Again<O: Operation> {
    /// The indices of the leaves, and their values from scaled elements.
    leaves: Vec<(Range<usize>, Vec<O::Accumulator>)>,
    /// Number of leaves so far.
    seen: usize,
}

impl<O: PartReducible> Again<O> {
    pub(super) fn new() -> Self {
        Self { leaves: Vec::new(), seen: 0 }
    }

    /// Adds the part that produced the last ones of `leaves`, and that starts at element `first` of
    /// an array of `len` elements.
    pub(super) fn next(
        &mut self,
        op: O,
        (len, first): (usize, usize),
        elements: &[O::Element],
        leaves: &[O::Accumulator],
    ) {
        let Some(overflow) = O::OVERFLOW else {
            return;
        };
        let new = self.seen..leaves.len();
        self.seen = new.end;
        let is_finite = |&x: &O::Accumulator| (overflow.accumulator_is_finite)(x);
        if leaves[new.clone()].iter().all(is_finite) || !overflow.are_finite(elements) {
            return;
        }
        let mut reduction = Reduction::from(op, len, first);
        reduction.next(&overflow.scaled(elements));
        self.leaves.push((new, reduction.into_leaves()));
    }

    /// All `leaves` times 2^−64; empty if nothing overflows. Leaves of elements that are infinite
    /// or NaN do not change.
    pub(super) fn scaled(self, leaves: &[O::Accumulator]) -> Vec<O::Accumulator> {
        let Some(overflow) = O::OVERFLOW else {
            return Vec::new();
        };
        let mut scaled = Vec::with_capacity(leaves.len());
        let mut next = 0;
        for (range, again) in self.leaves {
            scaled.extend(leaves[next..range.start].iter().map(|&x| (overflow.accumulator)(x)));
            scaled.extend(again);
            next = range.end;
        }
        scaled.extend(leaves[next..].iter().map(|&x| (overflow.accumulator)(x)));
        scaled
    }
}

/// The result that `result_of` computes from the leaves, or from the `scaled` ones if the first is
/// not finite and all elements are.
///
/// # Errors
/// If `result_of` fails.
pub fn settle<O: PartReducible, E>(
    (leaves, scaled): (Vec<O::Accumulator>, Vec<O::Accumulator>),
    mut result_of: impl FnMut(&[O::Accumulator]) -> Result<O::Output, E>,
) -> Result<O::Output, E> {
    let result = result_of(&leaves)?;
    let Some(overflow) = O::OVERFLOW.filter(|overflow| !overflow.is_finite(result)) else {
        return Ok(result);
    };
    let again = (overflow.unscaled)(result_of(&scaled)?);
    Ok(if overflow.is_finite(again) { again } else { result })
}

#[cfg(test)]
mod tests {
    use super::super::PartReducer;
    use super::*;
    use crate::device::{Device, Emulator, EmulatorConfig};
    use gridsync_kernels::op::{CompensatedSum, Mean, Sum};

    /// The mean by parts, on the CPU and in the emulator, which must agree.
    fn mean<O>(op: O, input: &[O::Element], part: usize) -> f64
    where
        O: PartReducible<Element: bytemuck::Pod, Output = Option<f64>>,
    {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let on_cpu = PartReducer::on_cpu(op, input.len(), part);
        let on_device = PartReducer::new(op, &device, input.len(), part).expect("there is room");
        let [on_cpu, on_device] = [on_cpu, on_device].map(|mut reducer| {
            let part = reducer.part();
            input.chunks(part).for_each(|part| reducer.next(part).expect("it should run"));
            reducer.finish().expect("there are elements")
        });
        assert_eq!(on_cpu.to_bits(), on_device.to_bits(), "{on_cpu} and {on_device}");
        on_cpu
    }

    #[test]
    fn a_mean_is_finite_where_its_sum_overflows() {
        assert_eq!(mean(Mean::new(Sum::<f32>::new()), &[3e38; 2], 10), f64::from(3e38f32));
        assert_eq!(
            mean(Mean::new(CompensatedSum::<f32>::new()), &[3e38; 2], 10),
            f64::from(3e38f32)
        );
        // Two additions and the division round.
        let off = mean(Mean::new(Sum::<f64>::new()), &[1.7e308; 3], 10) / 1.7e308 - 1.0;
        assert!(off.abs() <= 3.0 * f64::EPSILON, "{off}");
        let big = bf16::from_f32(3e38);
        assert_eq!(mean(Mean::new(Sum::<bf16, f32>::new()), &[big; 2], 10), big.to_f64());
        // +inf plus −inf along the way gives NaN.
        let cancel = [3e38f32, 3e38, -3e38, -3e38, 1e38];
        let expected = f64::from(1e38f32) / 5.0;
        let cancelled = mean(Mean::new(Sum::<f32>::new()), &cancel, 10);
        assert!((cancelled - expected).abs() <= 1e31, "{cancelled}");
    }

    #[test]
    fn infinities_and_nan_are_kept() {
        let op = Mean::new(Sum::<f32>::new());
        assert_eq!(mean(op, &[3e38, f32::INFINITY], 10), f64::INFINITY);
        assert!(mean(op, &[3e38, 3e38, f32::NAN], 10).is_nan());
    }

    #[test]
    fn overflowing_parts_are_combined_with_others() {
        // 5 MiB: several parts of whole tiles.
        let len = 5 << 18;
        let input: Vec<f32> = (0..len).map(|i| if i < len / 2 { 1e37 } else { 0.5 }).collect();
        let op = Mean::new(Sum::<f32>::new());
        let parts = mean(op, &input, 1 << 18);
        assert_eq!(parts.to_bits(), mean(op, &input, len).to_bits());
        assert!((parts - 5e36).abs() < 1e31, "{parts}");
    }
}
