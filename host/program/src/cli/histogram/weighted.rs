//! Histograms of weights: `gridsync histogram --weights`.

use super::asked::{Asked, Numbered, extent_of, range_of};
use super::check::bin_of;
use super::table::MOST_ROWS;
use super::{Histogram, outside};
use crate::cli::choice::Place;
use crate::cli::computed::{Check, Fields};
use crate::cli::exit::Usage;
use crate::cli::job::{self, About, Done, Job, Verdict};
use crate::cli::sink::Sink;
use crate::data::{self, Dtype, Incoming, Input};
use crate::number::Number;
use gridsync::device::Device;
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::histogram::{Binned, Bins, Histogram as Counter, Weighed, Weight};
use gridsync::primitives::sort::Key;
use gridsync_verify::Widen;
use std::ffi::OsString;

impl Histogram {
    /// Adds up the weights in the file `path` of the elements in each bin.
    pub(super) fn weigh<T: Binned + Key + Widen + data::Scalar>(
        &self,
        job: &Job<'_>,
        path: &OsString,
        input: Incoming,
        given: Option<(Asked, Bins<T>)>,
        numbered: Numbered<T>,
    ) -> anyhow::Result<Done> {
        self.parts.refuse_for("--weights")?;
        let about = About::of(&input);
        let weights = job.open(path, None)?.in_f32()?;
        if weights.len() != about.len {
            return Err(Usage(format!(
                "{}: {} weights for {} elements: give one for each",
                Input::parse(path),
                weights.len(),
                about.len
            ))
            .into());
        }
        let input = input.all()?;
        let input = input.as_slice::<T>()?;
        let (asked, bins) = match given {
            Some(given) => given,
            None => self.even(range_of(extent_of(input))?, numbered)?,
        };
        let dtype = weights.dtype();
        let weights = weights.all()?;
        match dtype {
            Dtype::F32 => {
                self.weighted::<T, f32>(job, about, (&asked, &bins), input, weights.as_slice()?)
            }
            Dtype::F64 => {
                self.weighted::<T, f64>(job, about, (&asked, &bins), input, weights.as_slice()?)
            }
            other => Err(Usage(format!(
                "{}: weights are f32 or f64, not {other}: convert them",
                Input::parse(path)
            ))
            .into()),
        }
    }

    fn weighted<T: Binned + Key + Widen, W: Weight + Into<f64>>(
        &self,
        job: &Job<'_>,
        about: About,
        (asked, bins): (&Asked, &Bins<T>),
        input: &[T],
        weights: &[W],
    ) -> anyhow::Result<Done> {
        let (Weighed { sums, counts }, us) = match job.place().device("histogram")? {
            None => {
                // For the sort of the indices.
                let bytes = 4 * size_of::<u64>() * input.len() + size_of_val(weights);
                job::on_cpu(bytes, || bins.weigh_on_cpu(input, weights))?
            }
            Some(device) => on_device(device, bins, input, weights)?,
        };
        let check = if self.check {
            job.doing("checking");
            Some(verdict(&sums, &added_again(asked, bins, input, weights)?))
        } else {
            None
        };
        let arrays = match &self.output {
            None => Vec::new(),
            Some(path) => job::unless_wrong(&check, || {
                Sink::of_shape(path, Dtype::F64, &[sums.len() as u64])?.with(&sums)
            })?,
        };
        let bytes = size_of_val(input) + size_of_val(weights) + size_of_val(&sums[..]);
        let outside = outside(about, &counts);
        let (is_printed, numbers) = (self.is_printed(), sums.iter().map(|&sum| Number::Float(sum)));
        let result = (is_printed && sums.len() <= MOST_ROWS).then(|| {
            let labels = asked.labels(about.dtype(), bins).into_iter();
            let rows =
                labels.zip(numbers.clone()).map(|(label, sum)| format!("{label}  {}", sum.text()));
            rows.collect::<Vec<_>>().join("\n")
        });
        let [low, high] = asked.ends(about.dtype());
        let fields = Fields::Histogram {
            op: "histogram",
            bins: sums.len(),
            low,
            high,
            outside,
            counts: None,
            sums: is_printed.then(|| numbers.collect()),
            output: job.path("output", &check),
        };
        let what = format!("sums of weights of {} in {} bins", about.text("elements"), bins.len());
        let variant = match job.place() {
            Place::Devices(_) => "sorted",
            Place::Cpu => "rayon",
        };
        let lines = self.lines(sums.len(), outside);
        Ok(Done {
            result,
            us,
            bytes,
            check,
            arrays,
            lines,
            ..Done::of(fields, what, about, variant)
        })
    }
}

/// The sums on a device, and the time in µs.
fn on_device<T: Binned + Key, W: Weight>(
    device: &Device,
    bins: &Bins<T>,
    input: &[T],
    weights: &[W],
) -> anyhow::Result<(Weighed, f64)> {
    // The elements and the weights, sorted, and the working memory of the sort.
    let bytes = 3 * (size_of_val(input) + size_of_val(weights));
    job::expect_room(device, "histogram of weights", bytes)?;
    let (input, weights) = (device.upload(input)?, device.upload(weights)?);
    let mut counter = Counter::new(device, bins.clone())?;
    let mut weighed = Weighed::default();
    let mut weigh = || counter.weigh(&input, &weights).map(|found| weighed = found);
    // The first call compiles the kernels.
    if !device.properties().is_emulated() {
        weigh()?;
    }
    let us = device.time(weigh)?;
    Ok((weighed, us))
}

/// The sum of the weights in a bin in the order of the array.
#[derive(Clone, Copy, Default)]
struct Added {
    sum: f64,
    /// The sum of their absolute values.
    absolute: f64,
    count: u64,
}

/// The sums of all bins, on one core.
fn added_again<T: Binned + Widen, W: Copy + Into<f64>>(
    asked: &Asked,
    bins: &Bins<T>,
    input: &[T],
    weights: &[W],
) -> Result<Vec<Added>, NoRoom> {
    let of = bin_of(asked, bins)?;
    memory::probe(bins.len() * size_of::<Added>())?;
    let mut all = vec![Added::default(); bins.len()];
    for (&element, &weight) in input.iter().zip(weights) {
        if let Some(bin) = of(element) {
            let (weight, added) = (weight.into(), &mut all[bin]);
            added.sum += weight;
            added.absolute += weight.abs();
            added.count += 1;
        }
    }
    Ok(all)
}

/// The verdict on `sums`. Two sums of n numbers in any order differ by at most n × 2^-52 times the sum
/// of the absolute values (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
fn verdict(sums: &[f64], reference: &[Added]) -> Verdict {
    let is_right = |sum: f64, added: &Added| {
        let bound = added.count as f64 * f64::EPSILON * added.absolute;
        (sum - added.sum).abs() <= bound || sum == added.sum || sum.is_nan() && added.sum.is_nan()
    };
    let wrong = sums.iter().zip(reference).position(|(&sum, added)| !is_right(sum, added));
    let text = if wrong.is_none() { "right" } else { "WRONG" };
    Verdict {
        json: Check::Whole { ok: wrong.is_none() },
        line: format!("added again on one core: {text}"),
        wrong: wrong.map(|bin| {
            let (sum, reference) = (sums[bin], reference[bin].sum);
            format!("the sum of bin {bin} is wrong: {sum}, the reference is {reference}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_the_bound_is_wrong() {
        let added = Added { sum: 1.0, absolute: 3.0, count: 4 };
        let wrong = |sum| verdict(&[0.0, sum], &[Added::default(), added]).wrong;
        assert_eq!(wrong(1.0 + 12.0 * f64::EPSILON), None);
        let error = wrong(1.0 + 13.0 * f64::EPSILON).unwrap_or_default();
        assert!(error.starts_with("the sum of bin 1 is wrong"), "{error}");
        assert!(wrong(f64::NAN).is_some());
        let infinite = Added { sum: f64::INFINITY, absolute: f64::INFINITY, count: 1 };
        assert_eq!(verdict(&[f64::INFINITY], &[infinite]).wrong, None);
    }
}
