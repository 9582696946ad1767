//! `gridsync reduce`: an array to one value.

mod outcome;
mod rows;

use super::choice::Place;
use super::exit::{Usage, Wrong};
use super::files::Files;
use super::{Global, output};
use clap::ValueEnum;
use cuda_std::{bf16, f16};
use gridsync::data::{self, Array, Dtype, Input};
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Count, Max, Min, Or, Product, ProductModulo, Sum, Xor,
};
use outcome::{Outcome, reduce};
use rayon::prelude::*;
use serde_json::json;
use std::ffi::OsString;

pub(super) use outcome::median;

/// Reduce an array of any shape to one value, or each row of a matrix
///
/// Integers are accumulated in 64 bits and wrap around there. Floating-point sums are taken in a
/// fixed order, in f32 for f32, f16 and bf16 and in f64 for f64, unless --acc says otherwise.
/// NaN makes a sum, product, minimum, maximum and mean NaN; -0 is less than +0; count counts what
/// differs from zero. argmin and argmax give the index, from 0 on, of the least and the greatest
/// element, the first of equal ones, of which -0 and +0 are two, and the first NaN if there is one;
/// their JSON has the element as "value". prod-mod is the product modulo M, from 0 to M - 1. An empty
/// array gives 0 for sum (-0.0 if floating point), count, xor and or, 1 for prod and prod-mod (modulo
/// 1: 0), all bits for and; min, max, argmin, argmax and mean of it are an error. In JSON, NaN and the
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
    /// What to accumulate a floating-point sum, product or mean in.
    #[arg(long)]
    acc: Option<Acc>,
    /// What prod-mod is taken modulo: 1 to 4294967296.
    #[arg(long, value_name = "M")]
    modulus: Option<u64>,
    /// How to go about it.
    #[arg(long, default_value = "auto")]
    variant: Variant,
    /// Compare the result with the CPU reference, and print the difference and its bound.
    #[arg(long)]
    check: bool,
    /// Reduce each row of a matrix, a .npy array of 2 dimensions, by sum, min or max: to the bits that
    /// the row alone would give.
    #[arg(long, conflicts_with_all = ["acc", "modulus"])]
    rows: bool,
    /// Write the results of --rows to this .npy file, whole or not at all, and do not print them.
    #[arg(short, long, value_name = "FILE", requires = "rows")]
    out: Option<OsString>,
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
        let files = Files::default().reads("INPUT", &self.input);
        let files = files.writes("out", self.out.as_ref());
        files.refuse_what_collides(global)?;
        let array = data::read(&Input::parse(self.input.clone()), self.dtype)?;
        if self.rows {
            return self.run_rows(global, &array);
        }
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
            let mut json = json!({
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
            });
            if let Some(value) = outcome.value {
                json["value"] = value.json();
            }
            json
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
        let extremes_and_mean = [Op::Min, Op::Max, Op::Argmin, Op::Argmax, Op::Mean];
        if array.is_empty() && extremes_and_mean.contains(&self.op) {
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

    fn dispatch(&self, array: &Array, place: &Place) -> anyhow::Result<Outcome> {
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty $(= $value:expr)?;)*) => {
                match array.dtype() {
                    $(Dtype::$dtype => {
                        reduce::<$op>(by_dtype!(@ $op $(, $value)?), array, place, self.check)
                    })*
                    #[allow(unreachable_patterns)]
                    dtype => Err(Usage(format!("no {} of {dtype} elements", self.op_name())).into()),
                }
            };
            (@ $op:ty) => { <$op>::new() };
            (@ $op:ty, $value:expr) => { $value };
        }
        let wide = self.acc == Some(Acc::F64);
        let compensated = self.acc == Some(Acc::Compensated);
        let outcome = match self.op {
            Op::Sum | Op::Mean if wide => by_dtype! {
                F16: Sum<f16, f64>; Bf16: Sum<bf16, f64>; F32: Sum<f32, f64>; F64: Sum<f64>;
            },
            Op::Sum | Op::Mean if compensated => by_dtype! {
                F32: CompensatedSum<f32>; F64: CompensatedSum<f64>;
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

    /// The product modulo what `--modulus` says.
    fn product_modulo<T>(&self) -> anyhow::Result<ProductModulo<T>> {
        let missing = || Usage("--op prod-mod needs --modulus M, from 1 to 4294967296".into());
        let modulus = self.modulus.ok_or_else(missing)?;
        Ok(ProductModulo::new(modulus).map_err(|error| Usage(format!("--modulus: {error}")))?)
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
            if let Some(value) = outcome.value {
                text += &format!("\nthe element there is {}", value.text());
            }
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
