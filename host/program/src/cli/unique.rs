//! `gridsync unique`: the distinct values of an array, and how often each is there.

mod check;
mod in_parts;

use super::Global;
use super::choice::Place;
use super::comparisons::{Standard, verdict};
use super::computed::{Fields, Value};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::output;
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Narrow, Stored};
use crate::number::Number;
use check::wrong;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::sort::{Key, Order};
use gridsync::primitives::value_counts::{ValueCounter, ValueCounts, value_counts_on_cpu};
use gridsync_lab::display::words;
use std::ffi::OsString;

/// Find the distinct values of an array, and count each
///
/// This is numpy.unique: the values come out sorted, and the array need not be. As in NumPy, -0 equals
/// +0, and all NaNs are one value, the last one; with --descending it is the first. Each value is
/// represented by the first element that has it, whose index is in --indices. Indices start at 0, and
/// are those of the array flattened in C order. Counts and indices are written as i64. A line with the
/// value and its count is printed for each of the first 100 values, unless a file is given. The output
/// has the type of the input, but bf16 is written as f32, since .npy has no bf16. One device sorts: a
/// GPU needs memory for four times the array, and 32 bytes more for each element. An array for which it
/// has no room, or longer than --part, is read in parts, whose values are merged. Each output is written
/// whole or not at all, and none is written if --check finds an error. --check holds all elements.
///
/// To keep the first of each run of equal neighbours, without sorting, see gridsync select --unique.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Unique {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// Write the values to this .npy file, and do not print them; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    /// Write the number of elements with each value to this .npy file, and print nothing.
    #[arg(long, value_name = "COUNTS")]
    counts: Option<OsString>,
    /// Write the index of the first element with each value to this .npy file, and print nothing.
    #[arg(long, value_name = "INDICES")]
    indices: Option<OsString>,
    /// Sort the values from the greatest to the smallest.
    #[arg(long)]
    descending: bool,
    /// Compare floats by the total order of IEEE 754: negative NaNs, -inf to -0, +0 to inf, positive
    /// NaNs. Then floats are equal only if their bits are. Integers have one order.
    #[arg(long)]
    total_order: bool,
    /// Check by comparisons on one core that the values are in order, look up each element among them,
    /// and compare the counts and the indices.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

impl Unique {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", self.output.as_ref())
            .writes("counts", self.counts.as_ref())
            .writes("indices", self.indices.as_ref());
        let remedy =
            "the distinct values are found by a sort of all elements: sort parts with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let (what, work) = (About::of(&input).text_as_sorted(), Cost::UNIQUE.of(input.len()));
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        match input.stored().narrow() {
            None => self.dispatch_wide(job, input),
            Some(Narrow::I8) => self.count_narrow::<i8>(job, input),
            Some(Narrow::I16) => self.count_narrow::<i16>(job, input),
            Some(Narrow::U8) => self.count_narrow::<u8>(job, input),
            Some(Narrow::U16) => self.count_narrow::<u16>(job, input),
        }
    }

    /// Counts integers without widening them.
    fn count_narrow<T: Key + Standard + Into<Number>>(
        &self,
        job: &Job<'_>,
        mut input: Incoming,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let done = match self.part_of::<T>(job, about)? {
            // Those that were widened in advance are in memory.
            Some(part) if input.narrow().is_some() => {
                self.in_parts::<T>(job, about.stored, input, part)?
            }
            _ => self.count::<T>(job, about, about.stored, &input.all_narrow()?)?,
        };
        let dtype = about.stored.narrow().map_or(done.dtype, Narrow::name);
        Ok(Done { dtype, ..done })
    }

    fn dispatch_wide(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    let about = About::of(&input);
                    let stored = about.dtype().into();
                    if let Some(part) = self.part_of::<$ty>(job, about)? {
                        return self.in_parts::<$ty>(job, stored, input, part);
                    }
                    let array = input.all()?;
                    return self.count::<$ty>(job, about, stored, array.as_slice()?);
                }
            };
        }
        gridsync_entries::sorted_elements!(by_dtype);
        Err(Usage(format!("unique does not support elements of {}", input.dtype())).into())
    }

    /// Counts the values of `input`, which are `stored` in the output, and checks the results if
    /// `--check` is given.
    fn count<T: Key + Standard + Into<Number>>(
        &self,
        job: &Job<'_>,
        about: About,
        stored: Stored,
        input: &[T],
    ) -> anyhow::Result<Done> {
        let order = self.order();
        let (found, us) = match job.place().device("unique")? {
            None => {
                // For the sort of the indices; the results need less.
                let bytes = 4 * size_of::<u64>() * input.len();
                job::on_cpu(bytes, || value_counts_on_cpu(order, input))?
            }
            Some(device) => on_device(device, order, input)?,
        };
        Ok(Done { us, ..self.checked(job, (about, stored), input, &found)? })
    }

    fn order(&self) -> Order {
        Order { is_descending: self.descending, is_total: self.total_order }
    }

    /// About how many elements to count at a time, or `None` for all at once.
    fn part_of<T>(&self, job: &Job<'_>, about: About) -> anyhow::Result<Option<usize>> {
        // The runs of elements of 1 and 2 bytes are found on the host.
        let is_short = size_of::<T>() < 4;
        let (keys, indices) = if is_short { (3, 2) } else { (4, 4) };
        let of_each = keys * size_of::<T>() + indices * size_of::<u64>();
        let part = self.parts.of_held(job, about.len, of_each)?;
        Ok((part < about.len).then_some(part))
    }

    /// The outcome. Checks the values found in `input` if `--check` is given.
    fn checked<T: Key + Standard + Into<Number>>(
        &self,
        job: &Job<'_>,
        (about, stored): (About, Stored),
        input: &[T],
        found: &ValueCounts<T>,
    ) -> anyhow::Result<Done> {
        let check = if self.check {
            job.doing("checking");
            Some(verdict(wrong(self.order(), input, found)?))
        } else {
            None
        };
        let arrays = self.written(stored, found, &check)?;
        let of_values = found.len() * (size_of::<T>() + 2 * size_of::<u64>());
        let bytes = about.len * size_of::<T>() + of_values;
        Ok(Done { bytes, arrays, ..self.report(job, about, found, check) })
    }

    /// The arrays that are asked for, unless the check found an error.
    fn written<T: Key>(
        &self,
        stored: Stored,
        found: &ValueCounts<T>,
        check: &Option<Verdict>,
    ) -> anyhow::Result<Vec<Sink>> {
        let shape = [found.len() as u64];
        let mut arrays = Vec::new();
        if let Some(path) = &self.output {
            let write = || {
                if stored == Dtype::Bf16.into() {
                    // `.npy` has no type for bf16, and f32 can represent all bf16 numbers.
                    let elements = found.elements.iter().map(|&element| element.to_f64() as f32);
                    let elements: Vec<f32> = elements.collect();
                    Sink::of_shape(path, Dtype::F32, &shape)?.with(&elements)
                } else {
                    Sink::of_shape(path, stored, &shape)?.with_stored(&found.elements)
                }
            };
            arrays.extend(job::unless_wrong(check, write)?);
        }
        for (path, numbers) in [(&self.counts, &found.counts), (&self.indices, &found.indices)] {
            if let Some(path) = path {
                let numbers: &[i64] = bytemuck::cast_slice(numbers);
                let write = || Sink::of_shape(path, Dtype::I64, &shape)?.with(numbers);
                arrays.extend(job::unless_wrong(check, write)?);
            }
        }
        Ok(arrays)
    }

    /// The text and the JSON of the values.
    fn report<T: Copy + Into<Number>>(
        &self,
        job: &Job<'_>,
        about: About,
        found: &ValueCounts<T>,
        check: Option<Verdict>,
    ) -> Done {
        let is_printed = self.output.is_none() && self.counts.is_none() && self.indices.is_none();
        let ValueCounts { elements, counts, indices } = found;
        let pairs =
            || elements.iter().zip(counts).map(|(&element, &count)| (element.into(), count));
        let result = (is_printed && !found.is_empty()).then(|| table(pairs()));
        let in_json = |((element, count), &index)| Value { element, count, index };
        let path = |given: &Option<OsString>, name| given.as_ref().map(|_| job.path(name, &check));
        let fields = Fields::Unique {
            op: "unique",
            distinct: found.len(),
            values: is_printed.then(|| pairs().zip(indices).map(in_json).collect()),
            output: job.path("output", &check),
            counts: path(&self.counts, "counts"),
            indices: path(&self.indices, "indices"),
        };
        let variant = match job.place() {
            Place::Devices(_) => "sorted",
            Place::Cpu => "rayon",
        };
        let distinct = words::count(found.len() as f64, "distinct value");
        let what = format!("{distinct} of {}", about.text_as_sorted());
        let lines = most_frequent(pairs()).into_iter().collect();
        Done { result, check, lines, ..Done::of(fields, what, about, variant) }
    }
}

/// The values on a device, and the time in µs.
fn on_device<T: Key>(
    device: &Device,
    order: Order,
    input: &[T],
) -> anyhow::Result<(ValueCounts<T>, f64)> {
    let input = device.upload(input)?;
    let mut counter = ValueCounter::new(device, input.len())?;
    let mut found = ValueCounts::default();
    let mut count = || counter.count(order, &input).map(|counts| found = counts);
    // The first call allocates, and compiles the kernels.
    if !device.properties().is_emulated() {
        count()?;
    }
    let us = device.time(count)?;
    Ok((found, us))
}

/// A line with the value and the count for each of the first pairs.
fn table(pairs: impl ExactSizeIterator<Item = (Number, u64)> + Clone) -> String {
    let first = pairs.clone().take(output::MOST_PRINTED);
    let width = first.map(|(element, _)| element.text().len()).max().unwrap_or(0);
    let lines = pairs.map(|(element, count)| format!("{:>width$}  {count}", element.text()));
    output::first(lines, "values")
}

/// A line with the value that most elements have, the first one in the order if there are several.
/// Nothing if there is one element of each.
fn most_frequent(pairs: impl Iterator<Item = (Number, u64)>) -> Option<String> {
    let more = |most: (Number, u64), next: (Number, u64)| if next.1 > most.1 { next } else { most };
    let (element, count) = pairs.reduce(more).filter(|(_, count)| *count > 1)?;
    Some(format!("most frequent: {}, {count} times", element.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_as_wide_as_its_longest_value() {
        let pairs = [(Number::Float(2.5), 7), (Number::Signed(-1000), 12)];
        assert_eq!(table(pairs.into_iter()), "  2.5  7\n-1000  12");
        let many: Vec<_> = (0..=100).map(|value| (Number::Unsigned(value), 1)).collect();
        let text = table(many.into_iter());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[99]), (" 0  1", "99  1"));
        assert_eq!(lines[100], "… and 1 more values: -o FILE writes all, --json prints all");
    }

    #[test]
    fn the_most_frequent_value_is_the_first_of_several() {
        let most = |counts: [u64; 3]| most_frequent((1..).map(Number::Unsigned).zip(counts));
        assert_eq!(most([2, 5, 5]).as_deref(), Some("most frequent: 2, 5 times"));
        assert_eq!(most([1, 1, 1]), None);
    }
}
