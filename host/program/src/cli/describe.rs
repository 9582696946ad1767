//! `gridsync describe`: several statistics of an array in one read.

use super::Global;
use super::catalogue::{Lines, listed};
use super::choice::Place;
use super::computed::{self, Fields};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::work::Cost;
use crate::data::{self, Incoming, Stored};
use crate::number::Number;
use bytemuck::Pod;
use gridsync::primitives::{Check, Checked, PartReducer, PartReducible};
use gridsync::reference;
use gridsync_kernels::op::{Describable, Describe as Statistics, Description};
use gridsync_lab::count::within;
use gridsync_lab::display::rounded;
use std::ffi::OsString;

/// Describe an array: count, mean, deviation, extremes, sum
///
/// One read of the array. Elements that are NaN are counted, and left out of everything else. mean, std
/// and the sum of floating-point elements are computed in f64; the sum of integers is exact, and their
/// mean is the true one, rounded once. std is the standard deviation. It divides by the count minus N
/// with --ddof N, and is NaN if an element is infinite. What is not defined, as the mean of no numbers,
/// is printed as - and is null in JSON. Elements are f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16 bool,
/// which are widened. An array in Fortran order is read in the order of its file.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Describe {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The number that is subtracted from the count in the divisor of std.
    #[arg(long, value_name = "N", default_value = "0", value_parser = within::<u64>(0..=u64::MAX))]
    ddof: u64,
    /// Compare each statistic with the CPU reference.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

/// Describes an array of one type.
type Run = fn(&Describe, &Job<'_>, Incoming) -> anyhow::Result<Done>;

/// The name of the operation in the catalogue.
const OP: &str = "describe";

/// The operation for each type of elements.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (reduce $value:tt ($name:ident: "describe" Describe<$ty:ty>, $inputs:ident)) => {
            lines.add::<Statistics<$ty>>(OP, |call, job, input| call.describe::<$ty>(job, input));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    lines
}

impl Describe {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("INPUT", &self.input);
        let remedy = "process fewer elements at a time with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let (lines, dtype) = (lines(), input.dtype());
            let Some(run) = lines.find(OP, dtype, None) else {
                let types = listed(&lines.types_of(OP));
                let why = format!("describe supports {types}, not {dtype}: convert them");
                return Err(Usage(why).into());
            };
            let (work, what) = (Cost::DESCRIBE.of(input.len()), About::of(&input).text("elements"));
            let input = job.choose_for(input, work, &what)?;
            run(&self, job, input.in_any_order())
        })
    }

    /// Describes part by part, and checks the result if `--check` is given.
    fn describe<T>(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done>
    where
        T: Describable<Total: Total> + Pod + data::Scalar + Into<Number>,
        Statistics<T>: PartReducible<Element = T, Output = Description<T>> + Checked,
    {
        let (about, len) = (About::of(&input), input.len());
        let op = Statistics::<T>::with_ddof(self.ddof);
        let part = self.parts.of(job, len, size_of::<T>())?;
        let (mut reducer, variant) = match job.place() {
            Place::Cpu => (PartReducer::on_cpu(op, len, part), "rayon"),
            Place::Devices(devices) => (PartReducer::new(op, devices, len, part)?, "tiles"),
        };
        let part = reducer.part();
        let taken = self.parts.taken(job, part, len);
        let mut checking = self.check.then(|| op.checking(len));
        job.each_part(input, part, |elements| {
            reducer.next(elements)?;
            if let Some(checking) = &mut checking {
                checking.next(elements);
            }
            Ok(())
        })?;
        let us = reducer.us();
        let found = reducer.finish();
        let depth = reference::reduce_depth::<Statistics<T>>(len);
        let check = checking.map(|checking| verdict(&found, &checking.check(found, depth)));
        let what = format!("statistics of {}", about.text("elements"));
        Ok(Done {
            result: Some(table(&found)),
            us,
            bytes: len * size_of::<T>(),
            part: taken,
            check,
            ..Done::of(self.fields(&found), what, about, variant)
        })
    }

    /// The fields of the JSON.
    fn fields<T>(&self, found: &Description<T>) -> Fields
    where
        T: Describable<Total: Total> + Into<Number>,
    {
        let Description { count, nan, min, max, mean, deviation, sum } = *found;
        Fields::Describe {
            op: OP,
            ddof: self.ddof,
            count,
            nan,
            mean: mean.map(Number::from),
            std: deviation.map(Number::from),
            min: min.map(T::into),
            max: max.map(T::into),
            sum: sum.number(),
            exact: sum.exact(),
        }
    }
}

/// A sum of any type.
trait Total: gridsync_kernels::op::Total {
    /// The sum, or the nearest f64 if it is an integer that needs more than 64 bits.
    fn number(self) -> Number;

    /// The digits of an integer that needs more than 64 bits.
    fn exact(self) -> Option<String> {
        None
    }

    /// All digits.
    fn text(self) -> String {
        self.exact().unwrap_or_else(|| self.number().text())
    }
}

macro_rules! totals {
    ($($ty:ty),*) => {$(
        impl Total for $ty {
            fn number(self) -> Number {
                self.into()
            }
        }
    )*};
}
totals!(f64, i64, u64);

impl Total for i128 {
    fn number(self) -> Number {
        let signed = i64::try_from(self).map(Number::from);
        let unsigned = || u64::try_from(self).map(Number::from);
        signed.or_else(|_| unsigned()).unwrap_or(Number::Float(self as f64))
    }

    fn exact(self) -> Option<String> {
        let fits = i64::try_from(self).is_ok() || u64::try_from(self).is_ok();
        (!fits).then(|| self.to_string())
    }
}

/// A line for each statistic.
fn table<T>(found: &Description<T>) -> String
where
    T: Describable<Total: Total> + Into<Number>,
{
    let Description { count, nan, min, max, mean, deviation, sum } = *found;
    let text = |x: Option<Number>| x.map_or_else(|| "-".to_owned(), Number::text);
    let lines = [
        ("count", count.to_string()),
        ("NaN", nan.to_string()),
        ("mean", text(mean.map(Number::from))),
        ("std", text(deviation.map(Number::from))),
        ("min", text(min.map(T::into))),
        ("max", text(max.map(T::into))),
        ("sum", sum.text()),
    ];
    lines.map(|(name, value)| format!("{name:5}  {value}")).join("\n")
}

/// The verdict on a description.
fn verdict<T>(found: &Description<T>, check: &Check<Description<T>>) -> Verdict
where
    T: Describable<Total: Total> + Into<Number>,
{
    let Check { reference, abs_err, bound, ok } = check;
    let off = format!("off by {}, allowed {}", rounded(*abs_err), rounded(*bound));
    let said = if !ok {
        "WRONG"
    } else if *bound == f64::INFINITY {
        "nothing can be promised, since partial results may overflow"
    } else {
        "right"
    };
    let in_a_line = |of: &Description<T>| {
        let words = table(of).replace('\n', ", ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    Verdict {
        json: computed::Check::Whole { ok: *ok },
        line: format!("compared with the reference, the worst {off}: {said}"),
        wrong: (!ok).then(|| {
            format!(
                "the result is wrong: {}; the reference is {}; {off}",
                in_a_line(found),
                in_a_line(reference)
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: Description<i64> = Description {
        count: 2,
        nan: 0,
        min: Some(i64::MAX),
        max: Some(i64::MAX),
        mean: Some(9.223_372_036_854_776e18),
        deviation: None,
        sum: 2 * i64::MAX as i128,
    };

    #[test]
    fn a_table_has_all_digits_and_a_dash_for_what_is_not_defined() {
        let lines = [
            "count  2",
            "NaN    0",
            "mean   9.223372036854776e18",
            "std    -",
            "min    9223372036854775807",
            "max    9223372036854775807",
            "sum    18446744073709551614",
        ];
        assert_eq!(table(&FOUND), lines.join("\n"));
    }

    #[test]
    fn a_sum_beyond_64_bits_is_rounded_and_has_its_digits() {
        assert_eq!((u64::MAX as i128).number(), Number::Unsigned(u64::MAX));
        assert_eq!((u64::MAX as i128).exact(), None);
        assert_eq!((i64::MIN as i128).number(), Number::Signed(i64::MIN));
        let large = i128::from(u64::MAX) + 1;
        assert_eq!(large.number(), Number::Float(2f64.powi(64)));
        assert_eq!(large.exact().as_deref(), Some("18446744073709551616"));
        assert_eq!(large.text(), "18446744073709551616");
    }

    #[test]
    fn a_wrong_result_is_shown_with_its_reference() {
        let reference = Description { count: 3, ..FOUND };
        let check = Check { reference, abs_err: f64::INFINITY, bound: 0.0, ok: false };
        let wrong = verdict(&FOUND, &check).wrong.expect("it is wrong");
        for part in ["count 2, NaN 0,", "the reference is count 3, NaN 0,"] {
            assert!(wrong.contains(part), "{wrong}");
        }
        assert!(verdict(&FOUND, &Check { ok: true, ..check }).wrong.is_none());
    }
}
