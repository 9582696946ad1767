//! Compares the results of a scan with the reference.

use super::check::statistics::exponents_within;
use super::check::{Check, Judged, within};
use super::scan::Form;
use crate::reference::{Exact, RunningProduct, RunningSum, sum_bound};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::scan::ScanOperation;
use gridsync_kernels::op::{
    And, Bits, Count, Exponent, LogSumExp, Max, Min, Operation, Or, Product, SkipNan, Sum, Widen,
    Xor,
};

/// The outcome of a comparison of a scan with the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanCheck<A> {
    /// The index of the first wrong result, or, if all are correct, of a result whose error is the
    /// largest fraction of its bound.
    pub at: usize,
    /// The check of that result.
    pub check: Check<A>,
}

/// A check of the results of a scan, passed part by part, against a sequential loop over the
/// elements.
pub trait ScanChecking<E, A> {
    /// Adds the next elements, and the results of the scan for them.
    ///
    /// # Panics
    /// If the numbers of results and elements differ.
    fn next(&mut self, input: &[E], results: &[A]);

    /// The worst result so far; `None` before the first one.
    fn worst(&self) -> Option<ScanCheck<A>>;
}

/// A scan whose results can be checked.
pub trait ScanChecked: ScanOperation {
    /// Starts a check of results that are scanned with at most `depth` roundings on the path of any
    /// element.
    fn checking_scan(
        self,
        form: Form,
        depth: u64,
    ) -> Box<dyn ScanChecking<Self::Element, Self::Output>>;

    /// Compares `results`, scanned from `input` with at most `depth` roundings on the path of any
    /// element, with the reference; `None` if they are empty.
    ///
    /// # Panics
    /// If the numbers of results and elements differ.
    fn check_scan(
        self,
        input: &[Self::Element],
        results: &[Self::Output],
        form: Form,
        depth: u64,
    ) -> Option<ScanCheck<Self::Output>> {
        let mut checking = self.checking_scan(form, depth);
        checking.next(input, results);
        checking.worst()
    }
}

/// The worst of the checks so far.
pub(super) struct Worst<A> {
    /// Number of results so far.
    taken: usize,
    /// The largest error so far, as a fraction of its bound.
    share: f64,
    found: Option<ScanCheck<A>>,
}

impl<A: Copy> Worst<A> {
    pub(super) fn new() -> Self {
        Self { taken: 0, share: 0.0, found: None }
    }

    /// Adds the check of the next result, unless an earlier one is wrong.
    pub(super) fn take(&mut self, check: impl FnOnce() -> Check<A>) {
        if self.found.as_ref().is_some_and(|found| !found.check.ok) {
            return;
        }
        let (at, check) = (self.taken, check());
        self.taken += 1;
        let share = match check {
            Check { bound: 0.0, .. } => 0.0,
            Check { abs_err, bound, .. } => abs_err / bound,
        };
        if self.found.is_none() || !check.ok || share > self.share {
            self.share = share;
            self.found = Some(ScanCheck { at, check });
        }
    }

    pub(super) fn found(&self) -> Option<ScanCheck<A>> {
        self.found
    }
}

/// A check of each result against the value of the elements so far.
struct Following<A, V, N, J> {
    form: Form,
    /// The value of all elements before the next one.
    before: V,
    /// Adds the next element to a value.
    next: N,
    judge: J,
    worst: Worst<A>,
}

impl<E, A, V, N, J> ScanChecking<E, A> for Following<A, V, N, J>
where
    E: Copy,
    A: Copy,
    V: Copy,
    N: FnMut(E) -> V,
    J: Fn(V, A) -> Check<A>,
{
    fn next(&mut self, input: &[E], results: &[A]) {
        assert_eq!(results.len(), input.len(), "a result for each element");
        for (&x, &result) in input.iter().zip(results) {
            let with = (self.next)(x);
            let value = match self.form {
                Form::Inclusive => with,
                Form::Exclusive => self.before,
            };
            self.before = with;
            self.worst.take(|| (self.judge)(value, result));
        }
    }

    fn worst(&self) -> Option<ScanCheck<A>> {
        self.worst.found()
    }
}

/// Starts a check: `none` is the value of no elements, `next` adds an element to a value, and
/// `judge` compares a result with its value.
fn following<E: Copy, A: Copy + 'static, V: Copy + 'static>(
    form: Form,
    none: V,
    next: impl FnMut(E) -> V + 'static,
    judge: impl Fn(V, A) -> Check<A> + 'static,
) -> Box<dyn ScanChecking<E, A>> {
    Box::new(Following { form, before: none, next, judge, worst: Worst::new() })
}

/// Allows no difference from a loop over the elements.
fn exactly<O: ScanOperation>(op: O, form: Form) -> Box<dyn ScanChecking<O::Element, O::Output>>
where
    O::Output: Judged,
{
    let (mut all, mut index) = (op.identity(), 0);
    let next = move |x| {
        all = op.combine(all, op.lift(x, index));
        index += 1;
        all
    };
    following(form, op.identity(), next, move |value, result: O::Output| {
        let reference = op.finish(value);
        let ok = result.same(reference);
        let abs_err = if ok { 0.0 } else { result.distance(reference) };
        Check { reference, abs_err, bound: 0.0, ok }
    })
}

macro_rules! exact {
    ($($op:ty, [$($generic:tt)*];)*) => {$(
        impl<$($generic)*> ScanChecked for $op {
            fn checking_scan(
                self,
                form: Form,
                _depth: u64,
            ) -> Box<dyn ScanChecking<Self::Element, Self::Output>> {
                exactly(self, form)
            }
        }
    )*};
}
exact! {
    Min<T, A>, [T: Widen<A>, A: Judged];
    Max<T, A>, [T: Widen<A>, A: Judged];
    Xor<T>, [T: Bits + Judged];
    And<T>, [T: Bits + Judged];
    Or<T>, [T: Bits + Judged];
    Count<T>, [T: Scalar + PartialEq];
}

/// The type in which elements of `T` are summed and multiplied; determines the required accuracy of
/// scans.
pub trait ScanAccumulates<T>: Judged {
    /// Starts a check of the prefix sums.
    fn checking_sums(form: Form, depth: u64) -> Box<dyn ScanChecking<T, Self>>;

    /// Starts a check of the prefix products.
    fn checking_products(form: Form) -> Box<dyn ScanChecking<T, Self>>;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl<T: Widen<Self>> ScanAccumulates<T> for $ty {
            fn checking_sums(form: Form, _depth: u64) -> Box<dyn ScanChecking<T, Self>> {
                exactly(Sum::<T, Self>::new(), form)
            }

            fn checking_products(form: Form) -> Box<dyn ScanChecking<T, Self>> {
                exactly(Product::<T, Self>::new(), form)
            }
        }
    )*};
}
integers!(i32, u32, i64, u64);

macro_rules! floats {
    ($($ty:ident),*) => {$(
        impl<T: Widen<Self> + Widen<f64>> ScanAccumulates<T> for $ty {
            fn checking_sums(form: Form, depth: u64) -> Box<dyn ScanChecking<T, Self>> {
                let unit = f64::from($ty::EPSILON) / 2.0;
                let none = Exact { value: -0.0, magnitude: 0.0 };
                let mut sum = RunningSum::default();
                following(form, none, move |x: T| sum.next(x), move |exact, sum| {
                    let Exact { value, magnitude } = exact;
                    // The reference itself is rounded once, to the type of the result.
                    let bound = sum_bound(magnitude, depth + 1, unit);
                    within(value, bound, magnitude + bound, sum)
                })
            }

            fn checking_products(form: Form) -> Box<dyn ScanChecking<T, Self>> {
                let (unit, least) = ($ty::EPSILON.into(), $ty::MIN_POSITIVE.into());
                let mut product = RunningProduct::default();
                let next = move |x: T| product.next(x, unit, least, $ty::MAX.into());
                following(form, (1.0, 0.0), next, |(value, bound): (f64, f64), product| {
                    within(value, bound, value.abs(), product)
                })
            }
        }
    )*};
}
floats!(f32, f64);

impl<T: Widen<A>, A: ScanAccumulates<T>> ScanChecked for Sum<T, A> {
    fn checking_scan(self, form: Form, depth: u64) -> Box<dyn ScanChecking<T, A>> {
        A::checking_sums(form, depth)
    }
}

impl<T: Widen<A>, A: ScanAccumulates<T>> ScanChecked for Product<T, A> {
    fn checking_scan(self, form: Form, _depth: u64) -> Box<dyn ScanChecking<T, A>> {
        A::checking_products(form)
    }
}

impl<T: Exponent> ScanChecked for LogSumExp<T> {
    fn checking_scan(self, form: Form, depth: u64) -> Box<dyn ScanChecking<T, f64>> {
        let op = LogSumExp::<f64>::new();
        // Of the elements so far: the sum, the least one, and their number.
        let none = (op.identity(), f64::INFINITY, 0u64);
        let mut so_far = none;
        let next = move |x: T| {
            let (all, least, count) = so_far;
            let x = T::to_f64(x.widen());
            so_far = (op.combine(all, op.lift(x, count)), least.min(x), count + 1);
            so_far
        };
        following(form, none, next, move |(all, least, count), result| {
            let range = all.greatest - least;
            exponents_within::<T>(op.finish(all), range, (depth, 4 * count), result)
        })
    }
}

/// A check of a scan that skips elements that are NaN: `neutral` changes no result.
struct Skipping<E, A> {
    checking: Box<dyn ScanChecking<E, A>>,
    neutral: E,
}

impl<E: Copy + PartialEq, A> ScanChecking<E, A> for Skipping<E, A> {
    fn next(&mut self, input: &[E], results: &[A]) {
        #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
        let of = |&x: &E| if x == x { x } else { self.neutral };
        let input: Vec<E> = input.iter().map(of).collect();
        self.checking.next(&input, results);
    }

    fn worst(&self) -> Option<ScanCheck<A>> {
        self.checking.worst()
    }
}

macro_rules! of_numbers {
    ($($op:ty: $neutral:expr;)*) => {$(
        impl ScanChecked for SkipNan<$op> {
            fn checking_scan(
                self,
                form: Form,
                depth: u64,
            ) -> Box<dyn ScanChecking<Self::Element, Self::Output>> {
                let checking = self.op().checking_scan(form, depth);
                Box::new(Skipping { checking, neutral: $neutral })
            }
        }
    )*};
}
of_numbers! {
    Sum<f32>: -0.0;
    Sum<f64>: -0.0;
    Sum<f16, f32>: f16::NEG_ZERO;
    Sum<bf16, f32>: bf16::NEG_ZERO;
    Product<f32>: 1.0;
    Product<f64>: 1.0;
    Min<f32>: f32::INFINITY;
    Min<f64>: f64::INFINITY;
    Max<f32>: f32::NEG_INFINITY;
    Max<f64>: f64::NEG_INFINITY;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(results: &[f32]) -> ScanCheck<f32> {
        Sum::<f32>::new()
            .check_scan(&[0.1; 4], results, Form::Inclusive, 3)
            .expect("there are elements")
    }

    #[test]
    fn the_first_result_beyond_its_bound_is_named() {
        let right = sums(&[0.1, 0.2, 0.3, 0.4]);
        assert!(right.check.ok && right.check.bound > 0.0, "{right:?}");
        let wrong = sums(&[0.1, 0.2, 0.301, 0.41]);
        assert!(!wrong.check.ok && wrong.at == 2, "{wrong:?}");
    }

    #[test]
    fn the_wrong_form_of_a_scan_is_detected() {
        let check = |form| Sum::<i32>::new().check_scan(&[1, 2, 3], &[0, 1, 3], form, 0);
        assert!(check(Form::Exclusive).is_some_and(|scan| scan.check.ok));
        assert!(check(Form::Inclusive).is_some_and(|scan| !scan.check.ok && scan.at == 0));
    }

    #[test]
    fn checks_of_parts_agree_with_the_whole() {
        let input: Vec<f32> = (0..100).map(|i| i as f32 * 0.1).collect();
        let mut results = crate::reference::scan(Sum::<f32>::new(), &input, Form::Exclusive);
        for wrong in [None, Some(99), Some(10)] {
            if let Some(at) = wrong {
                results[at] = -1.0;
            }
            let whole = Sum::<f32>::new().check_scan(&input, &results, Form::Exclusive, 9);
            assert_eq!(whole.is_some_and(|scan| scan.check.ok), wrong.is_none());
            for part in [1, 7, 100] {
                let mut checking = Sum::<f32>::new().checking_scan(Form::Exclusive, 9);
                let parts = input.chunks(part).zip(results.chunks(part));
                parts.for_each(|(input, results)| checking.next(input, results));
                assert_eq!(checking.worst(), whole, "parts of {part}");
            }
        }
    }

    #[test]
    fn an_empty_scan_has_no_check() {
        assert_eq!(Max::<f64>::new().check_scan(&[], &[], Form::Inclusive, 0), None);
    }
}
