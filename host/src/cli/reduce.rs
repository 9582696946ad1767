//! `gridsync reduce`: an array to one value.

use super::choice::Place;
use super::exit::{Usage, Wrong};
use super::number::Number;
use super::{Global, output};
use bytemuck::Pod;
use clap::ValueEnum;
use cuda_std::{bf16, f16};
use gridsync::data::{self, Array, Dtype, Input};
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::{Check, Checked, Reducer};
use gridsync::reference;
use gridsync_kernels::entry::reduce::Reducible;
use gridsync_kernels::op::{And, Count, Max, Min, Or, Product, Sum, Xor};
use rayon::prelude::*;
use serde_json::json;
use std::ffi::OsString;
use std::time::Instant;

/// Reduce all elements of an array, of any shape, to one value
///
/// Integers are accumulated in 64 bits and wrap around there. Floating-point sums are taken in a
/// fixed order, in f32 for f32, f16 and bf16 and in f64 for f64, unless --acc says otherwise.
/// NaN makes a sum, product, minimum, maximum and mean NaN; -0 is less than +0; count counts what
/// differs from zero. An empty array gives 0 for sum (-0.0 if floating point), count, xor and or,
/// 1 for prod, all bits for and; min, max and mean of it are an error. In JSON, NaN and the
/// infinities are strings.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Reduce {
    /// A .npy file, or raw little-endian numbers (with --dtype); `-` is standard input.
    input: OsString,
    /// What to combine the elements by.
    #[arg(long)]
    op: Op,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64.
    #[arg(long)]
    dtype: Option<Dtype>,
    /// The type to accumulate a floating-point sum, product or mean in.
    #[arg(long)]
    acc: Option<Acc>,
    /// How to go about it.
    #[arg(long, default_value = "auto")]
    variant: Variant,
    /// Compare the result with the CPU reference, and print the difference and its bound.
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
    Mean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Acc {
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Variant {
    /// The best there is for the device.
    Auto,
    /// On a GPU or the emulator: one launch, a block for each tile; the block that started last
    /// combines the results.
    Tiles,
    /// On the CPU: all cores, by rayon.
    Rayon,
}

/// What a reduction gave.
struct Outcome {
    result: Number,
    check: Option<Check<Number>>,
    median_us: f64,
}

impl Reduce {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let array = data::read(&Input::parse(self.input.clone()), self.dtype)?;
        self.refuse_what_makes_no_sense(&array)?;
        let place = global.device.place()?;
        let variant = self.variant(&place)?;
        if global.verbose {
            eprintln!(
                "{} elements of {} on {}",
                array.len(),
                array.dtype(),
                place.name()
            );
        }
        let outcome = self.dispatch(&array, &place)?;

        let gb_per_s = array.bytes().len() as f64 / outcome.median_us / 1e3;
        let text = || self.text(global, &array, &place, &outcome, gb_per_s);
        let json = || {
            json!({
                "op": self.op_name(),
                "dtype": array.dtype().name(),
                "n": array.len(),
                "device": place.name(),
                "variant": variant,
                "result": outcome.result.json(),
                "median_us": output::number(outcome.median_us),
                "gb_per_s": output::number(gb_per_s),
                "check": outcome.check.map(|check| json!({
                    "reference": check.reference.json(),
                    "abs_err": output::number(check.abs_err),
                    "bound": output::number(check.bound),
                    "ok": check.ok,
                })),
            })
        };
        output::result(global, text, json)?;
        match outcome.check {
            Some(check) if !check.ok => Err(Wrong(format!(
                "the result is wrong: {} where the reference says {}, off by {:e}, allowed are {:e}",
                outcome.result.text(),
                check.reference.text(),
                check.abs_err,
                check.bound
            ))
            .into()),
            _ => Ok(()),
        }
    }

    fn op_name(&self) -> String {
        self.op
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().into())
    }

    fn refuse_what_makes_no_sense(&self, array: &Array) -> anyhow::Result<()> {
        let dtype = array.dtype();
        let is_float = matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64);
        let usage = |message: String| Err(Usage(message).into());
        if array.is_empty() && matches!(self.op, Op::Min | Op::Max | Op::Mean) {
            return usage(format!(
                "the {} of an empty array is not defined: {} has no elements",
                self.op_name(),
                Input::parse(self.input.clone())
            ));
        }
        if is_float && matches!(self.op, Op::Xor | Op::And | Op::Or) {
            return usage(format!(
                "--op {} combines the bits of integers (i32 u32 i64 u64); the elements are {dtype}",
                self.op_name()
            ));
        }
        match self.acc {
            Some(_) if !is_float => usage(format!(
                "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
            )),
            Some(_) if !matches!(self.op, Op::Sum | Op::Prod | Op::Mean) => usage(format!(
                "--acc is for sum, prod and mean; {} rounds nothing",
                self.op_name()
            )),
            Some(Acc::F32) if dtype == Dtype::F64 => {
                usage("--acc f32 would lose digits of f64 elements: leave it out".into())
            }
            _ => Ok(()),
        }
    }

    /// The name of what is run.
    fn variant(&self, place: &Place) -> anyhow::Result<&'static str> {
        match (self.variant, place) {
            (Variant::Auto | Variant::Tiles, Place::Device(_)) => Ok("tiles"),
            (Variant::Auto | Variant::Rayon, Place::Cpu) => Ok("rayon"),
            (Variant::Tiles, Place::Cpu) => Err(Usage(
                "--variant tiles runs on a GPU or with --device emulator; this is the CPU".into(),
            )
            .into()),
            (Variant::Rayon, Place::Device(device)) => Err(Usage(format!(
                "--variant rayon runs with --device cpu; this is {}",
                device.properties().name
            ))
            .into()),
        }
    }

    fn dispatch(&self, array: &Array, place: &Place) -> anyhow::Result<Outcome> {
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty;)*) => {
                match array.dtype() {
                    $(Dtype::$dtype => reduce::<$op>(array, place, self.check),)*
                    #[allow(unreachable_patterns)]
                    dtype => Err(Usage(format!("no {} of {dtype} elements", self.op_name())).into()),
                }
            };
        }
        let wide = self.acc == Some(Acc::F64);
        let outcome = match self.op {
            Op::Sum | Op::Mean if wide => by_dtype! {
                F16: Sum<f16, f64>; Bf16: Sum<bf16, f64>; F32: Sum<f32, f64>; F64: Sum<f64>;
            },
            Op::Sum | Op::Mean => by_dtype! {
                F16: Sum<f16, f32>; Bf16: Sum<bf16, f32>; F32: Sum<f32>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: Sum<i64>; U64: Sum<u64>;
            },
            Op::Prod if wide => by_dtype! {
                F16: Product<f16, f64>; Bf16: Product<bf16, f64>; F32: Product<f32, f64>;
                F64: Product<f64>;
            },
            Op::Prod => by_dtype! {
                F16: Product<f16, f32>; Bf16: Product<bf16, f32>; F32: Product<f32>;
                F64: Product<f64>; I32: Product<i32, i64>; U32: Product<u32, u64>;
                I64: Product<i64>; U64: Product<u64>;
            },
            Op::Min => by_dtype! {
                F16: Min<f16, f32>; Bf16: Min<bf16, f32>; F32: Min<f32>; F64: Min<f64>;
                I32: Min<i32>; U32: Min<u32>; I64: Min<i64>; U64: Min<u64>;
            },
            Op::Max => by_dtype! {
                F16: Max<f16, f32>; Bf16: Max<bf16, f32>; F32: Max<f32>; F64: Max<f64>;
                I32: Max<i32>; U32: Max<u32>; I64: Max<i64>; U64: Max<u64>;
            },
            Op::Xor => by_dtype! { I32: Xor<i32>; U32: Xor<u32>; I64: Xor<i64>; U64: Xor<u64>; },
            Op::And => by_dtype! { I32: And<i32>; U32: And<u32>; I64: And<i64>; U64: And<u64>; },
            Op::Or => by_dtype! { I32: Or<i32>; U32: Or<u32>; I64: Or<i64>; U64: Or<u64>; },
            Op::Count => by_dtype! {
                F16: Count<f16>; Bf16: Count<bf16>; F32: Count<f32>; F64: Count<f64>;
                I32: Count<i32>; U32: Count<u32>; I64: Count<i64>; U64: Count<u64>;
            },
        }?;
        if self.op != Op::Mean {
            return Ok(outcome);
        }
        match exact_sum_of_wide_integers(array)? {
            Some(sum) if !outcome.result.holds(sum) => Err(Usage(format!(
                "the sum of these {} elements, {sum}, is beyond 64 bits, so their mean cannot be taken from it: convert them to f64",
                array.dtype()
            ))
            .into()),
            _ => Ok(outcome.divided_by(array.len())),
        }
    }

    fn text(
        &self,
        global: &Global,
        array: &Array,
        place: &Place,
        outcome: &Outcome,
        gb_per_s: f64,
    ) -> String {
        let mut text = outcome.result.text();
        if !global.quiet {
            text += &format!(
                "\n{} of {} {} elements on {}: {:.1} µs, {gb_per_s:.1} GB/s",
                self.op_name(),
                array.len(),
                array.dtype(),
                place.name(),
                outcome.median_us
            );
        }
        if let Some(check) = outcome.check.filter(|_| !global.quiet) {
            let verdict = match check.ok {
                true if check.bound == f64::INFINITY => {
                    "nothing can be promised, since partial results may overflow"
                }
                true => "right",
                false => "WRONG",
            };
            text += &format!(
                "\nreference {}: off by {:e}, allowed {:e}: {verdict}",
                check.reference.text(),
                check.abs_err,
                check.bound,
            );
        }
        text
    }
}

impl Outcome {
    /// The mean that this sum makes, in f64.
    fn divided_by(self, n: usize) -> Self {
        let mean = |sum: Number| Number::Float(sum.to_f64() / n as f64);
        let check = self.check.map(|check| {
            let reference = mean(check.reference);
            // The division rounds both means once more.
            let rounding = f64::EPSILON * reference.to_f64().abs();
            let bound = check.bound / n as f64 + rounding;
            Check {
                reference,
                abs_err: check.abs_err / n as f64,
                bound,
                ok: check.ok,
            }
        });
        Self {
            result: mean(self.result),
            check,
            median_us: self.median_us,
        }
    }
}

/// The true sum of 64-bit integers, if the array is of those: their sum in 64 bits may have wrapped
/// around, and a mean must not be taken from such a one.
fn exact_sum_of_wide_integers(array: &Array) -> anyhow::Result<Option<i128>> {
    Ok(match array.dtype() {
        Dtype::I64 => Some(
            array
                .as_slice::<i64>()?
                .par_iter()
                .map(|&x| i128::from(x))
                .sum(),
        ),
        Dtype::U64 => Some(
            array
                .as_slice::<u64>()?
                .par_iter()
                .map(|&x| i128::from(x))
                .sum(),
        ),
        _ => None,
    })
}

/// Reduces, checks if asked to, and times: the median of several runs where a run is cheap.
fn reduce<O>(array: &Array, place: &Place, check: bool) -> anyhow::Result<Outcome>
where
    O: Reducible + Checked,
    O::Element: Pod + data::Scalar,
    O::Accumulator: Pod + Into<Number>,
{
    let input = array.as_slice::<O::Element>()?;
    let (result, median_us) = match place {
        Place::Cpu => time_on_cpu::<O>(input),
        Place::Device(device) => time_on_device::<O>(device, input)?,
    };
    let depth = reference::reduce_depth::<O>(input.len());
    let check = check
        .then(|| O::check(input, result, depth))
        .map(|check| Check {
            reference: check.reference.into(),
            abs_err: check.abs_err,
            bound: check.bound,
            ok: check.ok,
        });
    Ok(Outcome {
        result: result.into(),
        check,
        median_us,
    })
}

fn time_on_cpu<O: Reducible>(input: &[O::Element]) -> (O::Accumulator, f64) {
    let mut times = Vec::new();
    let mut result = O::identity();
    for _ in 0..3 {
        let start = Instant::now();
        result = reduce_on_cpu::<O>(input);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    (result, median(times))
}

/// The result, and the median time of the kernel in µs.
fn time_on_device<O>(device: &Device, input: &[O::Element]) -> anyhow::Result<(O::Accumulator, f64)>
where
    O: Reducible,
    O::Element: Pod,
    O::Accumulator: Pod,
{
    let input = device.upload(input)?;
    let mut reducer = Reducer::<O>::new(device)?;
    let emulated = device.properties().is_emulated();
    if !emulated {
        // The first launch compiles the kernel.
        reducer.launch(&input)?;
    }
    let runs = if emulated { 1 } else { 9 };
    let times = (0..runs).map(|_| device.time(|| reducer.launch(&input)));
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((reducer.result()?, median_us))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
