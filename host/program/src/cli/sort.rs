//! `gridsync sort`: an array in order, or the indices that put it in order.

mod groups;
mod in_parts;

use super::Global;
use super::axis::{Axis, Matrix};
use super::choice::Place;
use super::comparisons::{Standard, verdict, wrong_element, wrong_index};
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::offsets::offsets;
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Narrow, Stored};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::memory::NoRoom;
use gridsync::primitives::sort::{Key, Order, sort_in_place_on_cpu};
use groups::{Groups, wrong_in_segments};
use std::ffi::OsString;

/// Sort an array or its rows, or find the indices that sort them
///
/// The array is flattened in C order, and the output has one dimension. --rows and --axis sort along
/// one dimension, and the output has the shape of the array. Equal elements keep their order, with
/// --descending too. As in NumPy, -0 equals +0, and all NaNs are equal and greater than inf: they come
/// last, and with --descending first. --argsort is numpy.argsort(x, axis=None, kind="stable"), and with
/// --axis that of the axis; the indices are written as i64. The output has the type of the input, but
/// bf16 is sorted as f32, since .npy has no bf16. One device sorts: a GPU needs memory for three
/// arrays, and with --argsort for 16 bytes more for each element. An array for which that is more than
/// three quarters of what is free, or longer than --part, is sorted in parts, which are kept in a
/// temporary file in the folder of the output and merged; rows are sorted some at a time. The output is written whole or not at all, and
/// not if --check finds it wrong. --check holds all elements and results.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Sort {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The .npy file to write; `-` is standard output, which then has nothing else.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: OsString,
    #[command(flatten)]
    axis: Axis,
    /// Sort each segment separately. The file has the offset of each, and at last the number of
    /// elements: 0,3,3,5 are three segments, of which the second one is empty. With --argsort, indices
    /// are those in the segment.
    #[arg(long, value_name = "OFFSETS", conflicts_with = "lines")]
    segments: Option<OsString>,
    #[command(flatten)]
    parts: Parts,
    /// Write the indices of the elements in their order, not the elements.
    #[arg(long)]
    argsort: bool,
    /// Sort from the greatest to the smallest.
    #[arg(long)]
    descending: bool,
    /// Sort floats in the total order of IEEE 754: negative NaNs, -inf to -0, +0 to inf, positive
    /// NaNs. Integers have one order.
    #[arg(long)]
    total_order: bool,
    /// Sort again on one core by comparisons, and compare; with --argsort, check that each index is
    /// there once, and that elements are in order, equal ones by index.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool.
    #[arg(long)]
    dtype: Option<Stored>,
}

impl Sort {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut files =
            Files::default().reads("INPUT", &self.input).writes("output", Some(&self.output));
        if let Some(segments) = &self.segments {
            files = files.reads("--segments", segments);
        }
        let remedy = "a sort holds all elements and results: sort parts with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let cost = if self.argsort { Cost::ARGSORT } else { Cost::SORT };
            let what = About::of(&input).text_as_sorted();
            let matrix = self.axis.matrix(&input)?;
            let offsets = self.segments.as_ref().map(|path| offsets(job, path, input.len()));
            let lines = Lines { axis: self.axis, matrix, offsets: offsets.transpose()? };
            let work = cost.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input, &lines)
        })
    }

    fn order(&self) -> Order {
        Order { is_descending: self.descending, is_total: self.total_order }
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming, lines: &Lines) -> anyhow::Result<Done> {
        match input.stored().narrow() {
            None => self.dispatch_wide(job, input, lines),
            Some(Narrow::I8) => self.sort_narrow::<i8>(job, input, lines),
            Some(Narrow::I16) => self.sort_narrow::<i16>(job, input, lines),
            Some(Narrow::U8) => self.sort_narrow::<u8>(job, input, lines),
            Some(Narrow::U16) => self.sort_narrow::<u16>(job, input, lines),
        }
    }

    /// Sorts integers without widening them.
    fn sort_narrow<T: Key + Standard>(
        &self,
        job: &Job<'_>,
        mut input: Incoming,
        lines: &Lines,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let done = match self.part_of::<T>(job, lines)? {
            // Those that were widened in advance are in memory.
            Some(part) if input.narrow().is_some() => {
                self.in_parts::<T>(job, lines, about.stored, input, part)?
            }
            _ => {
                let mut input = input.all_narrow()?;
                self.sort::<T>(job, (about, lines), about.stored, &mut input)?
            }
        };
        let dtype = about.stored.narrow().map_or(done.dtype, Narrow::name);
        Ok(Done { dtype, ..done })
    }

    fn dispatch_wide(&self, job: &Job<'_>, input: Incoming, lines: &Lines) -> anyhow::Result<Done> {
        // `.npy` has no type for bf16, and f32 can represent all bf16 numbers. Indices do not need that.
        let is_without_npy = input.dtype() == Dtype::Bf16 && !self.argsort;
        let input = if is_without_npy { input.in_f32()? } else { input };
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    let about = About::of(&input);
                    let stored = about.dtype().into();
                    if let Some(part) = self.part_of::<$ty>(job, lines)? {
                        return self.in_parts::<$ty>(job, lines, stored, input, part);
                    }
                    let mut array = input.all()?;
                    return self.sort::<$ty>(job, (about, lines), stored, array.as_mut_slice()?);
                }
            };
        }
        gridsync_entries::sorted_elements!(by_dtype);
        Err(Usage(format!("sort does not support elements of {}", input.dtype())).into())
    }

    /// About how many elements to sort at a time, or `None` for all at once.
    fn part_of<T>(&self, job: &Job<'_>, lines: &Lines) -> anyhow::Result<Option<usize>> {
        let indices = if self.argsort { 2 * size_of::<u64>() } else { 0 };
        let of_each = 3 * size_of::<T>() + indices;
        if lines.offsets.is_some() {
            self.parts.refuse_for("--segments")?;
        } else if let Some(part) = self.parts.of_lines(job, (self.axis, &lines.matrix), of_each)? {
            return Ok(Some(part));
        }
        if let Some(device) = job.place().device("sort")? {
            job::expect_room(device, "sort", lines.matrix.len().saturating_mul(of_each))?;
        }
        Ok(None)
    }

    /// Sorts `input`, whose elements are `stored` in the output.
    fn sort<T: Key + Standard>(
        &self,
        job: &Job<'_>,
        (about, lines): (About, &Lines),
        stored: Stored,
        input: &mut [T],
    ) -> anyhow::Result<Done> {
        let (device, order) = (job.place().device("sort")?, self.order());
        let needs_input = self.argsort || lines.are_asked() || self.check;
        if device.is_none() && !needs_input {
            let bytes = size_of_val(input);
            let ((), us) = job::on_cpu(bytes, || sort_in_place_on_cpu(order, input))?;
            let done = self.done(job, (about, lines), stored, input, || Ok(None))?;
            return Ok(Done { us, bytes: 2 * bytes, ..done });
        }
        let input = lines.matrix.gathered(input)?;
        let (groups, input) = (lines.groups(), &input[..]);
        if self.argsort {
            let (indices, us) = groups.indices(device, order, input)?;
            let wrong =
                || lines.wrong(input, &indices, |of, found| Ok(wrong_index(order, of, found)));
            let done = self.done(job, (about, lines), Dtype::I64.into(), &indices, wrong)?;
            Ok(Done { us, bytes: size_of_val(input) + size_of_val(&indices[..]), ..done })
        } else {
            let (sorted, us) = groups.sorted(device, order, input)?;
            let wrong = || lines.wrong(input, &sorted, |of, found| wrong_element(order, of, found));
            let done = self.done(job, (about, lines), stored, &sorted, wrong)?;
            Ok(Done { us, bytes: 2 * size_of_val(input), ..done })
        }
    }

    /// Checks the results if `--check` is given, and writes them as `stored`. `wrong` finds the first
    /// wrong one.
    fn done<R: Pod>(
        &self,
        job: &Job<'_>,
        (about, lines): (About, &Lines),
        stored: Stored,
        results: &[R],
        wrong: impl FnOnce() -> Result<Option<usize>, NoRoom>,
    ) -> anyhow::Result<Done> {
        let check = if self.check {
            job.doing("checking");
            let wrong = wrong()?;
            Some(verdict(
                wrong.map(|at| format!("the result at {at} is wrong, and nothing was written")),
            ))
        } else {
            None
        };
        let arrays = job::unless_wrong(&check, || {
            let results = lines.matrix.scattered(results)?;
            Sink::of_shape(&self.output, stored, lines.matrix.shape())?.with_stored(&results)
        })?;
        Ok(Done { arrays, ..self.report(job, about, lines, check) })
    }

    /// The text and the JSON.
    fn report(&self, job: &Job<'_>, about: About, lines: &Lines, check: Option<Verdict>) -> Done {
        let output = job.path("output", &check);
        let op = if self.argsort { "argsort" } else { "sort" };
        let descending = if self.descending { "descending " } else { "" };
        let what = format!("{descending}{op} of {}", lines.text(about));
        let variant = match job.place() {
            Place::Devices(_) => "radix",
            Place::Cpu => "rayon",
        };
        Done { check, ..Done::of(Fields::Sort { op, output }, what, about, variant) }
    }
}

/// The lines or segments of an array that are sorted separately, if any.
struct Lines {
    axis: Axis,
    matrix: Matrix,
    /// Of segments.
    offsets: Option<Vec<u64>>,
}

impl Lines {
    fn are_asked(&self) -> bool {
        self.matrix.along().is_some() || self.offsets.is_some()
    }

    /// The groups of elements that are sorted together, once lines are contiguous.
    fn groups(&self) -> Groups<'_> {
        match &self.offsets {
            Some(offsets) => Groups::Segments(offsets),
            None if self.matrix.along().is_some() => Groups::Rows(self.matrix.size().1),
            None => Groups::Whole,
        }
    }

    /// The place in the array of the first wrong one of `results`.
    fn wrong<T, R>(
        &self,
        input: &[T],
        results: &[R],
        wrong: impl Fn(&[T], &[R]) -> Result<Option<usize>, NoRoom>,
    ) -> Result<Option<usize>, NoRoom> {
        match &self.offsets {
            Some(offsets) => wrong_in_segments(offsets, input, results, wrong),
            None => self.matrix.wrong(input, results, wrong),
        }
    }

    fn text(&self, about: About) -> String {
        let whole = || about.text_as_sorted();
        match &self.offsets {
            Some(offsets) => format!("each of {} segments of {}", offsets.len() - 1, whole()),
            None => self.matrix.along().map_or_else(whole, |along| self.axis.text(along)),
        }
    }
}
