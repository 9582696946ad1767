//! `gridsync top`: the first elements of an order, with their indices.

mod check;
mod in_parts;

use super::Global;
use super::axis::{Axis, Matrix};
use super::by_rank;
use super::comparisons::{Standard, verdict};
use super::computed::{AtIndex, Fields};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::output::{self, MOST_PRINTED};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Stored};
use crate::number::Number;
use check::wrong;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device};
use gridsync::memory;
use gridsync::primitives::rank::{Arranged, RankError, Ranker, top_k_on_cpu, top_k_rows_on_cpu};
use gridsync::primitives::sort::{Key, Order};
use gridsync_lab::count::within;
use std::ffi::OsString;

/// Find the k largest or smallest elements, and their indices
///
/// These are the first k elements of the output of gridsync sort --descending, or with --smallest of
/// gridsync sort, without sorting the array. So -0 equals +0, all NaNs are equal and greater than inf,
/// and of equal elements the first come first. An array with NaNs has them among the largest. Indices
/// start at 0, are those of the array flattened in C order, and are written as i64. A line with the
/// index and the element is printed for each of the first 100, unless a file is given. --rows and
/// --axis find the first k of each line; the outputs have k elements along that dimension, and indices
/// are those in the line. Elements of bf16 are written as f32, since .npy has no bf16. One device
/// selects. An array for which a GPU has no room, or longer than --part, is read in parts. Each output
/// is written whole or not at all, and none is written if --check finds an error. --check holds all
/// elements.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Top {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// How many elements to find, at most as many as the array or a line has.
    #[arg(short, value_name = "K", value_parser = within::<usize>(0..=u64::MAX))]
    k: usize,
    #[command(flatten)]
    axis: Axis,
    /// Find the smallest elements, not the largest.
    #[arg(long)]
    smallest: bool,
    /// Compare floats by the total order of IEEE 754: negative NaNs, -inf to -0, +0 to inf, positive
    /// NaNs. Integers have one order.
    #[arg(long)]
    total_order: bool,
    /// Keep the order of the array, and do not sort the elements that are found.
    #[arg(long, conflicts_with = "lines")]
    by_index: bool,
    /// Write the elements to this .npy file, and do not print them; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    /// Write the indices to this .npy file, and do not print them.
    #[arg(long, value_name = "INDICES")]
    indices: Option<OsString>,
    /// Check on one core, by comparisons, that the elements are in order, and that no other one comes
    /// before the last of them.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

/// The first elements and their indices.
type First<T> = (Vec<T>, Vec<u64>);

impl Top {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", self.output.as_ref())
            .writes("indices", self.indices.as_ref());
        let remedy = "a selection by rank holds all elements: select from parts with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let matrix = self.axis.matrix(&input)?;
            let len = matrix.size().1;
            if self.k > len {
                return Err(RankError::TooMany { k: self.k, len }.into());
            }
            if self.axis.is_asked() && self.output.is_none() && self.indices.is_none() {
                return Err(Usage(format!(
                    "{} prints nothing: name a file for the elements with -o, or for the indices with --indices",
                    self.axis.flag()
                ))
                .into());
            }
            let what = About::of(&input).text("elements");
            let work = if self.axis.is_asked() { Cost::ARGSORT } else { Cost::BY_RANK };
            let work = work.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input, &matrix)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming, matrix: &Matrix) -> anyhow::Result<Done> {
        // `.npy` has no type for bf16, and f32 can represent all bf16 numbers.
        let is_without_npy = input.dtype() == Dtype::Bf16 && self.output.is_some();
        let input = if is_without_npy { input.in_f32()? } else { input };
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.select::<$ty>(job, input, matrix);
                }
            };
        }
        gridsync_entries::sorted_elements!(by_dtype);
        Err(Usage(format!("top does not support elements of {}", input.dtype())).into())
    }

    /// Selects, and checks the results if `--check` is given.
    fn select<T: Key + Standard + data::Scalar + Into<Number>>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        matrix: &Matrix,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let (rows, columns) = matrix.size();
        let results = rows.saturating_mul(self.k).saturating_mul(size_of::<T>() + size_of::<u64>());
        // The library sorts to find more than an eighth of the elements, and most rows.
        let is_sorted = self.axis.is_asked() || self.k > columns / 8;
        let of_each = by_rank::bytes_of_each::<T>(is_sorted);
        // In parts, the next one is read while one is searched, and no memory holds all.
        let streamed = self.parts.of(job, about.len, of_each)?;
        let part = if !self.axis.is_asked() && !self.check && self.k <= streamed / 8 {
            Some(streamed).filter(|&part| part < about.len)
        } else {
            self.parts.of_lines(job, (self.axis, matrix), of_each)?
        };
        if let Some(part) = part {
            let (first, us, part, held) = self.in_parts::<T>(job, input, matrix, part)?;
            let done = self.checked(job, (about, matrix), &held, first)?;
            return Ok(Done { us, part, ..done });
        }
        let device = job.place().device("top")?;
        if let Some(device) = device {
            by_rank::expect_room::<T>(device, about.len, results, is_sorted)?;
        }
        let input = input.all()?;
        let input = matrix.gathered(input.as_slice::<T>()?)?;
        let (first, us) = if self.axis.is_asked() {
            self.of_rows(device, &input, (rows, columns))?
        } else if let Some(device) = device {
            on_device(device, &input, self.k, |ranker, input, to| {
                ranker.top_k(self.order(), input, self.arranged(), to)
            })?
        } else {
            // The indices are found twice, and sorted.
            let bytes = 2 * results + 4 * size_of::<u64>() * self.k;
            let select = || top_k_on_cpu(self.order(), &input, self.k, self.arranged());
            let (first, us) = job::on_cpu(bytes, select)?;
            (first?, us)
        };
        Ok(Done { us, ..self.checked(job, (about, matrix), &input, first)? })
    }

    fn order(&self) -> Order {
        Order { is_descending: !self.smallest, is_total: self.total_order }
    }

    fn arranged(&self) -> Arranged {
        if self.by_index { Arranged::ByIndex } else { Arranged::ByRank }
    }

    /// The first elements of each row of `input`, and the time in µs.
    fn of_rows<T: Key>(
        &self,
        device: Option<&Device>,
        input: &[T],
        (rows, columns): (usize, usize),
    ) -> anyhow::Result<(First<T>, f64)> {
        let count = rows.saturating_mul(self.k);
        if let Some(device) = device {
            return on_device(device, input, count, |ranker, input, to| {
                ranker.top_k_rows(self.order(), input, (rows, columns), to)
            });
        }
        let bytes = count.saturating_mul(2 * (size_of::<T>() + size_of::<u64>()));
        let select = || top_k_rows_on_cpu(self.order(), input, (rows, columns), self.k);
        let (first, us) = job::on_cpu(bytes, select)?;
        Ok((first?, us))
    }

    /// The outcome. Checks the results against `input`, whose rows are contiguous, if `--check` is
    /// given.
    fn checked<T: Key + Standard + data::Scalar + Into<Number>>(
        &self,
        job: &Job<'_>,
        (about, matrix): (About, &Matrix),
        input: &[T],
        first: First<T>,
    ) -> anyhow::Result<Done> {
        let check = self.check.then(|| {
            job.doing("checking");
            // Without elements or results there is nothing to check.
            let (columns, k) = (matrix.size().1.max(1), self.k.max(1));
            let results = first.0.chunks(k).zip(first.1.chunks(k));
            let mut each = input.chunks(columns).zip(results);
            let (order, arranged) = (self.order(), self.arranged());
            verdict(each.find_map(|(input, of_row)| wrong(order, arranged, input, of_row)))
        });
        let arrays = self.written(&matrix.of(self.k), &first, &check)?;
        let results = size_of_val(&first.0[..]) + size_of_val(&first.1[..]);
        let bytes = about.len * size_of::<T>() + results;
        Ok(Done { bytes, arrays, ..self.report(job, (about, matrix), &first, check) })
    }

    /// The arrays that are asked for, unless the check found an error.
    fn written<T: data::Scalar + bytemuck::Pod>(
        &self,
        matrix: &Matrix,
        (elements, indices): &First<T>,
        check: &Option<Verdict>,
    ) -> anyhow::Result<Vec<Sink>> {
        let mut arrays = Vec::new();
        if let Some(path) = &self.output {
            let elements = matrix.scattered(elements)?;
            let write = || Sink::of_shape(path, T::DTYPE, matrix.shape())?.with(&elements);
            arrays.extend(job::unless_wrong(check, write)?);
        }
        if let Some(path) = &self.indices {
            let indices = matrix.scattered(bytemuck::cast_slice::<_, i64>(indices))?;
            let write = || Sink::of_shape(path, Dtype::I64, matrix.shape())?.with(&indices);
            arrays.extend(job::unless_wrong(check, write)?);
        }
        Ok(arrays)
    }

    /// The text and the JSON of the elements.
    fn report<T: Copy + Into<Number>>(
        &self,
        job: &Job<'_>,
        (about, matrix): (About, &Matrix),
        (elements, indices): &First<T>,
        check: Option<Verdict>,
    ) -> Done {
        let is_printed = self.output.is_none() && self.indices.is_none();
        let pairs =
            || indices.iter().zip(elements).map(|(&index, &element)| (index, element.into()));
        let result = (is_printed && self.k > 0).then(|| table(pairs()));
        let in_json = |(index, element)| AtIndex { index, element };
        let fields = Fields::Top {
            op: "top",
            k: self.k,
            elements: is_printed.then(|| pairs().map(in_json).collect()),
            output: job.path("output", &check),
            indices: self.indices.as_ref().map(|_| job.path("indices", &check)),
        };
        let which = if self.smallest { "smallest" } else { "largest" };
        let of_what = || about.text("elements");
        let of_what = matrix.along().map_or_else(of_what, |along| self.axis.text(along));
        let what = format!("the {} {which} of {of_what}", self.k);
        Done { result, check, ..Done::of(fields, what, about, by_rank::variant(job.place())) }
    }
}

/// Where elements and their indices are written on a device.
type To<'a, T> = (&'a mut Buffer<T>, &'a mut Buffer<u64>);

/// The `count` elements that `select` finds on a device, and its time in µs.
fn on_device<T: Key>(
    device: &Device,
    input: &[T],
    count: usize,
    select: impl Fn(&mut Ranker<T>, &Buffer<T>, To<'_, T>) -> Result<(), RankError>,
) -> anyhow::Result<(First<T>, f64)> {
    let input = device.upload(input)?;
    let (mut elements, mut indices) = (device.alloc(count)?, device.alloc(count)?);
    let us = by_rank::on_device(device, input.len(), |ranker| {
        select(ranker, &input, (&mut elements, &mut indices))
    })?;
    let (mut first, mut at) = (memory::zeroed(count)?, memory::zeroed(count)?);
    elements.download_to(0, &mut first)?;
    indices.download_to(0, &mut at)?;
    Ok(((first, at), us))
}

/// A line with the index and the element for each of the first pairs.
fn table(pairs: impl ExactSizeIterator<Item = (u64, Number)> + Clone) -> String {
    let widths = pairs.clone().take(MOST_PRINTED).map(|(index, _)| index.to_string().len());
    let width = widths.max().unwrap_or(0);
    let lines = pairs.map(|(index, element)| format!("{index:>width$}  {}", element.text()));
    output::first(lines, "elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_as_wide_as_its_greatest_index() {
        let pairs = [(5, Number::Float(2.5)), (1000, Number::Signed(-3))];
        assert_eq!(table(pairs.into_iter()), "   5  2.5\n1000  -3");
        let many = (0..=100u64).rev().map(|at| (at, Number::Unsigned(at)));
        let text = table(many.collect::<Vec<_>>().into_iter());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[99]), ("100  100", "  1  1"));
        assert_eq!(lines[100], "… and 1 more elements: -o FILE writes all, --json prints all");
    }
}
