//! `gridsync reduce --op sum,max`: several operations in one read of the array.

use super::shown::Shown;
use super::{Found, Given, Reduce, is_index, lines_of_numbers};
use crate::cli::Global;
use crate::cli::catalogue::Acc;
use crate::cli::choice::Place;
use crate::cli::computed::{Check, Fields, Reduced};
use crate::cli::exit::Usage;
use crate::cli::files::Files;
use crate::cli::job::{self, About, Done, Job, Verdict};
use crate::data::{self, Dtype, Incoming};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::primitives::parts::{SharedPart, Uploaded};
use gridsync::primitives::{Checked, Checking, PartReducer, PartReducible};
use gridsync::reference;
use std::any::Any;

/// An operation of the catalogue with its parameters, whatever its types are.
pub(super) trait Reduction {
    /// Reduces an array by this operation only, or this rank's share of it.
    fn reduce(&self, call: &Reduce, job: &Job<'_>, given: Given<'_>) -> anyhow::Result<Done>;

    /// Adds this operation to the `Several<T>` of its elements.
    fn join(&self, call: &Reduce, several: &mut dyn Any) -> anyhow::Result<()>;
}

impl<O> Reduction for O
where
    O: PartReducible + Checked,
    O::Element: Pod + data::Scalar,
    O::Output: Shown,
{
    fn reduce(&self, call: &Reduce, job: &Job<'_>, given: Given<'_>) -> anyhow::Result<Done> {
        call.reduce(*self, job, given)
    }

    fn join(&self, call: &Reduce, several: &mut dyn Any) -> anyhow::Result<()> {
        let several: Option<&mut Several<O::Element>> = several.downcast_mut();
        let several = several.expect("the line of an operation has the type of its elements");
        let reducer = PartReducer::sharing(*self, &several.room)?;
        let running = Running::new(*self, call, several.len, reducer);
        several.running.push(Box::new(running));
        Ok(())
    }
}

/// Several reductions of an array whose parts they share.
struct Several<T> {
    len: usize,
    room: SharedPart<T>,
    running: Vec<Box<dyn Step<T>>>,
}

/// A reduction in progress, of elements of `T`.
trait Step<T> {
    /// Adds the next part.
    fn next(&mut self, part: &Uploaded<'_, T>) -> anyhow::Result<()>;

    /// The report of the result.
    fn finish(self: Box<Self>, call: &Reduce, by: By) -> anyhow::Result<Done>;
}

/// A reduction in progress, and its check.
pub(super) struct Running<O: PartReducible + Checked> {
    len: usize,
    reducer: PartReducer<O>,
    checking: Option<Box<dyn Checking<O::Element, O::Output>>>,
}

/// How an array is reduced.
#[derive(Clone, Copy)]
pub(super) struct By {
    pub(super) about: About,
    pub(super) variant: &'static str,
    /// Elements of a part, if the array is processed in parts.
    pub(super) part: Option<usize>,
}

impl<O> Running<O>
where
    O: PartReducible + Checked,
    O::Element: Pod,
    O::Output: Shown,
{
    /// A reduction of `len` elements, with the check that `call` asks for.
    pub(super) fn new(op: O, call: &Reduce, len: usize, reducer: PartReducer<O>) -> Self {
        Self { len, reducer, checking: call.check.then(|| op.checking(len)) }
    }

    /// Adds the next part.
    pub(super) fn next(&mut self, elements: &[O::Element]) -> anyhow::Result<()> {
        self.reducer.next(elements)?;
        self.check(elements);
        Ok(())
    }

    fn check(&mut self, elements: &[O::Element]) {
        if let Some(checking) = &mut self.checking {
            checking.next(elements);
        }
    }

    /// The result.
    pub(super) fn finish(self, call: &Reduce, by: By) -> anyhow::Result<Found<O::Output>> {
        let By { about, variant, part } = by;
        let us = self.reducer.us();
        let output = self.reducer.finish();
        if output.is_missing() {
            let (op, len) = (call.op(), self.len);
            let why = format!("the {op} of no numbers is not defined: all {len} are NaN");
            return Err(Usage(why).into());
        }
        let depth = reference::reduce_depth::<O>(self.len);
        let check = self.checking.map(|checking| checking.check(output, depth));
        Ok(Found { output, check, about, variant, us, part })
    }
}

impl<O> Step<O::Element> for Running<O>
where
    O: PartReducible + Checked,
    O::Element: Pod,
    O::Output: Shown,
{
    fn next(&mut self, part: &Uploaded<'_, O::Element>) -> anyhow::Result<()> {
        self.reducer.next_uploaded(part)?;
        self.check(part.elements());
        Ok(())
    }

    fn finish(self: Box<Self>, call: &Reduce, by: By) -> anyhow::Result<Done> {
        Ok(call.done(Self::finish(*self, call, by)?))
    }
}

impl Reduce {
    /// Reduces by several operations.
    pub(super) fn run_several(&self, global: &Global) -> anyhow::Result<()> {
        self.refuse_several()?;
        let calls = self.one_by_one();
        let files = Files::default().reads("INPUT", &self.input);
        job::run(global, &files, self.remedy(), |job| {
            let input = job.open(&self.input, self.dtype)?;
            for call in &calls {
                call.refuse_what_makes_no_sense(input.dtype(), input.len())?;
            }
            let input = self.in_one_order(input)?;
            let work = self.cost().times(calls.len()).of(input.len());
            let what = About::of(&input).text("elements");
            let input = job.choose_for(input, work, &what)?;
            macro_rules! several {
                ($($dtype:ident: $ty:ty),*) => {
                    match input.dtype() {
                        $(Dtype::$dtype => self.several::<$ty>(&calls, job, input),)*
                    }
                };
            }
            several! {
                F16: f16, Bf16: bf16, F32: f32, F64: f64, I32: i32, U32: u32, I64: i64, U64: u64
            }
        })
    }

    /// Refuses what needs one operation.
    fn refuse_several(&self) -> anyhow::Result<()> {
        let ops = &self.ops;
        if let Some(twice) = ops.iter().enumerate().find(|(at, op)| ops[..*at].contains(op)) {
            return Err(Usage(format!("--op names {} twice", twice.1)).into());
        }
        let flag = if self.by.is_asked() {
            "--ranks"
        } else if self.axis.is_asked() {
            self.axis.flag()
        } else {
            return Ok(());
        };
        let why = format!("{flag} needs one operation, and --op names {}", ops.join(", "));
        Err(Usage(why).into())
    }

    /// A call for each operation, with those flags that it has. A flag that no operation has stays,
    /// so that it is refused.
    fn one_by_one(&self) -> Vec<Self> {
        let of_numbers = lines_of_numbers().names();
        let rounds = |op: &str| match op {
            "sum" | "mean" => true,
            "prod" => self.acc != Some(Acc::Compensated),
            _ => false,
        };
        let is_for = |op: &str, has: &dyn Fn(&str) -> bool| {
            has(op) || !self.ops.iter().any(|other| has(other))
        };
        let of = |op: &String| Self {
            ops: vec![op.clone()],
            acc: self.acc.filter(|_| is_for(op, &rounds)),
            modulus: self.modulus.filter(|_| is_for(op, &|op| op == "prod-mod")),
            skip_nan: self.skip_nan && is_for(op, &|op| of_numbers.contains(&op)),
            ddof: self.ddof.filter(|_| is_for(op, &|op| matches!(op, "var" | "std"))),
            ..self.clone()
        };
        self.ops.iter().map(of).collect()
    }

    /// The elements in the order in which all operations reduce them.
    fn in_one_order(&self, input: Incoming) -> anyhow::Result<Incoming> {
        let indices = self.ops.iter().filter(|op| is_index(op)).count();
        if indices == 0 {
            return Ok(input.in_any_order());
        }
        if indices < self.ops.len() && !input.is_in_c_order() {
            let why = "argmin and argmax read this array in C order, and other operations in Fortran order, that of its file: reduce it in two calls";
            return Err(Usage(why.into()).into());
        }
        Ok(input)
    }

    /// Reduces part by part; each part is uploaded once.
    fn several<T: data::Scalar + Scalar>(
        &self,
        calls: &[Self],
        job: &Job<'_>,
        input: Incoming,
    ) -> anyhow::Result<Done> {
        let (about, len) = (About::of(&input), input.len());
        let variant = self.variant(job.place())?;
        let part = self.parts.of(job, len, size_of::<T>())?;
        let room = match job.place() {
            Place::Cpu => SharedPart::<T>::on_cpu(len, part),
            Place::Devices(devices) => SharedPart::new(devices, len, part)?,
        };
        let part = room.part();
        let by = By { about, variant, part: self.parts.taken(job, part, len) };
        let mut several = Several { len, room, running: Vec::new() };
        for call in calls {
            call.operation(about.dtype())?.join(call, &mut several)?;
        }
        let Several { mut room, mut running, .. } = several;
        job.each_part(input, part, |elements| {
            let part = room.upload(elements)?;
            running.iter_mut().try_for_each(|one| one.next(&part))
        })?;
        let finish = |(one, call): (Box<dyn Step<T>>, _)| one.finish(call, by);
        let all: Vec<Done> =
            running.into_iter().zip(calls).map(finish).collect::<Result<_, _>>()?;
        Ok(self.together(all, by))
    }

    /// One report of all results.
    fn together(&self, all: Vec<Done>, by: By) -> Done {
        let width = self.ops.iter().map(String::len).max().unwrap_or(0);
        let (mut table, mut lines, mut results) = (Vec::new(), Vec::new(), Vec::new());
        let (mut compared, mut wrong) = (Vec::new(), Vec::new());
        let (mut us, mut bytes) = (0.0, 0);
        for done in all {
            let Fields::Reduce { op, result, value, exact, .. } = done.fields else {
                unreachable!("it is one reduction");
            };
            table.push(format!("{op:width$}  {}", result.text()));
            lines.extend(done.lines.into_iter().map(|line| format!("{op}: {line}")));
            us += done.us;
            bytes += done.bytes;
            let check = done.check.map(|check| {
                compared.push(format!("{op}: {}", check.line));
                wrong.extend(check.wrong.map(|wrong| format!("{op}: {wrong}")));
                check.json
            });
            results.push(Reduced { op, result, value, exact, check });
        }
        let check = self.check.then(|| Verdict {
            json: Check::Whole { ok: wrong.is_empty() },
            line: compared.join("\n"),
            wrong: (!wrong.is_empty()).then(|| wrong.join("; ")),
        });
        let what = format!("{} of {}", self.ops.join(", "), by.about.text("elements"));
        let fields = Fields::Several { op: self.ops.join(","), results };
        Done {
            result: Some(table.join("\n")),
            lines,
            us,
            bytes,
            part: by.part,
            check,
            ..Done::of(fields, what, by.about, by.variant)
        }
    }
}
