//! `gridsync scan`: for each element of an array, combines all elements up to it.

mod rows;

use super::Global;
use super::axis::Axis;
use super::catalogue::{Lines, PlainAcc, listed};
use super::choice::Place;
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Stored};
use crate::number::Number;
use bytemuck::Pod;
use clap::builder::PossibleValuesParser;
use cuda_std::{bf16, f16};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{PartScanner, ScanChecked};
use gridsync::reference;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{And, Count, LogSumExp, Max, Min, Or, Product, SkipNan, Sum, Xor};
use std::ffi::OsString;

/// Write, for each element, the combination of all elements up to it
///
/// The array is flattened in C order, and the output has one dimension, as numpy.cumsum without an
/// axis. --rows and --axis scan along one dimension by sum, min or max, and the output has the shape of
/// the array; they convert f16 and bf16 to f32, and on a GPU or with --check hold all of it. Integers are summed and multiplied in 64 bits and
/// wrap around there: the output of i32 is i64, that of u32 u64. Floating-point sums and products are
/// computed in a fixed order, in f32 for f32, f16 and bf16 and in f64 for f64, unless --acc says
/// otherwise; the output is of that type. Counts are written as u64. After a NaN, a sum, product,
/// minimum and maximum is NaN; -0 is less than +0; count counts the elements that are not zero. sum is
/// for all element types; prod, min and max for those of 4 and 8 bytes; xor, and and or for i32 and
/// u32; count for those and f32; logsumexp, ln of the sum of exponentials in f64, for f32 and f64. An
/// exclusive scan begins with the value of no elements: 0 for sum (-0.0 if floating point), count, xor
/// and or, 1 for prod, all bits for and, the greatest value for min (inf if floating point), the least
/// for max, -inf for logsumexp. An output is written whole or not at all, and not if
/// --check finds it wrong.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Scan {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The operation that combines the elements.
    #[arg(long, value_parser = PossibleValuesParser::new(lines().names()))]
    op: String,
    /// The .npy file to write; `-` is standard output, which then has nothing else.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: OsString,
    /// Leave out the element itself: combine those before it.
    #[arg(long)]
    exclusive: bool,
    #[command(flatten)]
    axis: Axis,
    /// Compare the results with a loop on the CPU, and print the worst difference and its bound.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    /// The type to accumulate a floating-point sum or product in.
    #[arg(long)]
    acc: Option<PlainAcc>,
    /// Ignore elements that are NaN, for sum, prod, min and max: the result at such an element is that
    /// of the elements before it.
    #[arg(long, conflicts_with = "lines")]
    skip_nan: bool,
    #[command(flatten)]
    parts: Parts,
}

/// Runs an operation.
type Run = fn(&Scan, &Job<'_>, Incoming) -> anyhow::Result<Done>;

/// All operations that scan arrays.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (scan $value:tt (sum_compensated_f32: $($rest:tt)*)) => {};
        (scan $value:tt (sum_compensated_f64: $($rest:tt)*)) => {};
        (scan $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {};
        (scan $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |call, job, input| call.scan(<$ty>::new(), job, input));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    lines
}

/// The operations with `--skip-nan`.
fn lines_of_numbers() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (scan $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {
            lines.add::<SkipNan<$of>>($op, |call, job, input| {
                call.scan(SkipNan::<$of>::new(), job, input)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    lines
}

impl Scan {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files =
            Files::default().reads("INPUT", &self.input).writes("output", Some(&self.output));
        job::run(global, &files, self.remedy(), |job| {
            let input = job.open(&self.input, self.dtype)?;
            self.refuse_what_makes_no_sense(input.dtype())?;
            let (work, what) =
                (self.cost(&input)?.of(input.len()), About::of(&input).text("elements"));
            let input = job.choose_for(input, work, &what)?;
            match self.axis.is_asked() {
                true => self.scan_rows(job, input),
                false => self.dispatch(job, input),
            }
        })
    }

    /// Cost of an element.
    fn cost(&self, input: &Incoming) -> Result<Cost, Usage> {
        let is_rounded = input.dtype().is_float() && self.op == "sum";
        let interleave = self.axis.is_asked() && !self.axis.along(input.shape())?.is_in_place();
        Ok(if interleave && is_rounded { Cost::SCAN_COLUMNS } else { Cost::SCAN })
    }

    /// The remedy if memory runs out.
    fn remedy(&self) -> &'static str {
        match self.axis.is_asked() {
            true => {
                "on a GPU, and with --check, all rows and their results are held: scan some of them at a time"
            }
            false => "process fewer elements at a time with --part",
        }
    }

    fn form(&self) -> Form {
        match self.exclusive {
            false => Form::Inclusive,
            true => Form::Exclusive,
        }
    }

    fn refuse_what_makes_no_sense(&self, dtype: Dtype) -> anyhow::Result<()> {
        let is_float = dtype.is_float();
        let usage = |message: String| Err(Usage(message).into());
        match self.acc {
            Some(_) if !is_float => usage(format!(
                "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
            )),
            Some(_) if !matches!(self.op.as_str(), "sum" | "prod") => {
                usage(format!("--acc is for sum and prod; {} does not round", self.op))
            }
            Some(PlainAcc::F32) if dtype == Dtype::F64 => {
                usage("--acc f32 would lose digits of f64 elements: leave it out".into())
            }
            Some(_) if self.skips_nan(dtype) => {
                usage("--skip-nan has one accumulator for each type: leave --acc out".into())
            }
            _ => Ok(()),
        }
    }

    /// Whether elements that are NaN are skipped. Integers have none.
    fn skips_nan(&self, dtype: Dtype) -> bool {
        self.skip_nan && dtype.is_float()
    }

    /// The error that the operation does not scan elements of `dtype`.
    fn no_such<F: Copy>(&self, dtype: Dtype, lines: &Lines<F>) -> Usage {
        Usage(format!(
            "--op {} scans elements of {}, not of {dtype}: convert them",
            self.op,
            listed(&lines.types_of(&self.op))
        ))
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        let dtype = input.dtype();
        let lines = if self.skips_nan(dtype) { lines_of_numbers() } else { lines() };
        if !lines.names().contains(&self.op.as_str()) {
            let names = lines.names().join(" ");
            let why = format!("--skip-nan supports --op {names}, not {}", self.op);
            return Err(Usage(why).into());
        }
        match lines.find(&self.op, dtype, self.acc.map(Into::into)) {
            Some(run) => run(self, job, input),
            None => Err(self.no_such(dtype, &lines).into()),
        }
    }

    /// Scans part by part, and writes each part immediately. With `--check`, the file appears, and
    /// a stream gets its elements, only after the check.
    fn scan<O>(&self, op: O, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done>
    where
        O: Scannable + ScanChecked,
        O::Element: Pod + data::Scalar,
        O::Output: Pod + data::Scalar + Into<Number>,
    {
        let (about, len, form) = (About::of(&input), input.len(), self.form());
        let bytes = size_of::<O::Element>() + size_of::<O::Output>();
        let part = self.parts.of(job, len, bytes)?;
        let mut scanner = match job.place() {
            Place::Cpu => PartScanner::on_cpu(op, len, form, part)?,
            Place::Devices(devices) => PartScanner::new(op, devices, len, form, part)?,
        };
        let part = scanner.part();
        let taken = self.parts.taken(job, part, len);
        let (to, dtype) = (&self.output, <O::Output as data::Scalar>::DTYPE);
        let (mut array, mut checking) = match self.check {
            true => {
                let depth = reference::scan_depth::<O>(len);
                (Sink::growing(to, dtype)?, Some(op.checking_scan(form, depth)))
            }
            false => (Sink::of_shape(to, dtype, &[len as u64])?, None),
        };
        job.each_part(input, part, |elements| {
            array.fill(job, elements.len(), |results| {
                scanner.next(elements, results)?;
                if let Some(checking) = &mut checking {
                    checking.next(elements, results);
                }
                Ok(())
            })
        })?;
        let found = checking.and_then(|checking| checking.worst());
        let check = found.map(|found| Verdict::of_many(found, "the result at"));
        let arrays = job::unless_wrong(&check, || Ok(array))?;
        let done = self.done(job, about, &check);
        Ok(Done { us: scanner.us(), bytes: len * bytes, part: taken, check, arrays, ..done })
    }

    /// The fields of the outcome that all scans share.
    fn done(&self, job: &Job<'_>, about: About, check: &Option<Verdict>) -> Done {
        let form = match self.form() {
            Form::Inclusive => "inclusive",
            Form::Exclusive => "exclusive",
        };
        let op = self.op.clone();
        let what = format!("{form} {op} of {}", about.text("elements"));
        let variant = match job.place() {
            Place::Devices(_) => "single-pass",
            Place::Cpu => "rayon",
        };
        Done::of(Fields::Scan { op, output: job.path("output", check) }, what, about, variant)
    }
}
