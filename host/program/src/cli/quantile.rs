//! `gridsync quantile`: the median and other quantiles of an array or of its rows.

mod in_parts;

use super::Global;
use super::axis::{Axis, Matrix};
use super::by_rank;
use super::comparisons::{self, Standard, verdict};
use super::computed::{self, Fields};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Stored};
use crate::number::Number;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::rank::{
    QuantileMethod, RankError, quantiles_on_cpu, quantiles_rows_on_cpu,
};
use gridsync::primitives::sort::{Key, Order};
use std::ffi::OsString;

/// Compute the median or other quantiles of an array or its rows
///
/// Quantile q is the element that is not less than the share q of all elements: 0 is the minimum, 0.5
/// the median, 1 the maximum. Between two elements, --method chooses or interpolates, as in
/// numpy.quantile. Results are computed and printed as f64, so integers above 2^53 are rounded, and
/// quantiles of shorter floats have more digits than NumPy's. If an element is NaN, so is every
/// quantile. An empty array has no quantiles, which is an error. --rows and --axis compute those of
/// each line; as in NumPy, the first dimension of the output is that of the quantiles. One device
/// selects. Up to four quantiles are found without sorting the array. An array for which a GPU has no
/// room, or longer than --part, is sorted in parts, in a file in the folder for temporary files.
/// --check holds all elements.
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
    #[command(flatten)]
    axis: Axis,
    /// Write the quantiles to this .npy file as f64, and do not print them; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    /// Sort the array on one core by comparisons, compute the quantiles from that, and compare.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
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
        let files =
            Files::default().reads("INPUT", &self.input).writes("output", self.output.as_ref());
        let remedy = "a selection by rank holds all elements: select from parts with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let matrix = self.axis.matrix(&input)?;
            let (rows, columns) = matrix.size();
            if columns == 0 && rows > 0 {
                return Err(RankError::Empty.into());
            }
            if self.axis.is_asked() && self.output.is_none() {
                return Err(Usage(format!(
                    "{} prints nothing: name a file for the quantiles with -o",
                    self.axis.flag()
                ))
                .into());
            }
            let what = About::of(&input).text("elements");
            let work = if self.axis.is_asked() { Cost::SORT } else { Cost::BY_RANK };
            let work = work.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input, &matrix)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming, matrix: &Matrix) -> anyhow::Result<Done> {
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.select::<$ty>(job, input, matrix);
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
        matrix: &Matrix,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let is_sorted = self.axis.is_asked() || self.is_sorted();
        let of_each = by_rank::bytes_of_each::<T>(is_sorted);
        if let Some(part) = self.parts.of_lines(job, (self.axis, matrix), of_each)? {
            let (values, us, part, held) = self.in_parts::<T>(job, input, matrix, part)?;
            let done = self.checked(job, (about, matrix), &held, &values)?;
            return Ok(Done { us, part, ..done });
        }
        let device = job.place().device("quantile")?;
        if let Some(device) = device {
            by_rank::expect_room::<T>(device, about.len, 0, is_sorted)?;
        }
        let is_whole = !self.axis.is_asked();
        let input = if is_whole { input.in_any_order() } else { input };
        let input = input.all()?;
        let input = matrix.gathered(input.as_slice::<T>()?)?;
        let (values, us) = self.values(device, &input, matrix.size())?;
        Ok(Done { us, ..self.checked(job, (about, matrix), &input, &values)? })
    }

    /// Whether an array is sorted: each quantile has two ranks, and the library sorts to find more than
    /// eight.
    fn is_sorted(&self) -> bool {
        self.quantiles.len() > 4
    }

    /// The quantiles of each row of `input`, and the time of the selection in µs.
    fn values<T: Key>(
        &self,
        device: Option<&Device>,
        input: &[T],
        (rows, columns): (usize, usize),
    ) -> anyhow::Result<(Vec<f64>, f64)> {
        let (qs, method, is_whole) = (&self.quantiles, self.method, !self.axis.is_asked());
        if let Some(device) = device {
            let input = device.upload(input)?;
            let mut values = Vec::new();
            let us = by_rank::on_device(device, columns, |ranker| {
                values = if is_whole {
                    ranker.quantiles(&input, qs, method)?
                } else {
                    ranker.quantiles_rows(&input, (rows, columns), qs, method)?
                };
                Ok(())
            })?;
            return Ok((values, us));
        }
        let bytes = if self.is_sorted() { 4 * size_of::<u64>() * columns } else { 0 };
        let (values, us) = job::on_cpu(bytes, || {
            if is_whole {
                quantiles_on_cpu(input, qs, method)
            } else {
                quantiles_rows_on_cpu(input, (rows, columns), qs, method)
            }
        })?;
        Ok((values?, us))
    }

    /// The outcome, with `values` of each row of `input`. Checks them if `--check` is given.
    fn checked<T: Key + Standard>(
        &self,
        job: &Job<'_>,
        (about, matrix): (About, &Matrix),
        input: &[T],
        values: &[f64],
    ) -> anyhow::Result<Done> {
        let qs = &self.quantiles;
        let check = if self.check {
            job.doing("checking");
            let mut found = None;
            let rows = input.chunks(matrix.size().1.max(1)).zip(values.chunks(qs.len()));
            for (row, values) in rows {
                let reference = from_sorted(row, qs, self.method)?;
                found = found.or_else(|| wrong(qs, values, &reference));
            }
            Some(verdict(found))
        } else {
            None
        };
        let arrays = match &self.output {
            None => Vec::new(),
            Some(path) => job::unless_wrong(&check, || {
                let shape = [&[qs.len() as u64][..], &matrix.shape_of_rows()].concat();
                let by_quantile = transposed(values, qs.len())?;
                Sink::of_shape(path, Dtype::F64, &shape)?.with(&by_quantile)
            })?,
        };
        let bytes = size_of::<T>() * about.len;
        Ok(Done { bytes, arrays, ..self.report(job, (about, matrix), values, check) })
    }

    /// The text and the JSON.
    fn report(
        &self,
        job: &Job<'_>,
        (about, matrix): (About, &Matrix),
        values: &[f64],
        check: Option<Verdict>,
    ) -> Done {
        let (is_printed, method) = (self.output.is_none(), self.method.name());
        let numbers = values.iter().map(|&value| Number::Float(value));
        let pairs: Vec<_> = self.quantiles.iter().copied().zip(numbers).collect();
        let in_json = |&(q, value): &(f64, Number)| computed::Quantile { q, value };
        let fields = Fields::Quantile {
            op: "quantile",
            method,
            quantiles: is_printed.then(|| pairs.iter().map(in_json).collect()),
            output: self.output.as_ref().map(|_| job.path("output", &check)),
        };
        let of_what = || about.text("elements");
        let of_what = matrix.along().map_or_else(of_what, |along| self.axis.text(along));
        let what = format!("quantiles ({method}) of {of_what}");
        let result = is_printed.then(|| table(pairs));
        Done { result, check, ..Done::of(fields, what, about, by_rank::variant(job.place())) }
    }
}

/// The values of rows of `columns`, those of the first column first.
fn transposed(values: &[f64], columns: usize) -> Result<Vec<f64>, NoRoom> {
    let mut all = Vec::new();
    memory::reserve(&mut all, values.len())?;
    for column in 0..columns {
        all.extend(values.iter().skip(column).step_by(columns));
    }
    Ok(all)
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
