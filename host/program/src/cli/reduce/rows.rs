//! `gridsync reduce --rows` and `--axis`: reduces each row of a matrix, or each line of an array
//! along one of its dimensions, to one value. The array is read in parts of whole rows or, if rows
//! are long, of one row.

mod lines;
mod on_device;

use super::asked::{Asked, derived_of_numbers};
use super::shown::Shown;
use super::{HAVE_AN_IDENTITY, Reduce, Variant};
use crate::cli::axis;
use crate::cli::catalogue::{Lines, listed};
use crate::cli::computed::{Fields, Wrapped};
use crate::cli::exit::Usage;
use crate::cli::job::{About, Done, Job, Verdict, unless_wrong};
use crate::cli::output;
use crate::cli::sink::Sink;
use crate::data::{self, Along, Incoming};
use crate::number::Number;
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::memory;
use gridsync::primitives::{Checked, PartReducible};
use gridsync_kernels::op::{
    ArgMax, ArgMin, CompensatedSum, Deviation, LogSumExp, Max, Mean, Min, Norm, PeakToPeak,
    Product, SkipNan, Sum, SumOfMagnitudes, SumOfSquares, Then, Variance, WideSum,
};
pub(in crate::cli) use lines::LineChecks;
use lines::Reduced;
use on_device::{Plan, alone, by_halves, by_kernels};

/// Reduces rows by an operation.
type Run = fn(&Reduce, &Job<'_>, Incoming, axis::Reduced) -> anyhow::Result<Done>;

/// The row reductions with `--skip-nan`.
fn lines_of_numbers() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! add {
        ($($op:literal $ty:ty),*) => {$(
            lines.add::<$ty>($op, |call, job, input, along| {
                call.rows_by(<$ty>::asked(call)?, by_kernels, job, input, along)
            });
        )*};
    }
    macro_rules! line {
        (rows $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {
            add! { $op SkipNan<$of> }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    derived_of_numbers!(add);
    lines
}

/// The row reductions of all operations. 64-bit integers are summed in 128 bits, as for one array.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! add {
        ($op:literal $ty:ty = $value:expr, $plan:expr) => {
            lines.add::<$ty>($op, |call, job, input, along| {
                call.rows_by($value, $plan, job, input, along)
            });
        };
    }
    macro_rules! line {
        // Kernels of long rows for softmax: no kernel reduces whole arrays of these.
        (rows $value:tt (log_sum_exp_f16: $($rest:tt)*)) => {};
        (rows $value:tt (log_sum_exp_bf16: $($rest:tt)*)) => {};
        (rows $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {};
        (rows $value:tt (sum_i64: $($rest:tt)*)) => {
            add! { "sum" WideSum<i64> = WideSum::<i64>::new(), by_halves }
        };
        (rows $value:tt (sum_u64: $($rest:tt)*)) => {
            add! { "sum" WideSum<u64> = WideSum::<u64>::new(), by_halves }
        };
        (rows $value:tt ($name:ident: "var" $ty:ty, $inputs:ident)) => {
            lines.add::<$ty>("var", |call, job, input, along| {
                call.rows_by(<$ty>::asked(call)?, by_kernels, job, input, along)
            });
        };
        (rows $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            add! { $op $ty = <$ty>::new(), by_kernels }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    macro_rules! roots {
        ($($ty:ty),*) => {$(
            add! { "norm" Norm<$ty> = Norm::<$ty>::new(), by_kernels }
        )*};
    }
    roots! { f16, bf16, f32, f64, i32, u32, i64, u64 }
    macro_rules! deviations {
        ($($ty:ty),*) => {$(
            lines.add::<Deviation<$ty>>("std", |call, job, input, along| {
                call.rows_by(Deviation::<$ty>::asked(call)?, by_kernels, job, input, along)
            });
        )*};
    }
    deviations! { f32, f64, i32, u32, i64, u64 }
    macro_rules! magnitudes {
        ($($ty:ty),*) => {$(
            add! { "l1" SumOfMagnitudes<$ty> = SumOfMagnitudes::<$ty>::new(), alone }
        )*};
    }
    magnitudes! { i64, u64 }
    macro_rules! mean {
        (mean_rows $value:tt (sum_i64: $($rest:tt)*)) => {
            add! { "mean" Mean<WideSum<i64>> = Mean::new(WideSum::<i64>::new()), by_halves }
        };
        (mean_rows $value:tt (sum_u64: $($rest:tt)*)) => {
            add! { "mean" Mean<WideSum<u64>> = Mean::new(WideSum::<u64>::new()), by_halves }
        };
        (mean_rows $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            add! { "mean" Mean<$ty> = Mean::new(<$ty>::new()), by_kernels }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(mean);
    // The accumulators of --acc. They have kernels for one array, but not for many rows.
    macro_rules! more {
        ($($ty:ty),*) => {$(
            add! { "sum" $ty = <$ty>::new(), alone }
            add! { "mean" Mean<$ty> = Mean::new(<$ty>::new()), alone }
        )*};
    }
    more! {
        Sum<f32, f64>, Sum<f16, f64>, Sum<bf16, f64>, CompensatedSum<f32>, CompensatedSum<f64>
    }
    lines
}

/// The results of the rows, and how they were computed.
struct Rows<T> {
    results: Vec<T>,
    check: Option<Verdict>,
    about: About,
    along: Along,
    /// The shape of the results.
    shape: Vec<u64>,
    variant: &'static str,
    /// Time in µs.
    us: f64,
    /// Elements of a part, if the array was processed in parts.
    part: Option<usize>,
}

impl Reduce {
    /// Reduces each row of `input`.
    pub(super) fn reduce_rows(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        let lines_of = self.lines_of(&input)?;
        let along = lines_of.along;
        let flag = self.axis.flag();
        if self.variant == Variant::Tiles {
            let why = format!("--variant tiles is for one value: leave it out with {flag}");
            return Err(Usage(why).into());
        }
        let (op, dtype) = (self.op(), input.dtype());
        let lines = if self.skips_nan(dtype) { lines_of_numbers() } else { lines() };
        if !lines.names().contains(&op) {
            let names = lines.names().join(" ");
            let skip = if self.skips_nan(dtype) { " with --skip-nan" } else { "" };
            return Err(Usage(format!("{flag}{skip} supports --op {names}, not {op}")).into());
        }
        if lines.find(op, dtype, None).is_none() {
            return Err(Usage(format!(
                "{flag} supports {op} of {}, not of {dtype}: convert them",
                listed(&lines.types_of(op))
            ))
            .into());
        }
        self.refuse_accumulator(dtype)?;
        if along.lines() > 0 {
            self.refuse_ddof(along.len())?;
        }
        let run = lines.find(op, dtype, self.acc).expect("each accumulator has a line");
        run(self, job, input, lines_of)
    }

    /// The rows, if they can be reduced.
    fn lines_of(&self, input: &Incoming) -> Result<axis::Reduced, Usage> {
        let lines_of = self.axis.reduced(input.shape())?;
        let along = lines_of.along;
        let lines = along.lines();
        // argmin, argmax, min, max and ptp need an element even without results, as in NumPy.
        let is_defined = match self.op() {
            "mean" | "var" | "std" => lines == 0,
            op => HAVE_AN_IDENTITY.contains(&op),
        };
        if along.is_empty() && !is_defined {
            return Err(Usage(format!(
                "the {} of no elements is not defined: {} has none",
                self.op(),
                self.axis.text(along)
            )));
        }
        Ok(lines_of)
    }

    /// Reduces the rows, and checks each if `--check` is given.
    fn rows_by<O>(
        &self,
        op: O,
        plan: Plan<O>,
        job: &Job<'_>,
        input: Incoming,
        lines_of: axis::Reduced,
    ) -> anyhow::Result<Done>
    where
        O: PartReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown + Send,
    {
        let variant = match self.variant(job.place())? {
            "tiles" => "rows",
            other => other,
        };
        job.place().device(&format!("reduce {}", self.axis.flag()))?;
        let axis::Reduced { along, moved, kept: shape } = lines_of;
        let about = About::of(&input);
        let rows = along.lines();
        // Memory for the results, and for the values that they are computed from.
        memory::probe(rows.saturating_mul(2 * size_of::<O::Output>()))?;
        let part = self.parts.of(job, input.len(), size_of::<O::Element>())?;
        let mut reduced = Reduced::new(op, plan, along, self.check)?;
        let part = match moved {
            Some(axes) if !along.is_empty() => reduced.take_moved(job, input, &axes, part)?,
            _ => reduced.take(job, input, part)?,
        };
        let taken = self.parts.taken(job, part, about.len);
        let Reduced { results, us, checks, .. } = reduced;
        let check = checks.map(|checks| checks.verdict("rows", rows));
        self.report_rows(
            job,
            Rows { results, check, about, along, shape, variant, us, part: taken },
        )
    }

    /// The report of the row results, which are written if a file is given.
    fn report_rows<T: Shown>(&self, job: &Job<'_>, found: Rows<T>) -> anyhow::Result<Done> {
        let Rows { results, check, about, along, shape, variant, us, part } = found;
        let (rows, shown) = (along.lines(), self.result_type(about.dtype()));
        let wrapped: Vec<_> = results
            .iter()
            .enumerate()
            .filter_map(|(row, sum)| Some((row, sum.wrapped(shown)?)))
            .collect();
        let note = wrapped.first().map(|(row, sum)| {
            format!(
                "{} of {rows} sums wrapped around in 64 bits: that of row {row} is {sum}",
                wrapped.len()
            )
        });
        let numbers = results.iter().map(|&x| x.number(shown));
        let mut in_json = None;
        let (result, arrays) = match &self.output {
            Some(out) => {
                let begin = |dtype| Sink::of_shape(out, dtype, &shape);
                let write = || T::write(&results, shown, begin);
                (None, unless_wrong(&check, write)?)
            }
            None if job.global.json => {
                in_json = Some(numbers.collect());
                (None, Vec::new())
            }
            None => (Some(output::first(numbers.map(Number::text), "rows")), Vec::new()),
        };
        let op = self.op().to_owned();
        let what = format!("{op} of {} of {}", self.axis.text(along), about.text("elements"));
        let exact = |(row, sum): (usize, i128)| Wrapped { row, exact: sum.to_string() };
        let fields = Fields::Rows {
            wrapped: matches!(&*op, "sum" | "l1").then(|| wrapped.into_iter().map(exact).collect()),
            op,
            rows,
            columns: along.len(),
            results: in_json,
            output: job.path("output", &check),
        };
        Ok(Done {
            result,
            lines: note.into_iter().collect(),
            us,
            bytes: about.len * about.dtype().size(),
            part,
            check,
            arrays,
            ..Done::of(fields, what, about, variant)
        })
    }
}
