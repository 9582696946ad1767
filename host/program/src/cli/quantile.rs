//! `gridsync quantile`: the median and other quantiles of an array.

use super::Global;
use super::by_rank;
use super::comparisons::{self, Standard, verdict};
use super::computed::{self, Fields};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job};
use super::work::Cost;
use crate::data::{self, Incoming, Stored};
use crate::number::Number;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::memory::NoRoom;
use gridsync::primitives::rank::{QuantileMethod, RankError, quantiles_on_cpu};
use gridsync::primitives::sort::{Key, Order};
use std::ffi::OsString;

/// Compute the median or other quantiles of an array
///
/// Quantile q is the element that is not less than the share q of all elements: 0 is the minimum, 0.5
/// the median, 1 the maximum. Between two elements, --method chooses or interpolates, as in
/// numpy.quantile. Results are computed and printed as f64, so integers above 2^53 are rounded, and
/// quantiles of shorter floats have more digits than NumPy's. If an element is NaN, so is every
/// quantile. An empty array has no quantiles, which is an error. One device selects from the whole
/// array, and a GPU needs memory for it. Up to four quantiles are found without sorting the array.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Quantile {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// Numbers from 0 to 1.
    #[arg(
        value_name = "Q",
        default_values = ["0.25", "0.5", "0.75"],
        value_parser = share,
        allow_negative_numbers = true
    )]
    quantiles: Vec<f64>,
    /// How to compute a quantile from the two elements around it, by NumPy's name.
    #[arg(
        long,
        value_name = "METHOD",
        default_value = QuantileMethod::Linear.name(),
        value_parser = method()
    )]
    method: QuantileMethod,
    /// Sort the array on one core by comparisons, compute the quantiles from that, and compare.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
}

/// Parses a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let q = text.parse().map_err(|_| "a quantile is a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&q) { Ok(q) } else { Err(RankError::NotAQuantile(q).to_string()) }
}

/// A parser for the name of a method.
fn method() -> impl TypedValueParser<Value = QuantileMethod> {
    let all = QuantileMethod::ALL;
    PossibleValuesParser::new(all.map(QuantileMethod::name)).map(move |name| {
        let named = all.into_iter().find(|method| method.name() == name);
        named.expect("the names are those of the methods")
    })
}

impl Quantile {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("INPUT", &self.input);
        let remedy = "a selection by rank holds all elements: select from fewer";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            if input.is_empty() {
                return Err(RankError::Empty.into());
            }
            let what = About::of(&input).text("elements");
            let work = Cost::BY_RANK.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.select::<$ty>(job, input);
                }
            };
        }
        gridsync_entries::sorted_elements!(by_dtype);
        Err(Usage(format!("quantile does not support elements of {}", input.dtype())).into())
    }

    /// Computes the quantiles, and checks them if `--check` is given.
    fn select<T: Key + Standard + data::Scalar>(
        &self,
        job: &Job<'_>,
        input: Incoming,
    ) -> anyhow::Result<Done> {
        let device = job.place().device("quantile")?;
        let about = About::of(&input);
        // Each quantile has two ranks; the library sorts to find more than eight.
        let is_sorted = self.quantiles.len() > 4;
        if let Some(device) = device {
            by_rank::expect_room::<T>(device, about.len, 0, is_sorted)?;
        }
        let input = input.in_any_order().all()?;
        let input = input.as_slice::<T>()?;
        let (qs, method) = (&self.quantiles, self.method);
        let (values, us) = match device {
            None => {
                let bytes = if is_sorted { 4 * size_of::<u64>() * input.len() } else { 0 };
                let (values, us) = job::on_cpu(bytes, || quantiles_on_cpu(input, qs, method))?;
                (values?, us)
            }
            Some(device) => on_device(device, input, qs, method)?,
        };
        let check = if self.check {
            job.doing("checking");
            Some(verdict(wrong(qs, &values, &from_sorted(input, qs, method)?)))
        } else {
            None
        };
        let pairs = || qs.iter().zip(&values).map(|(&q, &value)| (q, Number::Float(value)));
        let fields = Fields::Quantile {
            op: "quantile",
            method: method.name(),
            quantiles: pairs().map(|(q, value)| computed::Quantile { q, value }).collect(),
        };
        let what = format!("quantiles ({}) of {}", method.name(), about.text("elements"));
        Ok(Done {
            result: Some(table(pairs().collect())),
            us,
            bytes: size_of_val(input),
            check,
            ..Done::of(fields, what, about, by_rank::variant(job.place()))
        })
    }
}

/// The quantiles on a device, and the time of the selection in µs.
fn on_device<T: Key>(
    device: &Device,
    input: &[T],
    qs: &[f64],
    method: QuantileMethod,
) -> anyhow::Result<(Vec<f64>, f64)> {
    let input = device.upload(input)?;
    let mut values = Vec::new();
    let us = by_rank::on_device(device, input.len(), |ranker| {
        values = ranker.quantiles(&input, qs, method)?;
        Ok(())
    })?;
    Ok((values, us))
}

/// The quantiles of `input`, which is not empty, from a sort on one core.
fn from_sorted<T: Key + Standard>(
    input: &[T],
    qs: &[f64],
    method: QuantileMethod,
) -> Result<Vec<f64>, NoRoom> {
    let sorted = comparisons::sorted(Order::ASCENDING, input)?;
    // NaNs come last.
    let has_nan = sorted[sorted.len() - 1].to_f64().is_nan();
    let value = |&q: &f64| {
        let place = method.of(q, sorted.len());
        if has_nan { f64::NAN } else { place.value(place.ranks.map(|rank| sorted[rank].to_f64())) }
    };
    Ok(qs.iter().map(value).collect())
}

/// The first wrong quantile, if there is one.
fn wrong(qs: &[f64], values: &[f64], reference: &[f64]) -> Option<String> {
    let is_right = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
    let at = values.iter().zip(reference).position(|(&x, &y)| !is_right(x, y))?;
    let (q, value, reference) = (qs[at], values[at], reference[at]);
    Some(format!("quantile {q:?} is wrong: {value:?}, the reference is {reference:?}"))
}

/// A line with the share and the quantile for each pair.
fn table(pairs: Vec<(f64, Number)>) -> String {
    let width = pairs.iter().map(|(q, _)| format!("{q:?}").len()).max().unwrap_or(0);
    let line =
        |(q, value): &(f64, Number)| format!("{:<width$}  {}", format!("{q:?}"), value.text());
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_from_0_to_1() {
        assert_eq!(["0", "0.5", "1e-3", "1"].map(share), [0.0, 0.5, 1e-3, 1.0].map(Ok));
        for wrong in ["", "x", "-0.1", "1.01", "nan", "inf", "50%"] {
            let error = share(wrong).expect_err("it is not a share");
            assert!(error.contains("number from 0 to 1"), "{wrong}: {error}");
        }
    }

    #[test]
    fn any_other_quantile_is_found() {
        let wrong = |values: [f64; 2]| wrong(&[0.0, 0.5], &values, &[f64::NAN, 2.0]);
        assert_eq!(wrong([-f64::NAN, 2.0]), None);
        let other = wrong([f64::NAN, 2.5]);
        assert_eq!(other.as_deref(), Some("quantile 0.5 is wrong: 2.5, the reference is 2.0"));
        assert!(wrong([1.0, 2.0]).is_some());
    }

    #[test]
    fn the_reference_is_that_of_the_library() {
        let input: Vec<i32> = (0..50).map(|i| i * 37 % 101 - 40).collect();
        for method in QuantileMethod::ALL {
            let qs = [0.0, 0.1, 0.5, 0.99, 1.0];
            let reference = from_sorted(&input, &qs, method).expect("they are few");
            assert_eq!(quantiles_on_cpu(&input, &qs, method), Ok(reference), "{}", method.name());
        }
    }
}
