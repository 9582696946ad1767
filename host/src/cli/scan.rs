//! `gridsync scan`: what all elements of an array up to each one combine to.

mod rows;
mod stream;

use super::checked::Found;
use super::choice::Place;
use super::exit::Usage;
use super::files::Files;
use super::number::Number;
use super::parts::{About, Parts, time_with_bar};
use super::reduce::median;
use super::{Global, output};
use bytemuck::Pod;
use clap::ValueEnum;
use cuda_std::{bf16, f16};
use gridsync::data::{self, Dtype, Incoming, Input, Output};
use gridsync::device::Device;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::{ScanCheck, ScanChecked, Scanner, scan_in_parts};
use gridsync::reference;
use gridsync_kernels::entry::scan::Scannable;
use gridsync_kernels::op::{And, Count, Max, Min, Or, Product, Sum, Xor};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Instant;

/// Scan an array: write, for each element, what all up to it combine to
///
/// The array is taken as flat, in C order, and the output has one dimension, as numpy.cumsum without
/// an axis. Integers are summed and multiplied in 64 bits and wrap around there: the output of i32
/// is i64, that of u32 u64. Floating-point sums and products are taken in a fixed order, in f32 for
/// f32, f16 and bf16 and in f64 for f64, unless --acc says otherwise; the output is of that type.
/// Counts are written as u64. From a NaN on a sum, product, minimum and maximum is NaN; -0 is less than
/// +0; count counts what differs from zero. sum is for all element types; prod, min and max for those
/// of 4 and 8 bytes; xor, and and or for i32 and u32; count for those and f32. An exclusive scan
/// begins with the value of no elements: 0 for sum (-0.0 if floating point), count, xor and or, 1 for
/// prod, all bits for and, the greatest value for min (inf if floating point), the least for max.
/// An output is written whole or not at all, and not if --check finds it wrong.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Scan {
    /// A .npy file, or raw little-endian numbers (with --dtype); `-` is standard input.
    input: OsString,
    /// What to combine the elements by.
    #[arg(long)]
    op: Op,
    /// Leave out the element itself: combine those before it.
    #[arg(long)]
    exclusive: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64.
    #[arg(long)]
    dtype: Option<Dtype>,
    /// The type to accumulate a floating-point sum or product in.
    #[arg(long)]
    acc: Option<Acc>,
    /// Scan each row of the array by itself, along its last dimension: by sum, min or max. The output
    /// has the shape of the array.
    #[arg(long, conflicts_with = "part")]
    rows: bool,
    #[command(flatten)]
    parts: Parts,
    /// The .npy file to write; `-` is standard output, which then has nothing else.
    #[arg(short, long, value_name = "OUT")]
    output: OsString,
    /// Compare the results with a loop on the CPU, and print the worst difference and its bound.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Op {
    Sum,
    Prod,
    Min,
    Max,
    Xor,
    And,
    Or,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Acc {
    F32,
    F64,
}

/// What a scan gave.
struct Outcome {
    /// The type of the results.
    dtype: Dtype,
    /// The results, unless they have been written as they came.
    bytes: Option<Vec<u8>>,
    check: Option<Found>,
    median_us: f64,
    /// Elements of a part, if it was not all of them at once.
    part: Option<usize>,
}

impl Outcome {
    fn gb_per_s(&self, about: &About) -> f64 {
        (about.len * (about.dtype.size() + self.dtype.size())) as f64 / self.median_us / 1e3
    }

    /// The check that failed, if one has.
    fn failed(&self) -> Option<Found> {
        self.check.filter(|found| !found.is_right())
    }
}

impl Scan {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("INPUT", &self.input);
        let files = files.writes("output", Some(&self.output));
        files.refuse_what_collides(global)?;
        let to = Output::parse(self.output.clone());
        let input = data::open(&Input::parse(self.input.clone()), self.dtype)?;
        let (dtype, len) = (input.dtype(), input.len());
        self.refuse_what_makes_no_sense(dtype)?;
        let place = global.device.place()?;
        if global.verbose {
            eprintln!("{len} elements of {dtype} on {}", place.name());
        }
        let shape = match self.rows {
            true => input.shape().to_vec(),
            false => vec![len as u64],
        };
        let outcome = match self.rows {
            true => self.scan_rows(&input.all()?, &place)?,
            false => self.dispatch(input, &to, &place, global)?,
        };
        if let (Some(bytes), None) = (&outcome.bytes, outcome.failed()) {
            data::write_npy(&to, outcome.dtype, &shape, bytes)?;
        }
        if to != Output::Stdout {
            let about = About { dtype, len };
            let text = || self.text(&to, &about, &place, &outcome);
            let json = || self.json(&to, &about, &place, &outcome);
            if !global.quiet || global.json {
                output::result(global, text, json)?;
            }
        }
        match outcome.failed() {
            Some(found) => Err(found.error("the result at").into()),
            None => Ok(()),
        }
    }

    fn form(&self) -> Form {
        match self.exclusive {
            false => Form::Inclusive,
            true => Form::Exclusive,
        }
    }

    fn op_name(&self) -> String {
        self.op
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().into())
    }

    fn refuse_what_makes_no_sense(&self, dtype: Dtype) -> anyhow::Result<()> {
        let is_float = matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64);
        let usage = |message: String| Err(Usage(message).into());
        match self.acc {
            Some(_) if !is_float => usage(format!(
                "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
            )),
            Some(_) if !matches!(self.op, Op::Sum | Op::Prod) => usage(format!(
                "--acc is for sum and prod; {} rounds nothing",
                self.op_name()
            )),
            Some(Acc::F32) if dtype == Dtype::F64 => {
                usage("--acc f32 would lose digits of f64 elements: leave it out".into())
            }
            _ => Ok(()),
        }
    }

    /// Says that the operation scans other element types than `dtype`.
    fn no_such(&self, dtype: Dtype, types: &[Dtype]) -> String {
        let names: Vec<_> = types.iter().map(|dtype| dtype.name()).collect();
        format!(
            "--op {} scans elements of {}, not of {dtype}: convert them",
            self.op_name(),
            names.join(" ")
        )
    }

    fn dispatch(
        &self,
        input: Incoming,
        to: &Output,
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome> {
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty;)*) => {
                match input.dtype() {
                    $(Dtype::$dtype => self.scan(<$op>::new(), input, to, place, global),)*
                    #[allow(unreachable_patterns)]
                    dtype => {
                        let types: &[Dtype] = &[$(Dtype::$dtype),*];
                        Err(Usage(self.no_such(dtype, types)).into())
                    }
                }
            };
        }
        let wide = self.acc == Some(Acc::F64);
        match self.op {
            Op::Sum if wide => by_dtype! {
                F16: Sum<f16, f64>; Bf16: Sum<bf16, f64>; F32: Sum<f32, f64>; F64: Sum<f64>;
            },
            Op::Sum => by_dtype! {
                F16: Sum<f16, f32>; Bf16: Sum<bf16, f32>; F32: Sum<f32>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: Sum<i64>; U64: Sum<u64>;
            },
            Op::Prod if wide => by_dtype! { F32: Product<f32, f64>; F64: Product<f64>; },
            Op::Prod => by_dtype! {
                F32: Product<f32>; F64: Product<f64>; I32: Product<i32, i64>;
                U32: Product<u32, u64>; I64: Product<i64>; U64: Product<u64>;
            },
            Op::Min => by_dtype! {
                F32: Min<f32>; F64: Min<f64>; I32: Min<i32>; U32: Min<u32>; I64: Min<i64>;
                U64: Min<u64>;
            },
            Op::Max => by_dtype! {
                F32: Max<f32>; F64: Max<f64>; I32: Max<i32>; U32: Max<u32>; I64: Max<i64>;
                U64: Max<u64>;
            },
            Op::Xor => by_dtype! { I32: Xor<i32>; U32: Xor<u32>; },
            Op::And => by_dtype! { I32: And<i32>; U32: And<u32>; },
            Op::Or => by_dtype! { I32: Or<i32>; U32: Or<u32>; },
            Op::Count => by_dtype! { F32: Count<f32>; I32: Count<i32>; U32: Count<u32>; },
        }
    }

    fn json(&self, to: &Output, about: &About, place: &Place, outcome: &Outcome) -> Value {
        let written = outcome.failed().is_none().then(|| to.to_string());
        json!({
            "op": self.op_name(),
            "dtype": about.dtype.name(),
            "n": about.len,
            "device": place.name(),
            "variant": variant(place),
            "output": written,
            "median_us": output::number(outcome.median_us),
            "gb_per_s": output::number(outcome.gb_per_s(about)),
            "part": outcome.part,
            "check": outcome.check.map(|found| found.json()),
        })
    }

    fn text(&self, to: &Output, about: &About, place: &Place, outcome: &Outcome) -> String {
        let form = match self.form() {
            Form::Inclusive => "inclusive",
            Form::Exclusive => "exclusive",
        };
        let mut text = format!(
            "{form} {} of {} {} elements on {}: {:.1} µs, {:.1} GB/s",
            self.op_name(),
            about.len,
            about.dtype,
            place.name(),
            outcome.median_us,
            outcome.gb_per_s(about)
        );
        if let Some(found) = outcome.check {
            text += &format!("\n{}", found.text());
        }
        if outcome.failed().is_none() {
            text += &format!("\n{to}: {} elements of {}", about.len, outcome.dtype);
        }
        text
    }
}

impl Scan {
    /// Scans, checks if asked to, and times: the median of several runs where a run is cheap. What is taken
    /// in parts is written too, part by part, unless it is to be checked first.
    fn scan<O>(
        &self,
        op: O,
        input: Incoming,
        to: &Output,
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome>
    where
        O: Scannable + ScanChecked,
        O::Element: Pod + data::Scalar,
        O::Output: Pod + data::Scalar + Into<Number>,
    {
        let form = self.form();
        let bytes = size_of::<O::Element>() + size_of::<O::Output>();
        let part = self.parts.of(place, input.len(), bytes)?;
        if let (Place::Device(device), Some(part), false) = (place, part, self.check) {
            let part = self.parts.to_stream(part);
            return stream::scan(op, device, (input, to), form, part, global);
        }
        let array = input.all()?;
        let input = array.as_slice::<O::Element>()?;
        let (results, median_us) = match (place, part) {
            (Place::Cpu, _) => time_on_cpu(op, input, form),
            (Place::Device(device), None) => time_on_device(op, device, input, form)?,
            (Place::Device(device), Some(part)) => time_with_bar(global, |step| {
                let step = |done| step(done, input.len());
                scan_in_parts(op, device, input, form, part, step)
            })?,
        };
        let depth = reference::scan_depth::<O>(input.len());
        let check = match self.check {
            true => op.check_scan(input, &results, form, depth),
            false => None,
        };
        Ok(Outcome {
            part,
            ..Outcome::new(&results, check, median_us)
        })
    }
}

impl Outcome {
    fn new<A>(results: &[A], check: Option<ScanCheck<A>>, median_us: f64) -> Self
    where
        A: Pod + data::Scalar + Into<Number>,
    {
        Self {
            dtype: <A as data::Scalar>::DTYPE,
            bytes: Some(bytemuck::cast_slice(results).to_vec()),
            check: check.map(Found::new),
            median_us,
            part: None,
        }
    }
}

/// The name of what is run.
fn variant(place: &Place) -> &'static str {
    match place {
        Place::Device(_) => "single-pass",
        Place::Cpu => "rayon",
    }
}

fn time_on_cpu<O: Scannable>(op: O, input: &[O::Element], form: Form) -> (Vec<O::Output>, f64) {
    let mut times = Vec::new();
    let mut results = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        results = scan_on_cpu(op, input, form);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    (results, median(times))
}

/// The results, and the median time of the kernel in µs.
fn time_on_device<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    form: Form,
) -> anyhow::Result<(Vec<O::Output>, f64)>
where
    O: Scannable,
    O::Element: Pod,
    O::Output: Pod,
{
    let input = device.upload(input)?;
    let mut results = device.alloc(input.len())?;
    let mut scanner = Scanner::with(op, device, input.len())?;
    let emulated = device.properties().is_emulated();
    if !emulated {
        // The first launch compiles the kernel.
        scanner.launch(&input, &mut results, form)?;
    }
    let runs = if emulated { 1 } else { 9 };
    let times = (0..runs).map(|_| device.time(|| scanner.launch(&input, &mut results, form)));
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((results.download()?, median_us))
}
