//! The check of several statistics.

use super::{CHUNK, Spread, root_within, same_mean};
use crate::primitives::check::{
    Check, Checked, Checking, distance_of_means, same_extremes, within,
};
use gridsync_kernels::op::{
    Carried, Describable, Describe, Description, Extremes, MinMax, Operation, Total,
};

/// The checks of the single statistics.
struct Statistics<T: Describable> {
    ddof: u64,
    /// The number of elements, with those that are NaN.
    len: u64,
    spread: Spread<T>,
    extremes: Box<dyn Checking<T, Option<Extremes<T>>>>,
    sum: Box<dyn Checking<T, T::Total>>,
}

impl<T: Describable> Checking<T, Description<T>> for Statistics<T>
where
    T::Sum: Checked,
{
    fn next(&mut self, input: &[T]) {
        self.len += input.len() as u64;
        for chunk in input.chunks(CHUNK) {
            let numbers: Vec<T> = chunk.iter().copied().filter(|x| !x.is_nan()).collect();
            self.spread.next(&numbers);
            self.extremes.next(&numbers);
            self.sum.next(&numbers);
        }
    }

    fn check(self: Box<Self>, result: Description<T>, depth: u64) -> Check<Description<T>> {
        let Self { ddof, len, mut spread, extremes, sum } = *self;
        let count = spread.len;
        let about_mean = spread.variance(depth);
        spread.ddof = ddof;
        let variance = spread.variance(depth);

        let mut worst = Worst::default();
        worst.exact([result.count, result.nan] == [count, len - count]);
        let found = result.min.zip(result.max);
        let found = found.map(|(least, greatest)| Extremes { least, greatest });
        let extremes = extremes.check(found, depth).reference;
        let are_partial = result.min.is_some() != result.max.is_some();
        worst.exact(!are_partial && same_extremes(found, extremes));

        // No floating-point numbers have the sum −0, which is not the result.
        let none = T::Sum::same(result.sum, T::Total::default());
        let sum = sum.check(result.sum, depth);
        worst.exact(count > 0 || none);
        if count > 0 {
            worst.of(&sum);
        }

        let mean = about_mean.zip(result.mean).map(|(of, mean)| {
            if T::Sum::EXACT {
                let reference = sum.reference.divided_by(count);
                let ok = same_mean(Some(mean), Some(reference));
                let abs_err = distance_of_means(Some(mean), Some(reference));
                return Check { reference, abs_err, bound: 0.0, ok };
            }
            // The true mean overflows here if the differences from a center do.
            let overflows = spread.is_finite && !of.mean.is_finite();
            let bound = if overflows { f64::INFINITY } else { of.mean_bound };
            let sum_is_finite = result.sum.divided_by(1).is_finite();
            let reach = if sum_is_finite { 0.0 } else { f64::INFINITY };
            within(of.mean, bound, reach, mean)
        });
        worst.exact(result.mean.is_some() == (count > 0));
        let deviation = variance
            .as_ref()
            .zip(result.deviation)
            .map(|(of, deviation)| root_within(of.value, of.bound, of.reach, deviation));
        worst.exact(result.deviation.is_some() == variance.is_some());
        for check in mean.iter().chain(&deviation) {
            worst.of(check);
        }

        let reference = Description {
            count,
            nan: len - count,
            min: extremes.map(|both| both.least),
            max: extremes.map(|both| both.greatest),
            mean: mean.map(|check| check.reference),
            deviation: deviation.map(|check| check.reference),
            sum: if count > 0 { sum.reference } else { T::Total::default() },
        };
        let Worst { abs_err, bound, wrong } = worst;
        Check { reference, abs_err, bound, ok: !wrong }
    }
}

/// The difference that is wrong or, if none is, that comes closest to its bound.
#[derive(Default)]
struct Worst {
    abs_err: f64,
    bound: f64,
    wrong: bool,
}

impl Worst {
    /// Adds a comparison that allows no difference.
    fn exact(&mut self, ok: bool) {
        let abs_err = if ok { 0.0 } else { f64::INFINITY };
        self.add(abs_err, 0.0, ok);
    }

    fn of<R>(&mut self, check: &Check<R>) {
        self.add(check.abs_err, check.bound, check.ok);
    }

    fn add(&mut self, abs_err: f64, bound: f64, ok: bool) {
        let is_closer = abs_err * self.bound > self.abs_err * bound || self.bound == 0.0;
        if !self.wrong && (!ok || is_closer) {
            *self = Self { abs_err, bound, wrong: !ok };
        }
    }
}

impl<T: Describable> Checked for Describe<T>
where
    T::Sum: Checked,
{
    fn checking(self, len: usize) -> Box<dyn Checking<T, Description<T>>> {
        Box::new(Statistics {
            ddof: self.ddof(),
            len: 0,
            spread: Spread::new(0, |_, _| unreachable!("only its sums are used")),
            extremes: MinMax::<T>::new().checking(len),
            sum: T::Sum::default().checking(len),
        })
    }

    fn same(a: Description<T>, b: Description<T>) -> bool {
        let same =
            |a: Option<T>, b: Option<T>| a.map(Carried::to_words) == b.map(Carried::to_words);
        [a.count, a.nan] == [b.count, b.nan]
            && same(a.min, b.min)
            && same(a.max, b.max)
            && same_mean(a.mean, b.mean)
            && same_mean(a.deviation, b.deviation)
            && T::Sum::same(a.sum, b.sum)
    }
}
