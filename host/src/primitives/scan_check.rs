//! Holding the results of a scan against the reference.

use super::check::{Check, Judged, within};
use super::scan::Form;
use crate::reference::{Exact, exact_prefix_sums, prefix_product_bounds, sum_bound};
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::scan::ScanOperation;
use gridsync_kernels::op::{And, Bits, Count, Max, Min, Or, Product, Sum, Widen, Xor};
use std::iter::once;

/// What the results of a scan were compared with, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanCheck<A> {
    /// Where the first wrong result stands, or, if all are right, one that is as far off as any of
    /// what it may be.
    pub at: usize,
    /// The check of that result.
    pub check: Check<A>,
}

/// A scan whose results can be checked, against a loop over the elements, one after the other.
pub trait ScanChecked: ScanOperation {
    /// Holds `results`, scanned from `input` with at most `depth` roundings on any element's way,
    /// against the reference; none if they are empty.
    ///
    /// # Panics
    /// If there are not as many results as elements.
    fn check_scan(
        self,
        input: &[Self::Element],
        results: &[Self::Output],
        form: Form,
        depth: u64,
    ) -> Option<ScanCheck<Self::Output>>;
}

/// The worst of the checks of all results. `check` is given the number of a result, and the result.
pub(super) fn worst<A: Copy>(
    results: &[A],
    elements: usize,
    mut check: impl FnMut(usize, A) -> Check<A>,
) -> Option<ScanCheck<A>> {
    assert_eq!(results.len(), elements, "a result for each element");
    let mut worst: Option<(f64, ScanCheck<A>)> = None;
    for (at, &result) in results.iter().enumerate() {
        let check = check(at, result);
        let share = match check {
            Check { ok: false, .. } => {
                return Some(ScanCheck { at, check });
            }
            Check { bound: 0.0, .. } => 0.0,
            Check { abs_err, bound, .. } => abs_err / bound,
        };
        if worst.is_none_or(|(most, _)| share > most) {
            worst = Some((share, ScanCheck { at, check }));
        }
    }
    worst.map(|(_, check)| check)
}

/// The values that a scan of that form holds against its results, from those up to each element, with
/// it, and from that of no elements.
fn of_form<T>(form: Form, none: T, inclusive: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let skipped = match form {
        Form::Inclusive => 1,
        Form::Exclusive => 0,
    };
    once(none).chain(inclusive).skip(skipped)
}

/// Allows no difference to a loop over the elements.
fn exactly<O: ScanOperation>(
    op: O,
    input: &[O::Element],
    results: &[O::Output],
    form: Form,
) -> Option<ScanCheck<O::Output>>
where
    O::Output: Judged,
{
    let mut all = op.identity();
    worst(results, input.len(), |at, result| {
        let before = all;
        all = op.combine(before, op.lift(input[at], at as u64));
        let reference = op.finish(match form {
            Form::Inclusive => all,
            Form::Exclusive => before,
        });
        let ok = result.same(reference);
        let abs_err = if ok { 0.0 } else { result.distance(reference) };
        Check { reference, abs_err, bound: 0.0, ok }
    })
}

macro_rules! exact {
    ($($op:ty, [$($generic:tt)*];)*) => {$(
        impl<$($generic)*> ScanChecked for $op {
            fn check_scan(
                self,
                input: &[Self::Element],
                results: &[Self::Output],
                form: Form,
                _depth: u64,
            ) -> Option<ScanCheck<Self::Output>> {
                exactly(self, input, results, form)
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

/// A number that elements of `T` are added up and multiplied in: how good the results of scans have to be.
pub trait ScanAccumulates<T>: Judged {
    /// Compares the sums of all elements up to each one with the reference.
    fn check_sums(input: &[T], sums: &[Self], form: Form, depth: u64) -> Option<ScanCheck<Self>>;

    /// Compares the products of all elements up to each one with the reference.
    fn check_products(input: &[T], products: &[Self], form: Form) -> Option<ScanCheck<Self>>;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl<T: Widen<Self>> ScanAccumulates<T> for $ty {
            fn check_sums(
                input: &[T],
                sums: &[Self],
                form: Form,
                _depth: u64,
            ) -> Option<ScanCheck<Self>> {
                exactly(Sum::<T, Self>::new(), input, sums, form)
            }

            fn check_products(
                input: &[T],
                products: &[Self],
                form: Form,
            ) -> Option<ScanCheck<Self>> {
                exactly(Product::<T, Self>::new(), input, products, form)
            }
        }
    )*};
}
integers!(i32, u32, i64, u64);

macro_rules! floats {
    ($($ty:ident),*) => {$(
        impl<T: Widen<Self> + Widen<f64>> ScanAccumulates<T> for $ty {
            fn check_sums(
                input: &[T],
                sums: &[Self],
                form: Form,
                depth: u64,
            ) -> Option<ScanCheck<Self>> {
                let unit = f64::from($ty::EPSILON) / 2.0;
                let none = Exact { value: -0.0, magnitude: 0.0 };
                let mut exact = of_form(form, none, exact_prefix_sums(input));
                worst(sums, input.len(), |_, sum| {
                    let Exact { value, magnitude } = exact.next().unwrap_or(none);
                    // The reference itself is rounded once, to the type of the result.
                    let bound = sum_bound(magnitude, depth + 1, unit);
                    within(value, bound, magnitude + bound, sum)
                })
            }

            fn check_products(
                input: &[T],
                products: &[Self],
                form: Form,
            ) -> Option<ScanCheck<Self>> {
                let (least, greatest) = ($ty::MIN_POSITIVE.into(), $ty::MAX.into());
                let up_to = prefix_product_bounds(input, $ty::EPSILON.into(), least, greatest);
                let mut exact = of_form(form, (1.0, 0.0), up_to);
                worst(products, input.len(), |_, product| {
                    let (value, bound): (f64, f64) = exact.next().unwrap_or((1.0, 0.0));
                    within(value, bound, value.abs(), product)
                })
            }
        }
    )*};
}
floats!(f32, f64);

impl<T: Widen<A>, A: ScanAccumulates<T>> ScanChecked for Sum<T, A> {
    fn check_scan(
        self,
        input: &[T],
        results: &[A],
        form: Form,
        depth: u64,
    ) -> Option<ScanCheck<A>> {
        A::check_sums(input, results, form, depth)
    }
}

impl<T: Widen<A>, A: ScanAccumulates<T>> ScanChecked for Product<T, A> {
    fn check_scan(
        self,
        input: &[T],
        results: &[A],
        form: Form,
        _depth: u64,
    ) -> Option<ScanCheck<A>> {
        A::check_products(input, results, form)
    }
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
    fn the_first_result_beyond_its_bound_is_the_one_that_is_named() {
        let right = sums(&[0.1, 0.2, 0.3, 0.4]);
        assert!(right.check.ok && right.check.bound > 0.0, "{right:?}");
        let wrong = sums(&[0.1, 0.2, 0.301, 0.41]);
        assert!(!wrong.check.ok && wrong.at == 2, "{wrong:?}");
    }

    #[test]
    fn one_form_is_not_taken_for_the_other() {
        let check = |form| Sum::<i32>::new().check_scan(&[1, 2, 3], &[0, 1, 3], form, 0);
        assert!(check(Form::Exclusive).is_some_and(|scan| scan.check.ok));
        assert!(check(Form::Inclusive).is_some_and(|scan| !scan.check.ok && scan.at == 0));
    }

    #[test]
    fn nothing_to_check_is_no_check() {
        assert_eq!(Max::<f64>::new().check_scan(&[], &[], Form::Inclusive, 0), None);
    }
}
