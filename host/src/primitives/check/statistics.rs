//! Checks of statistics that are computed in f64.

mod describe;

use super::{Accumulates, Check, Checked, Checking, Judged, same_mean, unit, within};
use crate::reference::{Exact, ExactSum, sum_bound};
use cuda_std::{bf16, f16};
use gridsync_kernels::op::{
    Deviation, Exponent, Exponentials, Float, LogSumExp, MeanOfNumbers, Norm, Operation, Real,
    Root, SkipNan, Sum, SumOfMagnitudes, SumOfSquares, Then, Variance, Widen,
};
use std::marker::PhantomData;

/// Elements that are mapped to f64 at once.
const CHUNK: usize = 1 << 16;

/// A sum of numbers that are computed from elements.
struct ByMapped<T, J> {
    sum: ExactSum,
    map: fn(T) -> f64,
    judge: J,
}

/// Starts a check of a result derived from the sum of `map` of the elements: `judge` gets the true
/// sum, the depth, and the result.
fn by_mapped<T: Copy + 'static, R: 'static>(
    map: fn(T) -> f64,
    judge: impl Fn(&Exact, u64, R) -> Check<R> + 'static,
) -> Box<dyn Checking<T, R>> {
    Box::new(ByMapped { sum: ExactSum::default(), map, judge })
}

impl<T: Copy, R, J: Fn(&Exact, u64, R) -> Check<R>> Checking<T, R> for ByMapped<T, J> {
    fn next(&mut self, input: &[T]) {
        for chunk in input.chunks(CHUNK) {
            let mapped: Vec<f64> = chunk.iter().map(|&x| (self.map)(x)).collect();
            self.sum.next(&mapped);
        }
    }

    fn check(self: Box<Self>, result: R, depth: u64) -> Check<R> {
        (self.judge)(&self.sum.exact(), depth, result)
    }
}

/// Judges a sum of squares.
fn squares_within(exact: &Exact, depth: u64, sum: f64) -> Check<f64> {
    // An element, its square, the square here, and the true sum are rounded too.
    let bound = sum_bound(exact.magnitude, depth + 6, unit::<f64>());
    within(exact.value, bound, exact.magnitude + bound, sum)
}

fn square<T: Real>(x: T) -> f64 {
    x.nearest() * x.nearest()
}

impl<T: Real> Checked for SumOfSquares<T> {
    fn checking(self, _len: usize) -> Box<dyn Checking<T, f64>> {
        by_mapped(square, squares_within)
    }

    fn same(a: f64, b: f64) -> bool {
        Judged::same(a, b)
    }
}

impl<T: Real> Checked for Norm<T> {
    fn checking(self, _len: usize) -> Box<dyn Checking<T, f64>> {
        by_mapped(square, |exact, depth, norm: f64| {
            let Check { reference, bound, .. } = squares_within(exact, depth, exact.value);
            root_within(reference, bound, exact.magnitude, norm)
        })
    }

    fn same(a: f64, b: f64) -> bool {
        Judged::same(a, b)
    }
}

/// Judges the root of a value that is within `bound` of `value`.
fn root_within(value: f64, bound: f64, reach: f64, root: f64) -> Check<f64> {
    let reference = value.sqrt();
    // |√a − √v| is |a − v| / (√a + √v), and at most √|a − v|.
    let apart = if reference > 0.0 { (bound / reference).min(bound.sqrt()) } else { bound.sqrt() };
    within(reference, apart + f64::EPSILON * reference, reach, root)
}

macro_rules! magnitudes {
    ($($ty:ty),*) => {$(
        impl Checked for SumOfMagnitudes<$ty> {
            fn checking(self, _len: usize) -> Box<dyn Checking<$ty, f64>> {
                by_mapped(|x: $ty| x.nearest().abs(), |exact, depth, sum| {
                    let bound = sum_bound(exact.magnitude, depth + 1, unit::<f64>());
                    within(exact.value, bound, exact.magnitude + bound, sum)
                })
            }

            fn same(a: f64, b: f64) -> bool {
                Judged::same(a, b)
            }
        }
    )*};
}
magnitudes!(f16, bf16, f32, f64);

/// The logarithm of the sum of the exponentials of the elements so far, in f64.
struct Exponents<T: Exponent> {
    op: LogSumExp<f64>,
    all: Exponentials<f64>,
    least: f64,
    /// The number of chunks so far.
    chunks: u64,
    of: PhantomData<fn(T)>,
}

impl<T: Exponent> Checking<T, f64> for Exponents<T> {
    fn next(&mut self, input: &[T]) {
        for chunk in input.chunks(CHUNK) {
            let numbers: Vec<f64> = chunk.iter().map(|&x| T::to_f64(x.widen())).collect();
            let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let exp = |&x: &f64| if x == greatest { 1.0 } else { (x - greatest).exp() };
            let mut sum = ExactSum::default();
            sum.next(&numbers.iter().map(exp).collect::<Vec<_>>());
            let of_chunk = Exponentials { greatest, sum: sum.exact().value };
            self.all = self.op.combine(self.all, of_chunk);
            self.least = numbers.iter().copied().fold(self.least, f64::min);
            self.chunks += 1;
        }
    }

    fn check(self: Box<Self>, result: f64, depth: u64) -> Check<f64> {
        let Self { op, all, least, chunks, .. } = *self;
        exponents_within::<T>(op.finish(all), all.greatest - least, (depth, chunks), result)
    }
}

/// Judges the logarithm of a sum of exponentials, whose reference has `steps` roundings. `range` is
/// the difference of the greatest and the least element.
pub(in crate::primitives) fn exponents_within<T: Exponent>(
    reference: f64,
    range: f64,
    (depth, steps): (u64, u64),
    result: f64,
) -> Check<f64> {
    if !reference.is_finite() || !result.is_finite() {
        return within(reference, 0.0, 0.0, result);
    }
    // Exponentials of less vanish in the type. A difference from the greatest is rounded each time that
    // there is a greater one, and the differences add up to at most this.
    let is_single = size_of::<T::Wide>() == 4;
    let (unit, vanishing) = if is_single { (unit::<f32>(), 105.0) } else { (unit::<f64>(), 746.0) };
    let range = range.clamp(0.0, vanishing);
    // Each combination has an exponential, of 1.1 units in the last place, a product and a sum.
    let bound = unit * (range + 4.0 * (depth as f64 + 2.0)) + f64::EPSILON * (steps as f64 + 4.0);
    let bound = bound + f64::EPSILON * reference.abs();
    within(reference, bound, reference.abs() + bound, result)
}

impl<T: Exponent> Checked for LogSumExp<T> {
    fn checking(self, _len: usize) -> Box<dyn Checking<T, f64>> {
        let op = LogSumExp::<f64>::new();
        let (all, least) = (op.identity(), f64::INFINITY);
        Box::new(Exponents { op, all, least, chunks: 0, of: PhantomData })
    }

    fn same(a: f64, b: f64) -> bool {
        Judged::same(a, b)
    }
}

/// A true variance and mean, with the largest errors of those that are computed along a tree.
struct TrueVariance {
    value: f64,
    bound: f64,
    mean: f64,
    mean_bound: f64,
    /// How large the sums may become.
    reach: f64,
}

/// The sums from which the true variance is computed.
struct Spread<T: Real> {
    ddof: u64,
    /// The number of elements so far.
    len: u64,
    center: Option<T::Wide>,
    /// The sum of the differences from the center, and that of their squares.
    sums: [ExactSum; 2],
    /// The least and the greatest difference.
    range: [f64; 2],
    /// Whether all elements are finite.
    is_finite: bool,
    judge: fn(&TrueVariance, f64) -> Check<f64>,
}

impl<T: Real> Spread<T> {
    /// Starts a check of a result that `judge` compares with the true variance.
    fn checking(
        ddof: u64,
        judge: fn(&TrueVariance, f64) -> Check<f64>,
    ) -> Box<dyn Checking<T, Option<f64>>> {
        Box::new(Self::new(ddof, judge))
    }

    fn new(ddof: u64, judge: fn(&TrueVariance, f64) -> Check<f64>) -> Self {
        Self {
            ddof,
            len: 0,
            center: None,
            sums: [ExactSum::default(), ExactSum::default()],
            range: [f64::INFINITY, f64::NEG_INFINITY],
            is_finite: true,
            judge,
        }
    }

    /// The variance; `None` if there are too few elements.
    fn variance(&self, depth: u64) -> Option<TrueVariance> {
        let divisor = self.len.checked_sub(self.ddof).filter(|&divisor| divisor > 0)? as f64;
        let [sum, squares] = [&self.sums[0], &self.sums[1]].map(|sum| sum.exact().value);
        let mean = sum / self.len as f64;
        let about_mean = squares - sum * mean;
        let [least, greatest] = self.range.map(|apart| (apart - mean).abs());
        // Any center is an element, and so at most this far from the mean.
        let farthest = least.max(greatest);
        let reach = about_mean + self.len as f64 * farthest * farthest;
        let bound = if !self.is_finite {
            0.0
        } else if reach.is_finite() {
            sum_bound(16.0 * reach, depth + 4, unit::<f64>()) / divisor
        } else {
            f64::INFINITY
        };
        let value = if about_mean < 0.0 { 0.0 } else { about_mean / divisor };
        let reach = if self.is_finite { 16.0 * reach } else { 0.0 };
        let mean = T::to_f64(self.center?) + mean;
        let rounded = 2.0 * unit::<f64>() * mean.abs();
        let mean_bound = sum_bound(16.0 * farthest, depth + 4, unit::<f64>()) + rounded;
        Some(TrueVariance { value, bound, mean, mean_bound, reach })
    }
}

impl<T: Real> Checking<T, Option<f64>> for Spread<T> {
    fn next(&mut self, input: &[T]) {
        let Some(&first) = input.first() else { return };
        let center = *self.center.get_or_insert(first.center());
        self.len += input.len() as u64;
        for chunk in input.chunks(CHUNK) {
            let apart: Vec<f64> = chunk.iter().map(|x| x.minus(center)).collect();
            let squares: Vec<f64> = apart.iter().map(|x| x * x).collect();
            self.sums[0].next(&apart);
            self.sums[1].next(&squares);
            let [least, greatest] = &mut self.range;
            for &x in &apart {
                (*least, *greatest) = (least.min(x), greatest.max(x));
            }
            self.is_finite &= chunk.iter().all(|x| x.nearest().is_finite());
        }
    }

    fn check(self: Box<Self>, result: Option<f64>, depth: u64) -> Check<Option<f64>> {
        let variance = self.variance(depth);
        if let (Some(variance), Some(result)) = (&variance, result) {
            let Check { reference, abs_err, bound, ok } = (self.judge)(variance, result);
            return Check { reference: Some(reference), abs_err, bound, ok };
        }
        let ok = variance.is_none() && result.is_none();
        let reference = variance.map(|variance| variance.value);
        Check { reference, abs_err: if ok { 0.0 } else { f64::INFINITY }, bound: 0.0, ok }
    }
}

impl<T: Real> Checked for Variance<T> {
    fn checking(self, _len: usize) -> Box<dyn Checking<T, Option<f64>>> {
        Spread::checking(self.ddof(), |variance, result| {
            within(variance.value, variance.bound, variance.reach, result)
        })
    }

    fn same(a: Option<f64>, b: Option<f64>) -> bool {
        same_mean(a, b)
    }
}

impl<T: Real> Checked for Deviation<T> {
    fn checking(self, _len: usize) -> Box<dyn Checking<T, Option<f64>>> {
        Spread::checking(self.op().ddof(), |variance, result| {
            root_within(variance.value, variance.bound, variance.reach, result)
        })
    }

    fn same(a: Option<f64>, b: Option<f64>) -> bool {
        same_mean(a, b)
    }
}

/// A check of a result of the elements that are not NaN.
struct OfNumbers<T, R>(Box<dyn Checking<T, R>>);

impl<T: Float, R> Checking<T, R> for OfNumbers<T, R> {
    fn next(&mut self, input: &[T]) {
        for chunk in input.chunks(CHUNK) {
            let numbers: Vec<T> = chunk.iter().copied().filter(|x| !x.is_nan()).collect();
            self.0.next(&numbers);
        }
    }

    fn check(self: Box<Self>, result: R, depth: u64) -> Check<R> {
        self.0.check(result, depth)
    }
}

macro_rules! of_numbers {
    ($($op:ty, [$($generic:tt)*]: $checking:expr;)*) => {$(
        impl<$($generic)*> Checked for $op {
            fn checking(self, len: usize) -> Box<dyn Checking<T, Self::Output>> {
                let checking: fn(Self, usize) -> Box<dyn Checking<T, Self::Output>> = $checking;
                Box::new(OfNumbers(checking(self, len)))
            }

            fn same(a: Self::Output, b: Self::Output) -> bool {
                same_result(a, b)
            }
        }
    )*};
}
of_numbers! {
    SkipNan<Sum<T, A>>, [T: Widen<A> + Float, A: Accumulates<T>]:
        |skip, len| skip.op().checking(len);
    SkipNan<Variance<T>>, [T: Real + Float]: |skip, len| skip.op().checking(len);
    Then<SkipNan<Variance<T>>, Root>, [T: Real + Float]:
        |then, len| Deviation::<T>::of(then.op().op()).checking(len);
    MeanOfNumbers<T>, [T: Real + Float]: |_, _| Spread::checking(0, |variance, result| {
        within(variance.mean, variance.mean_bound, 0.0, result)
    });
}

/// A result of which equal bits are required.
trait Same: Copy {
    fn same(self, other: Self) -> bool;
}

impl<A: Judged> Same for A {
    fn same(self, other: Self) -> bool {
        Judged::same(self, other)
    }
}

impl Same for Option<f64> {
    fn same(self, other: Self) -> bool {
        same_mean(self, other)
    }
}

fn same_result<A: Same>(a: A, b: A) -> bool {
    a.same(b)
}
