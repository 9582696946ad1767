//! `gridsync range-sum`: the sums of ranges of an array.

use super::checked::Found;
use super::choice::Place;
use super::exit::Usage;
use super::files::Files;
use super::number::Number;
use super::parts::{About, Parts, each_part, time_with_bar};
use super::reduce::median;
use super::{Global, output};
use bytemuck::Pod;
use clap::ValueEnum;
use cuda_std::{bf16, f16};
use gridsync::data::{self, Dtype, Incoming, Input, Output};
use gridsync::device::Device;
use gridsync::primitives::range_sum::{
    BadRange, RangeSumError, RangeSums, check_range_sums, range_sums_on_cpu,
};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{PartRangeSums, RangeSummable, Scanner, range_sums_in_parts};
use gridsync_kernels::op::Sum;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Instant;

/// Sum ranges of an array: as many as there are queries
///
/// The array is taken as flat, in C order. QUERIES is an array of integers of m rows and two columns,
/// from and to: row i asks for the sum of the elements from..to, the last one left out, as numpy does
/// by x[from:to].sum(). The output has m sums. The array is scanned once; a query then takes two reads
/// and a subtraction. Integers are summed in 64 bits, exactly, and wrap around there. Floating-point
/// numbers are summed in f64, unless --acc says f32; a sum is the difference of the sums of all
/// elements up to either end, and as accurate as those are: its error bound, which --check takes, is
/// that of all elements up to the range's end. From a NaN or an infinity on, ranges that begin behind
/// it are NaN; the sum of no elements is 0. A query that is no range of the array is an error, and
/// nothing is written.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RangeSum {
    /// A .npy file, or raw little-endian numbers (with --dtype); `-` is standard input.
    input: OsString,
    /// A .npy file of m × 2 integers.
    queries: OsString,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64.
    #[arg(long)]
    dtype: Option<Dtype>,
    /// The type to accumulate floating-point sums in; f64 if not given.
    #[arg(long)]
    acc: Option<Acc>,
    #[command(flatten)]
    parts: Parts,
    /// The .npy file to write; `-` is standard output, which then has nothing else.
    #[arg(short, long, value_name = "OUT")]
    output: OsString,
    /// Compare the sums with those of a loop on the CPU, and print the worst difference and its bound.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Acc {
    F32,
    F64,
}

/// What the queries gave.
struct Outcome {
    /// The type of the sums.
    dtype: Dtype,
    bytes: Vec<u8>,
    check: Option<Found>,
    /// The median time of a scan and all queries; with all copies, if it was in parts.
    median_us: f64,
    /// Elements of a part, if it was not all of them at once.
    part: Option<usize>,
}

impl RangeSum {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("INPUT", &self.input);
        let files = files.reads("QUERIES", &self.queries);
        let files = files.writes("output", Some(&self.output));
        files.refuse_what_collides(global)?;
        let to = Output::parse(self.output.clone());
        let input = data::open(&Input::parse(self.input.clone()), self.dtype)?;
        let (dtype, len) = (input.dtype(), input.len());
        let queries = self.queries()?;
        let place = global.device.place()?;
        if global.verbose {
            let m = queries.len();
            eprintln!(
                "{m} ranges of {len} elements of {dtype} on {}",
                place.name()
            );
        }
        let outcome = self.dispatch(input, &queries, &place, global)?;
        let failed = outcome.check.filter(|found| !found.is_right());
        if failed.is_none() {
            let shape = [queries.len() as u64];
            data::write_npy(&to, outcome.dtype, &shape, &outcome.bytes)?;
        }
        if to != Output::Stdout && (!global.quiet || global.json) {
            let written = failed.is_none().then_some(&to);
            let about = About { dtype, len };
            let text = || text(written, &about, &queries, &place, &outcome);
            let json = || json(written, &about, &queries, &place, &outcome);
            output::result(global, text, json)?;
        }
        match failed {
            Some(found) => Err(found.error("the sum of query").into()),
            None => Ok(()),
        }
    }

    /// The ranges that are asked for.
    fn queries(&self) -> anyhow::Result<Vec<[u64; 2]>> {
        let input = Input::parse(self.queries.clone());
        let array = data::read(&input, None)?;
        let &[_, 2] = array.shape() else {
            return Err(Usage(format!(
                "{input}: queries are an array of m × 2 integers, from and to; this one has the shape {:?}",
                array.shape()
            ))
            .into());
        };
        macro_rules! by_dtype {
            ($($dtype:ident: $ty:ty;)*) => {
                match array.dtype() {
                    $(Dtype::$dtype => ranges(array.as_slice::<$ty>()?),)*
                    dtype => Err(Usage(format!(
                        "{input}: queries are integers, not {dtype}: convert them to i64"
                    ))
                    .into()),
                }
            };
        }
        by_dtype! { I32: i32; U32: u32; I64: i64; U64: u64; }
    }

    fn dispatch(
        &self,
        input: Incoming,
        queries: &[[u64; 2]],
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome> {
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty;)*) => {
                match input.dtype() {
                    $(Dtype::$dtype => self.sums(<$op>::new(), input, queries, place, global),)*
                }
            };
        }
        let dtype = input.dtype();
        match self.acc {
            Some(_) if matches!(dtype, Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64) => {
                Err(Usage(format!(
                    "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
                ))
                .into())
            }
            Some(Acc::F32) if dtype == Dtype::F64 => Err(Usage(
                "--acc f32 would lose digits of f64 elements: leave it out".into(),
            )
            .into()),
            Some(Acc::F32) => by_dtype! {
                F16: Sum<f16, f32>; Bf16: Sum<bf16, f32>; F32: Sum<f32>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: Sum<i64>; U64: Sum<u64>;
            },
            Some(Acc::F64) | None => by_dtype! {
                F16: Sum<f16, f64>; Bf16: Sum<bf16, f64>; F32: Sum<f32, f64>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: Sum<i64>; U64: Sum<u64>;
            },
        }
    }
}

/// Integers in pairs, which have to be places in an array.
fn ranges<T: Copy + Into<i128>>(ends: &[T]) -> anyhow::Result<Vec<[u64; 2]>> {
    let (pairs, _) = ends.as_chunks::<2>();
    let place = |end: T| u64::try_from(end.into());
    let range = |(query, &[from, to]): (usize, &[T; 2])| match (place(from), place(to)) {
        (Ok(from), Ok(to)) => Ok([from, to]),
        _ => Err(Usage(format!(
            "query {query}: {}..{} is no range: places are counted from 0",
            from.into(),
            to.into()
        ))
        .into()),
    };
    pairs.iter().enumerate().map(range).collect()
}

/// What a query that is no range of the array is to the user.
fn usage(bad: BadRange) -> anyhow::Error {
    Usage(bad.to_string()).into()
}

impl RangeSum {
    /// Sums, checks if asked to, and times: the median of several runs where a run is cheap.
    fn sums<O>(
        &self,
        op: O,
        input: Incoming,
        queries: &[[u64; 2]],
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome>
    where
        O: RangeSummable,
        O::Element: Pod + data::Scalar,
        O::Output: Pod + data::Scalar + Into<Number>,
    {
        // The time is that of a scan beside the sums that are kept.
        let bytes = size_of::<O::Element>() + 2 * size_of::<O::Output>();
        let part = self.parts.of(place, input.len(), bytes)?;
        let outcome = |sums: &[O::Output], check: Option<_>, median_us, part| Outcome {
            dtype: <O::Output as data::Scalar>::DTYPE,
            bytes: bytemuck::cast_slice(sums).to_vec(),
            check: check.map(Found::new),
            median_us,
            part,
        };
        if let (Place::Device(device), Some(part), false) = (place, part, self.check) {
            let part = self.parts.to_stream(part);
            let (sums, us) = time_with_bar(global, |step| {
                let sums = PartRangeSums::new(op, device, input.len(), queries, part);
                let mut sums = sums.map_err(refused)?;
                let part = sums.part();
                each_part(input, part, step, |elements| Ok(sums.next(elements)?))?;
                anyhow::Ok(sums.sums())
            })?;
            return Ok(outcome(&sums, None, us, Some(part)));
        }
        let array = input.all()?;
        let input = array.as_slice::<O::Element>()?;
        let (sums, median_us) = match (place, part) {
            (Place::Cpu, _) => {
                let start = Instant::now();
                let sums = range_sums_on_cpu(op, input, queries).map_err(usage)?;
                (sums, start.elapsed().as_secs_f64() * 1e6)
            }
            (Place::Device(device), None) => time_on_device::<O>(device, input, queries)?,
            (Place::Device(device), Some(part)) => time_with_bar(global, |step| {
                let step = |done| step(done, input.len());
                range_sums_in_parts(op, device, input, queries, part, step)
            })
            .map_err(refused)?,
        };
        let check = match self.check {
            true => check_range_sums(op, input, queries, &sums),
            false => None,
        };
        Ok(outcome(&sums, check, median_us, part))
    }
}

/// What the user gets to hear of it.
fn refused(error: RangeSumError) -> anyhow::Error {
    match error {
        RangeSumError::BadRange(bad) => usage(bad),
        RangeSumError::Device(error) => error.into(),
    }
}

/// The sums, and the median time of a scan and all queries in µs.
fn time_on_device<O>(
    device: &Device,
    input: &[O::Element],
    queries: &[[u64; 2]],
) -> anyhow::Result<(Vec<O::Output>, f64)>
where
    O: RangeSummable,
    O::Element: Pod,
    O::Output: Pod,
{
    let input = device.upload(input)?;
    let mut ranges = RangeSums::<O>::new(device, &input)?;
    // The first launches compile the kernels, and say whether all queries are ranges.
    let sums = ranges.query(queries).map_err(refused)?;
    let words = device.upload(queries.as_flattened())?;
    let mut again = device.alloc(queries.len())?;
    let mut scanner = Scanner::<O>::new(device, input.len())?;
    let mut prefixes = device.alloc(input.len())?;
    let runs = if device.properties().is_emulated() {
        1
    } else {
        9
    };
    let times = (0..runs).map(|_| {
        device.time(|| {
            scanner.launch(&input, &mut prefixes, Form::Inclusive)?;
            ranges.launch(&words, &mut again)
        })
    });
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((sums, median_us))
}

/// The name of what is run.
fn variant(place: &Place) -> &'static str {
    match place {
        Place::Device(_) => "prefix-difference",
        Place::Cpu => "rayon",
    }
}

fn json(
    written: Option<&Output>,
    about: &About,
    queries: &[[u64; 2]],
    place: &Place,
    outcome: &Outcome,
) -> Value {
    json!({
        "dtype": about.dtype.name(),
        "n": about.len,
        "queries": queries.len(),
        "device": place.name(),
        "variant": variant(place),
        "output": written.map(ToString::to_string),
        "median_us": output::number(outcome.median_us),
        "part": outcome.part,
        "check": outcome.check.map(|found| found.json()),
    })
}

fn text(
    written: Option<&Output>,
    about: &About,
    queries: &[[u64; 2]],
    place: &Place,
    outcome: &Outcome,
) -> String {
    let mut text = format!(
        "{} ranges of {} {} elements on {}: {:.1} µs",
        queries.len(),
        about.len,
        about.dtype,
        place.name(),
        outcome.median_us,
    );
    if let Some(found) = outcome.check {
        text += &format!("\n{}", found.text());
    }
    if let Some(to) = written {
        text += &format!("\n{to}: {} elements of {}", queries.len(), outcome.dtype);
    }
    text
}
