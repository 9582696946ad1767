//! `gridsync reduce`: reduces an array to one value.

mod asked;
mod narrow;
mod ranks;
mod rows;
mod several;
mod shown;

use super::Global;
use super::axis::Axis;
use super::catalogue::{Acc, Lines, listed};
use super::choice::Place;
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Input, Stored};
use asked::{Asked, derived_of_numbers};
use bytemuck::Pod;
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, ValueEnum};
use cuda_std::{bf16, f16};
use gridsync::primitives::{Check, Checked, PartReducer, PartReducible};
use gridsync_kernels::op::{
    All, And, Any, ArgMax, ArgMin, CompensatedSum, Count, Deviation, LogSumExp, Max, Mean, Min,
    Norm, Or, PeakToPeak, Product, ProductModulo, SkipNan, Sum, SumOfMagnitudes, SumOfSquares,
    Then, Variance, WideSum, Xor,
};
use gridsync_lab::count::within;
use ranks::{ByRanks, Share};
pub(super) use rows::LineChecks;
use several::{By, Reduction, Running};
pub(super) use shown::Shown;
use std::ffi::OsString;

/// Reduce an array to one value, or each row or column of a matrix
///
/// Integers are accumulated in 64 bits and wrap around there; a sum that wrapped is printed with its
/// exact value (in JSON as "exact", for rows as "wrapped"), and a mean is the true one. Floating-point
/// sums are added in a fixed order, in f32 for f32, f16 and bf16 and in f64 for f64, unless --acc says
/// otherwise. NaN makes a sum, product, minimum, maximum and mean NaN; -0 is less than +0; count counts
/// the elements that are not zero. argmin and argmax give the index, starting at 0, of the least and
/// the greatest element, the first of equal ones (-0 equals +0), and the first NaN if there is one;
/// their JSON has the element as "value". prod-mod is the product modulo M, from 0 to M - 1. An empty
/// array gives 0 for sum (-0.0 if floating point), count, xor and or, 1 for prod and prod-mod (modulo
/// 1: 0), all bits for and, 0 for sum-squares, norm and l1, -inf for logsumexp, false for any, true for all; min, max, ptp,
/// argmin, argmax, mean, var and std of it are an error. An array in Fortran order is reduced in the
/// order of its file, except for argmin and argmax, whose indices are those of C order. --rows and
/// --axis give the same bits as for the line alone; the results have the shape of the array without
/// that dimension. In JSON, NaN and the infinities are strings.
///
/// ptp is the maximum minus the minimum, and unsigned for integers. sum-squares, its root norm, and l1,
/// the sum of the magnitudes, are computed in f64, except for l1 of integers, which is exact. var and
/// std divide by n - N with --ddof N. They subtract an element from each element first, so they lose no
/// digits if the mean is large; they are not for f16 and bf16. logsumexp of f32 and f64 is the logarithm
/// of the sum of the exponentials, in f64; no exponential overflows. any and all test for elements that are
/// not zero.
#[derive(Clone, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Reduce {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The operation that combines the elements, or several in one read of the array, such as
    /// sum,max,var. Flags apply to the operations that have them.
    #[arg(
        long = "op",
        value_name = "OP",
        required = true,
        action = ArgAction::Set,
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(lines().names())
    )]
    ops: Vec<String>,
    #[command(flatten)]
    axis: Axis,
    /// Write the results of --rows or --axis to this .npy file, whole or not at all, and do not print
    /// them.
    #[arg(short, long, alias = "out", value_name = "OUT", requires = "lines")]
    output: Option<OsString>,
    /// Compare the result with the CPU reference, and print the difference and its bound.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    /// How to accumulate a floating-point sum, product or mean.
    #[arg(long)]
    acc: Option<Acc>,
    /// The modulus of prod-mod: 1 to 4294967296.
    #[arg(long, value_name = "M", conflicts_with = "lines", value_parser = within::<u64>(0..=u64::MAX))]
    modulus: Option<u64>,
    /// Ignore elements that are NaN, for sum, mean, min, max, ptp, var, std, argmin and argmax. Indices
    /// still count them. If all are NaN, the result is NaN, -0.0 for sum, and an error for argmin and
    /// argmax.
    #[arg(long)]
    skip_nan: bool,
    /// For var and std: the number that is subtracted from that of the elements in the divisor [default:
    /// 0].
    #[arg(long, value_name = "N", value_parser = within::<u64>(0..=u64::MAX))]
    ddof: Option<u64>,
    /// The algorithm.
    #[arg(long, default_value = "auto")]
    variant: Variant,
    #[command(flatten)]
    parts: Parts,
    #[command(flatten)]
    by: ByRanks,
}

/// The operations that are defined for an empty array.
const HAVE_AN_IDENTITY: [&str; 13] = [
    "sum",
    "prod",
    "xor",
    "and",
    "or",
    "count",
    "prod-mod",
    "sum-squares",
    "norm",
    "l1",
    "logsumexp",
    "any",
    "all",
];

/// Whether the result of `op` is an index in C order, for which the order of the file cannot be used.
fn is_index(op: &str) -> bool {
    matches!(op, "argmin" | "argmax")
}

/// The input of a reduction: an array, or with --ranks this rank's share of it.
struct Given<'a> {
    input: Incoming,
    share: Option<Share<'a>>,
}

/// The result of a reduction, and how it was computed.
struct Found<T> {
    output: T,
    check: Option<Check<T>>,
    about: About,
    variant: &'static str,
    /// Time in µs.
    us: f64,
    /// Elements of a part, if the array was processed in parts.
    part: Option<usize>,
}

/// The operation with the parameters of the flags.
type Of = fn(&Reduce) -> anyhow::Result<Box<dyn Reduction>>;

/// All operations that reduce arrays.
fn lines() -> Lines<Of> {
    let mut lines: Lines<Of> = Lines::new();
    macro_rules! line {
        (reduce $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {};
        // The command line does not offer composition of maps: it is for programs that compute with
        // them.
        (reduce $value:tt (compose_u64: $($rest:tt)*)) => {};
        // The command `describe` prints many results.
        (reduce $value:tt ($name:ident: "describe" $($rest:tt)*)) => {};
        (reduce $value:tt ($name:ident: "var" $ty:ty, $inputs:ident)) => {
            lines.add::<$ty>("var", |call| Ok(Box::new(<$ty>::asked(call)?)));
        };
        (reduce $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |_| Ok(Box::new(<$ty>::new())));
        };
        (reduce $value:tt ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
            lines.add::<$ty>($op, |call| Ok(Box::new(<$ty>::asked(call)?)));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    macro_rules! mean {
        (mean $value:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            lines.add::<Mean<$ty>>("mean", |_| Ok(Box::new(Mean::new(<$ty>::new()))));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(mean);
    macro_rules! derived {
        ($($ty:ty),*) => {$(
            derived! { @ "norm" Norm<$ty>, "any" Any<$ty>, "all" All<$ty> }
        )*};
        (@ $($op:literal $ty:ty),*) => {$(
            lines.add::<$ty>($op, |call| Ok(Box::new(<$ty>::asked(call)?)));
        )*};
    }
    derived! { f16, bf16, f32, f64, i32, u32, i64, u64 }
    macro_rules! deviations {
        ($($ty:ty),*) => {
            derived! { @ $("std" Deviation<$ty>),* }
        };
    }
    deviations! { f32, f64, i32, u32, i64, u64 }
    lines
}

/// The operations with `--skip-nan`.
fn lines_of_numbers() -> Lines<Of> {
    let mut lines: Lines<Of> = Lines::new();
    macro_rules! add {
        ($($op:literal $ty:ty),*) => {$(
            lines.add::<$ty>($op, |call| Ok(Box::new(<$ty>::asked(call)?)));
        )*};
    }
    macro_rules! line {
        (reduce $value:tt ($name:ident: $op:literal SkipNan<$of:ty>, $inputs:ident)) => {
            add! { $op SkipNan<$of> }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    derived_of_numbers!(add);
    lines
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Variant {
    /// The best one for the device.
    Auto,
    /// On a GPU or the emulator: one launch, a block for each tile; the block that started last
    /// combines the results.
    Tiles,
    /// On the CPU: all cores, by rayon.
    Rayon,
}

impl Reduce {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        if self.ops.len() > 1 {
            return self.run_several(global);
        }
        if self.by.is_asked() {
            return self.run_by_ranks(global);
        }
        let files =
            Files::default().reads("INPUT", &self.input).writes("output", self.output.as_ref());
        job::run(global, &files, self.remedy(), |job| {
            let input = job.open(&self.input, self.dtype)?;
            if !self.axis.is_asked() {
                self.refuse_what_makes_no_sense(input.dtype(), input.len())?;
            }
            let (work, what) = (self.cost().of(input.len()), About::of(&input).text("elements"));
            let input = job.choose_for(input, work, &what)?;
            match self.axis.is_asked() {
                true => self.reduce_rows(job, input),
                false => self.dispatch(job, Given { input, share: None }),
            }
        })
    }

    /// The operation of a call that has one.
    fn op(&self) -> &str {
        &self.ops[0]
    }

    /// The remedy if memory runs out.
    fn remedy(&self) -> &'static str {
        match self.axis.is_asked() {
            true => {
                "process fewer elements at a time with --part; with --axis a GPU holds all lines that interleave"
            }
            false => "process fewer elements at a time with --part",
        }
    }

    fn refuse_what_makes_no_sense(&self, dtype: Dtype, len: usize) -> anyhow::Result<()> {
        let (op, lines) = (self.op(), self.lines_for(dtype));
        let usage = |message: String| Err(Usage(message).into());
        if len == 0 && !HAVE_AN_IDENTITY.contains(&op) {
            return usage(format!(
                "the {op} of an empty array is not defined: {} has no elements",
                Input::parse(self.input.clone())
            ));
        }
        let is_missing = !lines.names().contains(&op);
        if is_missing && self.skips_nan(dtype) {
            let names = lines.names().join(" ");
            return usage(format!("--skip-nan supports --op {names}, not {op}"));
        }
        if lines.find(op, dtype, None).is_none() {
            let types = listed(&lines.types_of(op));
            return usage(format!("--op {op} supports {types}, not {dtype}: convert them"));
        }
        if self.modulus.is_some() && op != "prod-mod" {
            return usage(format!("--modulus is for prod-mod; --op {op} has none"));
        }
        self.refuse_ddof(len)?;
        self.refuse_accumulator(dtype)
    }

    /// Whether elements that are NaN are skipped. Integers have none.
    fn skips_nan(&self, dtype: Dtype) -> bool {
        self.skip_nan && dtype.is_float()
    }

    /// The operations for elements of this type.
    fn lines_for(&self, dtype: Dtype) -> Lines<Of> {
        if self.skips_nan(dtype) { lines_of_numbers() } else { lines() }
    }

    /// Refuses a divisor that is not positive, or that the operation does not have.
    fn refuse_ddof(&self, len: usize) -> anyhow::Result<()> {
        let op = self.op();
        let ddof = match (op, self.ddof) {
            ("var" | "std", ddof) => ddof.unwrap_or(0),
            (_, None) => return Ok(()),
            (_, Some(_)) => {
                return Err(Usage(format!("--ddof is for var and std; --op {op} has none")).into());
            }
        };
        if len as u64 <= ddof {
            let why = format!(
                "the {op} with --ddof {ddof} needs more than {ddof} elements, and there are {len}"
            );
            return Err(Usage(why).into());
        }
        Ok(())
    }

    /// Refuses an accumulator that does not fit the operation or the elements.
    fn refuse_accumulator(&self, dtype: Dtype) -> anyhow::Result<()> {
        let op = self.op();
        let is_float = dtype.is_float();
        let usage = |message: String| Err(Usage(message).into());
        match self.acc {
            Some(_) if !is_float => usage(format!(
                "--acc is for floating-point elements; {dtype} is accumulated in 64-bit integers"
            )),
            Some(_) if !matches!(op, "sum" | "prod" | "mean") => {
                usage(format!("--acc is for sum, prod and mean; {op} does not round"))
            }
            Some(_) if self.skips_nan(dtype) => {
                usage("--skip-nan has one accumulator for each type: leave --acc out".into())
            }
            Some(Acc::F32) if dtype == Dtype::F64 => {
                usage("--acc f32 would lose digits of f64 elements: leave it out".into())
            }
            Some(Acc::Compensated) if op == "prod" => {
                usage("--acc compensated is for sum and mean; for prod use f32 or f64".into())
            }
            Some(Acc::Compensated) if matches!(dtype, Dtype::F16 | Dtype::Bf16) => usage(format!(
                "--acc compensated needs f32 or f64 elements; for {dtype} use --acc f64"
            )),
            _ => Ok(()),
        }
    }

    /// Cost of an element.
    fn cost(&self) -> Cost {
        match self.variant {
            Variant::Auto | Variant::Rayon => Cost::REDUCE,
            Variant::Tiles => Cost::KERNELS_ONLY,
        }
    }

    /// The name of the variant to run.
    fn variant(&self, place: &Place) -> anyhow::Result<&'static str> {
        match (self.variant, place) {
            (Variant::Auto | Variant::Tiles, Place::Devices(_)) => Ok("tiles"),
            (Variant::Auto | Variant::Rayon, Place::Cpu) => Ok("rayon"),
            (Variant::Tiles, Place::Cpu) => Err(Usage(
                "--variant tiles runs on a GPU or with --device emulator; this is the CPU".into(),
            )
            .into()),
            (Variant::Rayon, place @ Place::Devices(_)) => Err(Usage(format!(
                "--variant rayon runs with --device cpu; this is {}",
                place.name()
            ))
            .into()),
        }
    }

    fn dispatch(&self, job: &Job<'_>, mut given: Given<'_>) -> anyhow::Result<Done> {
        if let Some(narrow) = self.narrow(job, &mut given) {
            return self.reduce_narrow(narrow, job, given.input);
        }
        let dtype = given.input.dtype();
        self.operation(dtype)?.reduce(self, job, given)
    }

    /// The operation on elements of this type.
    fn operation(&self, dtype: Dtype) -> anyhow::Result<Box<dyn Reduction>> {
        match self.lines_for(dtype).find(self.op(), dtype, self.acc) {
            Some(of) => of(self),
            None => Err(Usage(format!("no {} of {dtype} elements", self.op())).into()),
        }
    }

    /// Reduces an array, or this rank's share of it.
    fn reduce<O>(&self, op: O, job: &Job<'_>, given: Given<'_>) -> anyhow::Result<Done>
    where
        O: PartReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown,
    {
        let input = self.in_order(given.input);
        match given.share {
            None => Ok(self.done(self.reduce_parts(op, job, input)?)),
            Some(mut share) => {
                let found = self.reduce_share(op, job, input, &mut share)?;
                Ok(share.report(self.done(found)))
            }
        }
    }

    /// The elements in the order in which they are reduced.
    fn in_order(&self, input: Incoming) -> Incoming {
        if is_index(self.op()) { input } else { input.in_any_order() }
    }

    /// Reduces part by part.
    fn reduce_parts<O>(
        &self,
        op: O,
        job: &Job<'_>,
        input: Incoming,
    ) -> anyhow::Result<Found<O::Output>>
    where
        O: PartReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown,
    {
        let (about, len) = (About::of(&input), input.len());
        let part = self.parts.of(job, len, size_of::<O::Element>())?;
        let (reducer, place) = match job.place() {
            place @ Place::Cpu => (PartReducer::on_cpu(op, len, part), place),
            place @ Place::Devices(devices) => (PartReducer::new(op, devices, len, part)?, place),
        };
        let part = reducer.part();
        let taken = self.parts.taken(job, part, len);
        let variant = self.variant(place)?;
        let mut running = Running::new(op, self, len, reducer);
        job.each_part(input, part, |elements| running.next(elements))?;
        running.finish(self, By { about, variant, part: taken })
    }

    /// The type as which results for elements of type `dtype` are printed and written.
    fn result_type(&self, dtype: Dtype) -> Dtype {
        match (self.op(), dtype) {
            ("l1", Dtype::I64) => Dtype::U64,
            _ => dtype,
        }
    }

    /// The report of a result.
    fn done<T: Shown>(&self, found: Found<T>) -> Done {
        let Found { output, check, about, variant, us, part } = found;
        let dtype = about.dtype();
        let shown = self.result_type(dtype);
        let check = check.map(|check| Check {
            reference: check.reference.number(shown),
            abs_err: check.abs_err,
            bound: check.bound,
            ok: check.ok,
        });
        let result = output.number(shown);
        let wrapped = output.wrapped(shown);
        let value = output.value();
        let op = self.op().to_owned();
        let what = format!("{op} of {}", about.text("elements"));
        let exact = matches!(&*op, "sum" | "l1").then(|| wrapped.map(|sum| sum.to_string()));
        let fields = Fields::Reduce { op, result, value, exact, ranks: None, transport: None };
        let value = value.map(|value| format!("the element there is {}", value.text()));
        let wrapped = wrapped.map(|sum| format!("the sum wrapped around in 64 bits: it is {sum}"));
        Done {
            result: Some(result.text()),
            lines: value.into_iter().chain(wrapped).collect(),
            us,
            bytes: about.len * dtype.size(),
            part,
            check: check.map(|check| Verdict::of(result, check)),
            ..Done::of(fields, what, about, variant)
        }
    }
}
