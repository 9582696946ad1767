//! `gridsync range-sum`: the sums of ranges of an array.

mod certain;
mod ranges;

use super::Global;
use super::catalogue::{Lines, PlainAcc};
use super::choice::Place;
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Input, Stored};
use crate::number::Number;
use bytemuck::Pod;
use certain::Certainty;
use cuda_std::{bf16, f16};
use gridsync::primitives::{PartRangeSums, RangeSummable};
use gridsync::reference;
use gridsync_kernels::op::Sum;
use ranges::Ranges;
use std::ffi::OsString;

/// Sum many ranges of an array
///
/// The array is flattened in C order. QUERIES is an array of integers with m rows and two
/// columns, from and to: row i asks for the sum of the elements from..to, without element to, like
/// x[from:to].sum() in numpy. The output has m sums. The array is scanned once; a query then needs
/// two reads and a subtraction. Integers are summed in 64 bits, exactly, and wrap around there.
/// Floating-point numbers are summed in f64, unless --acc says f32. A sum is the difference of two
/// prefix sums, and as accurate as these: its error bound, which --check uses, is the bound for all
/// elements up to the range's end. A note counts the sums that have fewer than three certain digits
/// (in JSON "uncertain"). Ranges that begin after a NaN or an infinity are NaN; the sum of
/// no elements is 0. A query that is not a range of the array is an error, and nothing is written.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RangeSum {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// A .npy file with m × 2 integers.
    queries: OsString,
    /// The .npy file to write; `-` is standard output, which then has nothing else.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: OsString,
    /// Compare the sums with a loop on the CPU, and print the worst difference and its bound.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    /// The type to accumulate floating-point sums in; f64 if not given.
    #[arg(long)]
    acc: Option<PlainAcc>,
    #[command(flatten)]
    parts: Parts,
}

impl RangeSum {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .reads("QUERIES", &self.queries)
            .writes("output", Some(&self.output));
        let remedy = "process fewer elements at a time with --part, or fewer queries";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let queries = self.queries()?;
            let elements = About::of(&input).text("elements");
            let what = format!("{} ranges of {elements}", queries.len());
            let work = Cost::SCAN.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input, &queries)
        })
    }

    /// The ranges of the queries.
    fn queries(&self) -> anyhow::Result<Vec<[u64; 2]>> {
        let input = Input::parse(self.queries.clone());
        let array = data::read(&input, None)?;
        let &[_, 2] = array.shape() else {
            return Err(Usage(format!(
                "{input}: queries must be an array of m × 2 integers, from and to; this one has the shape {:?}",
                array.shape()
            ))
            .into());
        };
        macro_rules! by_dtype {
            ($($dtype:ident: $ty:ty;)*) => {
                match array.dtype() {
                    $(Dtype::$dtype => ranges(array.as_slice::<$ty>()?),)*
                    dtype => Err(Usage(format!(
                        "{input}: queries must be integers, not {dtype}: convert them to i64"
                    ))
                    .into()),
                }
            };
        }
        by_dtype! { I32: i32; U32: u32; I64: i64; U64: u64; }
    }

    fn dispatch(
        &self,
        job: &Job<'_>,
        input: Incoming,
        queries: &[[u64; 2]],
    ) -> anyhow::Result<Done> {
        let dtype = input.dtype();
        let is_integer = matches!(dtype, Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64);
        let acc = match self.acc {
            Some(_) if is_integer => {
                return Err(Usage(format!(
                    "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
                ))
                .into());
            }
            Some(PlainAcc::F32) if dtype == Dtype::F64 => {
                let why = "--acc f32 would lose digits of f64 elements: leave it out";
                return Err(Usage(why.into()).into());
            }
            None if is_integer => None,
            acc => Some(acc.unwrap_or(PlainAcc::F64).into()),
        };
        let sums = lines().find("sum", dtype, acc).expect("each type has a line for range sums");
        sums(self, job, input, queries)
    }
}

/// Computes the range sums.
type Run = fn(&RangeSum, &Job<'_>, Incoming, &[[u64; 2]]) -> anyhow::Result<Done>;

/// The range sums of all element types.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (ranges $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |call, job, input, queries| {
                call.sums(<$ty>::new(), job, input, queries)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    lines
}

/// Converts pairs of integers. Negative ones are an error, because indices start at 0.
fn ranges<T: Copy + Into<i128>>(ends: &[T]) -> anyhow::Result<Vec<[u64; 2]>> {
    let (pairs, _) = ends.as_chunks::<2>();
    let place = |end: T| u64::try_from(end.into());
    let range = |(query, &[from, to]): (usize, &[T; 2])| match (place(from), place(to)) {
        (Ok(from), Ok(to)) => Ok([from, to]),
        _ => Err(Usage(format!(
            "query {query}: {}..{} is not a valid range; indices start at 0",
            from.into(),
            to.into()
        ))
        .into()),
    };
    pairs.iter().enumerate().map(range).collect()
}

impl RangeSum {
    /// Sums part by part, and checks the sums if `--check` is given.
    fn sums<O>(
        &self,
        op: O,
        job: &Job<'_>,
        input: Incoming,
        queries: &[[u64; 2]],
    ) -> anyhow::Result<Done>
    where
        O: RangeSummable,
        O::Element: Pod + data::Scalar,
        O::Output: Pod + data::Scalar + Into<Number>,
    {
        let (about, len) = (About::of(&input), input.len());
        let bytes = size_of::<O::Element>() + size_of::<O::Output>();
        let part = self.parts.of(job, len, bytes)?;
        let place = job.place();
        let mut ranges = match place {
            Place::Devices(devices) if part >= len && devices.len() == 1 => {
                Ranges::on_device(op, &devices[0], len, queries)?
            }
            Place::Devices(devices) => {
                Ranges::InParts(PartRangeSums::new(op, devices, len, queries, part)?)
            }
            Place::Cpu => Ranges::InParts(PartRangeSums::on_cpu(op, len, queries, part)?),
        };
        let part = ranges.part(len);
        let taken = self.parts.taken(job, part, len);
        let depth = reference::scan_depth::<O>(len);
        let checking = self.check.then(|| op.checking_ranges(queries, depth));
        let mut checking = checking.transpose()?;
        let mut certainty = Certainty::new();
        job.each_part(input, part, |elements| {
            ranges.take(elements)?;
            certainty.next::<O>(elements);
            if let Some(checking) = &mut checking {
                checking.next(elements);
            }
            Ok(())
        })?;
        let (sums, us) = ranges.sums()?;
        let found = checking.and_then(|checking| checking.check(&sums));
        let check = found.map(|found| Verdict::of_many(found, "the sum of query"));
        let shape = [queries.len() as u64];
        let sum = <O::Output as data::Scalar>::DTYPE;
        let arrays =
            job::unless_wrong(&check, || Sink::of_shape(&self.output, sum, &shape)?.with(&sums))?;
        let uncertain = certainty.uncertain::<O>(queries, &sums, depth);
        let fields = Fields::RangeSum {
            op: "range-sum",
            queries: queries.len(),
            uncertain: uncertain.count,
            output: job.path("output", &check),
        };
        let variant = match place {
            Place::Devices(_) => "prefix-difference",
            Place::Cpu => "rayon",
        };
        let what = format!("{} ranges of {}", queries.len(), about.text("elements"));
        Ok(Done {
            lines: uncertain.note(queries).into_iter().collect(),
            us,
            bytes: len * bytes + size_of_val(queries) + size_of_val(&sums[..]),
            part: taken,
            check,
            arrays,
            ..Done::of(fields, what, about, variant)
        })
    }
}
