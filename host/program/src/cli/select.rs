//! `gridsync select`: selects elements of an array and keeps their order.

mod check;
mod condition;
mod sifted;

use super::Global;
use super::choice::Place;
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Stored};
use bytemuck::Pod;
use check::{Against, verdict};
use condition::{Bounded, Condition};
use cuda_std::{bf16, f16};
use gridsync::primitives::select::{FirstOfRun, Within};
use gridsync::primitives::{PartSelector, Sifted, Wanted};
use gridsync_entries::select::Selectable;
use sifted::Outputs;
use std::ffi::OsString;

/// Select elements that meet a condition, or the first of each run
///
/// The array is flattened in C order, and each output has one dimension: --where is x[x > 0.5]
/// in NumPy, --partition also writes x[~(x > 0.5)], and --positions is numpy.flatnonzero(x > 0.5).
/// A condition is one of < <= > >= == != and a number, or one of the words nonzero, finite and
/// notnan. The number may have a fraction even if the elements are integers. Comparisons follow
/// IEEE 754: NaN meets != only, and -0 equals +0. --unique keeps the first of each run of equal
/// elements; each NaN is a separate run. --positions says where each run begins and --counts how
/// long it is: run-length encoding. Positions and counts are written as u64, and elements of bf16 as
/// f32, since .npy has no bf16. Each output is written whole or not at all, and none is written if
/// --check finds one wrong.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Select {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// Keep the elements that meet this condition, such as "> 0.5".
    #[arg(long = "where", value_name = "CONDITION", required_unless_present = "unique")]
    condition: Option<Condition>,
    /// Keep the first of each run of equal elements.
    #[arg(long, conflicts_with = "condition")]
    unique: bool,
    /// The .npy file for the elements that are kept; `-` is standard output, which then has nothing
    /// else.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: OsString,
    /// The .npy file for all other elements.
    #[arg(long, value_name = "REST", conflicts_with = "unique")]
    partition: Option<OsString>,
    /// The .npy file for the indices of the elements that are kept.
    #[arg(long, value_name = "POSITIONS")]
    positions: Option<OsString>,
    /// The .npy file for the lengths of the runs.
    #[arg(long, value_name = "COUNTS", conflicts_with = "condition")]
    counts: Option<OsString>,
    /// Compare the results with a loop on the CPU.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

impl Select {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", Some(&self.output))
            .writes("partition", self.partition.as_ref())
            .writes("positions", self.positions.as_ref())
            .writes("counts", self.counts.as_ref());
        let remedy = "process fewer elements at a time with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let (work, what) = (Cost::SELECT.of(input.len()), About::of(&input).text("elements"));
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        // `.npy` has no type for bf16, and f32 can represent all bf16 numbers.
        let input = match input.dtype() {
            Dtype::Bf16 => input.in_f32()?,
            _ => input,
        };
        macro_rules! select {
            ($ty:ident $($rest:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.select::<$ty>(job, input);
                }
            };
        }
        gridsync_entries::selected_elements!(select);
        Err(Usage(format!("select does not support elements of {}", input.dtype())).into())
    }

    fn select<T>(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done>
    where
        T: Bounded + Pod + data::Scalar,
        Within<T>: Selectable<Element = T>,
        FirstOfRun<T>: Selectable<Element = T>,
    {
        match &self.condition {
            Some(condition) => self.select_by(condition.within::<T>()?, job, input),
            None => self.select_by(FirstOfRun::<T>::new(), job, input),
        }
    }

    /// Selects part by part, and writes the results of each part immediately. At the end, unless
    /// the check found an error, the files appear and streams get their elements.
    fn select_by<S>(&self, by: S, job: &Job<'_>, mut input: Incoming) -> anyhow::Result<Done>
    where
        S: Selectable<Element: Pod + data::Scalar>,
    {
        let (about, dtype, len) = (About::of(&input), input.dtype(), input.len());
        let wanted = Wanted {
            rest: self.partition.is_some(),
            positions: self.positions.is_some() || self.counts.is_some(),
        };
        let bytes = wanted.bytes::<S::Element>();
        let part = self.parts.of(job, len, bytes)?.min(len.max(1));
        let taken = self.parts.taken(job, part, len);
        let (mut selector, variant) = match job.place() {
            Place::Cpu => (PartSelector::on_cpu(by, wanted), "rayon"),
            Place::Devices(devices) => {
                let selector = PartSelector::new(by, devices, part, wanted)?;
                (selector, "single-pass")
            }
        };
        let mut outputs = self.outputs(dtype)?;
        let (mut kept, mut written) = (0, 0);
        let mut checking = self.check.then(|| Against::new(by));
        let mut push = |found: &Sifted<S::Element>| {
            kept += found.kept.len();
            written += found.bytes();
            outputs.push(found)
        };
        // A check needs widened elements.
        let may_be_narrow = matches!(job.place(), Place::Cpu) && !self.check;
        match if may_be_narrow { input.narrow() } else { None } {
            Some(narrow) => {
                let size = input.size();
                job.each_part(input, part, |bytes: &[u8]| {
                    push(&selector.next_by(bytes.len() / size, &|some, into| {
                        let narrow_ones = &bytes[some.start * size..some.end * size];
                        narrow.widen(narrow_ones, bytemuck::cast_slice_mut(into));
                    })?)
                })?;
            }
            None => job.each_part(input, part, |elements| {
                let found = selector.next(elements)?;
                if let Some(checking) = &mut checking {
                    checking.next(elements, &found);
                }
                push(&found)
            })?,
        }
        let check = checking.map(|checking| verdict(checking.wrong()));
        let is_wrong = check.as_ref().is_some_and(|check| check.wrong.is_some());
        let arrays = if is_wrong { Vec::new() } else { outputs.finish(len as u64)? };
        let condition = self.condition.as_ref().map(ToString::to_string);
        let op = match (&self.partition, self.unique) {
            (Some(_), _) => "partition",
            (None, true) => "unique",
            (None, false) => "select",
        };
        let by = condition.as_deref().unwrap_or("unique");
        let what = format!("{kept} of {}, {by},", about.text("elements"));
        let path = |name| job.path(name, &check);
        let fields = Fields::Select {
            op,
            condition,
            kept,
            output: path("output"),
            partition: self.partition.as_ref().map(|_| path("partition")),
            positions: self.positions.as_ref().map(|_| path("positions")),
            counts: self.counts.as_ref().map(|_| path("counts")),
        };
        Ok(Done {
            us: selector.us(),
            bytes: len * dtype.size() + written,
            part: taken,
            check,
            arrays,
            ..Done::of(fields, what, about, variant)
        })
    }

    /// All requested arrays, ready to be written.
    fn outputs(&self, elements: Dtype) -> anyhow::Result<Outputs> {
        let begin = |to: &Option<OsString>, dtype| {
            let to = to.as_ref();
            to.map(|to| Sink::growing(to, dtype)).transpose()
        };
        Ok(Outputs {
            kept: Sink::growing(&self.output, elements)?,
            rest: begin(&self.partition, elements)?,
            positions: begin(&self.positions, Dtype::U64)?,
            counts: begin(&self.counts, Dtype::U64)?,
            run: None,
        })
    }
}
