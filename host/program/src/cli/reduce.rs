//! `gridsync reduce`: an array to one value.

mod rows;
mod shown;

use super::Global;
use super::choice::Place;
use super::count::within;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use crate::data::{self, Dtype, Incoming, Input, Stored};
use bytemuck::Pod;
use clap::ValueEnum;
use cuda_std::{bf16, f16};
use gridsync::primitives::{Check, Checked, PartReducer, PartReducible};
use gridsync::reference;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Count, Max, Mean, Min, Or, Product, ProductModulo, Sum,
    WideSum, Xor,
};
use serde_json::Map;
use shown::Shown;
use std::ffi::OsString;

/// Reduce an array of any shape to one value, or each row of a matrix
///
/// Integers are accumulated in 64 bits and wrap around there; a sum that did is told with what it is
/// exactly (in JSON as "exact"), and a mean is the true one. Floating-point sums are taken in a
/// fixed order, in f32 for f32, f16 and bf16 and in f64 for f64, unless --acc says otherwise.
/// NaN makes a sum, product, minimum, maximum and mean NaN; -0 is less than +0; count counts what
/// differs from zero. argmin and argmax give the index, from 0 on, of the least and the greatest
/// element, the first of equal ones, of which -0 and +0 are two, and the first NaN if there is one;
/// their JSON has the element as "value". prod-mod is the product modulo M, from 0 to M - 1. An empty
/// array gives 0 for sum (-0.0 if floating point), count, xor and or, 1 for prod and prod-mod (modulo
/// 1: 0), all bits for and; min, max, argmin, argmax and mean of it are an error. An array in Fortran
/// order is taken in the order of its file, but for argmin and argmax, whose indices are those of C
/// order. In JSON, NaN and the infinities are strings.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Reduce {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with --dtype);
    /// `-` is standard input.
    input: OsString,
    /// What to combine the elements by.
    #[arg(long)]
    op: Op,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    /// What to accumulate a floating-point sum, product or mean in.
    #[arg(long)]
    acc: Option<Acc>,
    /// What prod-mod is taken modulo: 1 to 4294967296.
    #[arg(long, value_name = "M", value_parser = within::<u64>(0..=u64::MAX))]
    modulus: Option<u64>,
    /// How to go about it.
    #[arg(long, default_value = "auto")]
    variant: Variant,
    /// Compare the result with the CPU reference, and print the difference and its bound.
    #[arg(long)]
    check: bool,
    /// Reduce each row of the array by itself, along its last dimension, by sum, min or max: to the bits
    /// that the row alone would give. The results have the shape of the array without that dimension.
    #[arg(long, conflicts_with_all = ["acc", "modulus", "part"])]
    rows: bool,
    #[command(flatten)]
    parts: Parts,
    /// Write the results of --rows to this .npy file, whole or not at all, and do not print them.
    #[arg(short, long, alias = "out", value_name = "OUT", requires = "rows")]
    output: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Op {
    Sum,
    Prod,
    Min,
    Max,
    Argmin,
    Argmax,
    Xor,
    And,
    Or,
    Count,
    Mean,
    ProdMod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Acc {
    F32,
    F64,
    /// Sums and means of f32 and f64: the errors of the additions are summed up too, which makes the
    /// sum as accurate as one in twice the precision.
    Compensated,
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

impl Reduce {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", self.output.as_ref());
        job::run(global, &files, self.remedy(), |job| {
            let input = job.open(&self.input, self.dtype)?;
            if !self.rows {
                self.refuse_what_makes_no_sense(input.dtype(), input.len())?;
            }
            job.announce(&About::of(&input).text("elements"))?;
            match self.rows {
                true => self.reduce_rows(job, input),
                false => self.dispatch(job, input),
            }
        })
    }

    /// What to do where memory does not suffice.
    fn remedy(&self) -> &'static str {
        match (self.rows, self.check) {
            (true, _) => "--rows holds all rows: reduce some of them at a time",
            (_, true) => "--check holds all elements: leave it out",
            _ => "take fewer elements at a time, by --part",
        }
    }

    fn op_name(&self) -> String {
        self.op
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().into())
    }

    fn refuse_what_makes_no_sense(&self, dtype: Dtype, len: usize) -> anyhow::Result<()> {
        let is_float = matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64);
        let usage = |message: String| Err(Usage(message).into());
        let extremes_and_mean = [Op::Min, Op::Max, Op::Argmin, Op::Argmax, Op::Mean];
        if len == 0 && extremes_and_mean.contains(&self.op) {
            return usage(format!(
                "the {} of an empty array is not defined: {} has no elements",
                self.op_name(),
                Input::parse(self.input.clone())
            ));
        }
        if is_float && matches!(self.op, Op::Xor | Op::And | Op::Or | Op::ProdMod) {
            return usage(format!(
                "--op {} is of integers (i32 u32 i64 u64); the elements are {dtype}",
                self.op_name()
            ));
        }
        if self.modulus.is_some() && self.op != Op::ProdMod {
            return usage(format!(
                "--modulus is for prod-mod; --op {} has none",
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
            Some(Acc::Compensated) if self.op == Op::Prod => usage(
                "--acc compensated is for sum and mean; for prod there are f32 and f64".into(),
            ),
            Some(Acc::Compensated) if matches!(dtype, Dtype::F16 | Dtype::Bf16) => usage(format!(
                "--acc compensated is of f32 and f64 elements; for {dtype} there is --acc f64"
            )),
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

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty $(= $value:expr)?;)*) => {
                match input.dtype() {
                    $(Dtype::$dtype => {
                        self.reduce::<$op>(by_dtype!(@ $op $(, $value)?), job, input)
                    })*
                    #[allow(unreachable_patterns)]
                    dtype => Err(Usage(format!("no {} of {dtype} elements", self.op_name())).into()),
                }
            };
            (@ $op:ty) => { <$op>::default() };
            (@ $op:ty, $value:expr) => { $value };
        }
        let wide = self.acc == Some(Acc::F64);
        let compensated = self.acc == Some(Acc::Compensated);
        match self.op {
            Op::Sum if wide => by_dtype! {
                F16: Sum<f16, f64>; Bf16: Sum<bf16, f64>; F32: Sum<f32, f64>; F64: Sum<f64>;
            },
            Op::Sum if compensated => by_dtype! {
                F32: CompensatedSum<f32>; F64: CompensatedSum<f64>;
            },
            // In 128 bits, so that a sum which 64 bits do not hold is told.
            Op::Sum => by_dtype! {
                F16: Sum<f16, f32>; Bf16: Sum<bf16, f32>; F32: Sum<f32>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: WideSum<i64>; U64: WideSum<u64>;
            },
            Op::Mean if wide => by_dtype! {
                F16: Mean<Sum<f16, f64>>; Bf16: Mean<Sum<bf16, f64>>; F32: Mean<Sum<f32, f64>>;
                F64: Mean<Sum<f64>>;
            },
            Op::Mean if compensated => by_dtype! {
                F32: Mean<CompensatedSum<f32>>; F64: Mean<CompensatedSum<f64>>;
            },
            Op::Mean => by_dtype! {
                F16: Mean<Sum<f16, f32>>; Bf16: Mean<Sum<bf16, f32>>; F32: Mean<Sum<f32>>;
                F64: Mean<Sum<f64>>; I32: Mean<Sum<i32, i64>>; U32: Mean<Sum<u32, u64>>;
                I64: Mean<WideSum<i64>>; U64: Mean<WideSum<u64>>;
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
            Op::ProdMod => by_dtype! {
                I32: ProductModulo<i32> = self.product_modulo()?;
                U32: ProductModulo<u32> = self.product_modulo()?;
                I64: ProductModulo<i64> = self.product_modulo()?;
                U64: ProductModulo<u64> = self.product_modulo()?;
            },
            Op::Argmin => by_dtype! {
                F16: ArgMin<f16, f32>; Bf16: ArgMin<bf16, f32>; F32: ArgMin<f32>; F64: ArgMin<f64>;
                I32: ArgMin<i32>; U32: ArgMin<u32>; I64: ArgMin<i64>; U64: ArgMin<u64>;
            },
            Op::Argmax => by_dtype! {
                F16: ArgMax<f16, f32>; Bf16: ArgMax<bf16, f32>; F32: ArgMax<f32>; F64: ArgMax<f64>;
                I32: ArgMax<i32>; U32: ArgMax<u32>; I64: ArgMax<i64>; U64: ArgMax<u64>;
            },
            Op::Xor => by_dtype! { I32: Xor<i32>; U32: Xor<u32>; I64: Xor<i64>; U64: Xor<u64>; },
            Op::And => by_dtype! { I32: And<i32>; U32: And<u32>; I64: And<i64>; U64: And<u64>; },
            Op::Or => by_dtype! { I32: Or<i32>; U32: Or<u32>; I64: Or<i64>; U64: Or<u64>; },
            Op::Count => by_dtype! {
                F16: Count<f16>; Bf16: Count<bf16>; F32: Count<f32>; F64: Count<f64>;
                I32: Count<i32>; U32: Count<u32>; I64: Count<i64>; U64: Count<u64>;
            },
        }
    }

    /// The product modulo what `--modulus` says.
    fn product_modulo<T>(&self) -> anyhow::Result<ProductModulo<T>> {
        let missing = || Usage("--op prod-mod needs --modulus M, from 1 to 4294967296".into());
        let modulus = self.modulus.ok_or_else(missing)?;
        Ok(ProductModulo::new(modulus).map_err(|error| Usage(format!("--modulus: {error}")))?)
    }

    /// Reduces part by part.
    fn reduce<O>(&self, op: O, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done>
    where
        O: PartReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown,
    {
        let (about, dtype, len) = (About::of(&input), input.dtype(), input.len());
        let input = match self.op {
            // An index is one of C order.
            Op::Argmin | Op::Argmax => input,
            _ => input.in_any_order(),
        };
        let part = self.parts.of(job, len, size_of::<O::Element>())?;
        let (mut reducer, place) = match job.place()? {
            place @ Place::Cpu => (PartReducer::on_cpu(op, len, part), place),
            place @ Place::Device(device) => (PartReducer::new(op, device, len, part)?, place),
        };
        let part = reducer.part();
        let taken = self.parts.taken(job, part, len);
        let variant = self.variant(place)?;
        let mut take = |elements: &[O::Element]| Ok(reducer.next(elements)?);
        let elements = match self.check {
            true => Some(job.collect(input, part, take)?),
            false => {
                job.each_part(input, part, &mut take)?;
                None
            }
        };
        let us = reducer.us();
        let output = reducer.finish();
        let check = elements.map(|elements| {
            job.doing("checking");
            let check = op.check(&elements, output, reference::reduce_depth::<O>(len));
            Check {
                reference: check.reference.number(dtype),
                abs_err: check.abs_err,
                bound: check.bound,
                ok: check.ok,
            }
        });
        let result = output.number(dtype);
        let wrapped = output.wrapped(dtype);
        let value = output.value();
        let mut fields = Map::new();
        fields.insert("result".into(), result.json());
        fields.extend(value.map(|value| ("value".to_owned(), value.json())));
        if self.op == Op::Sum {
            let exact = wrapped.map(|sum| sum.to_string());
            fields.insert("exact".into(), exact.into());
        }
        let value = value.map(|value| format!("the element there is {}", value.text()));
        let wrapped = wrapped.map(|sum| format!("the sum wrapped around in 64 bits: it is {sum}"));
        let op = self.op_name();
        let what = format!("{op} of {}", about.text("elements"));
        Ok(Done {
            result: Some(result.text()),
            lines: value.into_iter().chain(wrapped).collect(),
            fields,
            us,
            bytes: len * size_of::<O::Element>(),
            part: taken,
            check: check.map(|check| Verdict::of(result, check)),
            ..Done::of(op, what, about, variant)
        })
    }
}
