//! `gridsync sort`: an array in order, or the indices that put it in order.

use super::Global;
use super::axis::{Axis, Matrix};
use super::choice::Place;
use super::comparisons::{Standard, verdict, wrong_element, wrong_index};
use super::computed::Fields;
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job};
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Narrow, Stored};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::sort::{
    Key, Order, Sorter, argsort_on_cpu, argsort_rows_on_cpu, sort_in_place_on_cpu, sort_on_cpu,
    sort_rows_on_cpu,
};
use std::ffi::OsString;

/// Sort an array or its rows, or find the indices that sort them
///
/// The array is flattened in C order, and the output has one dimension. --rows and --axis sort along
/// one dimension, and the output has the shape of the array. Equal elements keep their order, with
/// --descending too. As in NumPy, -0 equals +0, and all NaNs are equal and greater than inf: they come
/// last, and with --descending first. --argsort is numpy.argsort(x, axis=None, kind="stable"), and with
/// --axis that of the axis; the indices are written as i64. The output has the type of the input, but
/// bf16 is sorted as f32, since .npy has no bf16. One device sorts the whole array: a GPU needs memory
/// for three of its size, and with --argsort for 16 bytes more for each element. The output is written
/// whole or not at all, and not if --check finds it wrong.
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
        let files =
            Files::default().reads("INPUT", &self.input).writes("output", Some(&self.output));
        let remedy = "a sort holds all elements and results: sort fewer";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let cost = if self.argsort { Cost::ARGSORT } else { Cost::SORT };
            let what = About::of(&input).text_as_sorted();
            let lines = self.axis.matrix(&input)?;
            let work = cost.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input, &lines)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming, lines: &Matrix) -> anyhow::Result<Done> {
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
        input: Incoming,
        lines: &Matrix,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        self.expect_room::<T>(job, about)?;
        let mut input = input.all_narrow()?;
        let done = self.sort::<T>(job, (about, lines), about.stored, &mut input)?;
        let dtype = about.stored.narrow().map_or(done.dtype, Narrow::name);
        Ok(Done { dtype, ..done })
    }

    fn dispatch_wide(
        &self,
        job: &Job<'_>,
        input: Incoming,
        lines: &Matrix,
    ) -> anyhow::Result<Done> {
        // `.npy` has no type for bf16, and f32 can represent all bf16 numbers. Indices do not need that.
        let is_without_npy = input.dtype() == Dtype::Bf16 && !self.argsort;
        let input = if is_without_npy { input.in_f32()? } else { input };
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if input.dtype() == <$ty as data::Scalar>::DTYPE {
                    let about = About::of(&input);
                    self.expect_room::<$ty>(job, about)?;
                    let mut array = input.all()?;
                    let stored = about.dtype().into();
                    return self.sort::<$ty>(job, (about, lines), stored, array.as_mut_slice()?);
                }
            };
        }
        gridsync_entries::sorted_elements!(by_dtype);
        Err(Usage(format!("sort does not support elements of {}", input.dtype())).into())
    }

    /// An error if the device has no room for the sort of elements of `T`.
    fn expect_room<T>(&self, job: &Job<'_>, about: About) -> anyhow::Result<()> {
        if let Some(device) = job.place().device("sort")? {
            let indices = if self.argsort { 2 * size_of::<u64>() } else { 0 };
            let bytes = about.len.saturating_mul(3 * size_of::<T>() + indices);
            job::expect_room(device, "sort", bytes)?;
        }
        Ok(())
    }

    /// Sorts `input`, whose elements are `stored` in the output.
    fn sort<T: Key + Standard>(
        &self,
        job: &Job<'_>,
        (about, lines): (About, &Matrix),
        stored: Stored,
        input: &mut [T],
    ) -> anyhow::Result<Done> {
        let device = job.place().device("sort")?;
        let order = Order { is_descending: self.descending, is_total: self.total_order };
        let needs_input = self.argsort || self.axis.is_asked() || self.check;
        if device.is_none() && !needs_input {
            let bytes = size_of_val(input);
            let ((), us) = job::on_cpu(bytes, || sort_in_place_on_cpu(order, input))?;
            let done = self.done(job, (about, lines), stored, input, || Ok(None))?;
            return Ok(Done { us, bytes: 2 * bytes, ..done });
        }
        let input = lines.gathered(input)?;
        let ((rows, columns), input) = (lines.size(), &input[..]);
        if self.argsort {
            let (indices, us) = match device {
                None => {
                    let bytes = 4 * size_of::<u64>() * input.len();
                    job::on_cpu(bytes, || {
                        if self.axis.is_asked() {
                            argsort_rows_on_cpu(order, input, rows, columns)
                        } else {
                            argsort_on_cpu(order, input)
                        }
                    })?
                }
                Some(device) => on_device(device, input, |sorter, input, indices| {
                    sorter.rows(rows, columns).launch_argsort::<u64>(order, input, indices)
                })?,
            };
            let wrong =
                || lines.wrong(input, &indices, |of, found| Ok(wrong_index(order, of, found)));
            let done = self.done(job, (about, lines), Dtype::I64.into(), &indices, wrong)?;
            Ok(Done { us, bytes: size_of_val(input) + size_of_val(&indices[..]), ..done })
        } else {
            let (sorted, us) = match device {
                None if self.axis.is_asked() => {
                    // A row is sorted by its indices.
                    let bytes = size_of_val(input) + 4 * size_of::<u64>() * columns;
                    job::on_cpu(bytes, || sort_rows_on_cpu(order, input, rows, columns))?
                }
                None => job::on_cpu(2 * size_of_val(input), || sort_on_cpu(order, input))?,
                Some(device) => on_device(device, input, |sorter, input, sorted| {
                    sorter.rows(rows, columns).launch(order, input, sorted)
                })?,
            };
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
        (about, lines): (About, &Matrix),
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
            let results = lines.scattered(results)?;
            Sink::of_shape(&self.output, stored, lines.shape())?.with_stored(&results)
        })?;
        let output = job.path("output", &check);
        let op = if self.argsort { "argsort" } else { "sort" };
        let descending = if self.descending { "descending " } else { "" };
        let of_what =
            lines.along().map_or_else(|| about.text_as_sorted(), |along| self.axis.text(along));
        let what = format!("{descending}{op} of {of_what}");
        let variant = match job.place() {
            Place::Devices(_) => "radix",
            Place::Cpu => "rayon",
        };
        Ok(Done { check, arrays, ..Done::of(Fields::Sort { op, output }, what, about, variant) })
    }
}

/// The results of `launch` on a device, and the time of its kernels in µs.
fn on_device<T: Key, R: Pod + Scalar>(
    device: &Device,
    input: &[T],
    launch: impl Fn(&mut Sorter<T>, &Buffer<T>, &mut Buffer<R>) -> Result<(), DeviceError>,
) -> anyhow::Result<(Vec<R>, f64)> {
    let input = device.upload(input)?;
    let mut output = device.alloc(input.len())?;
    let mut sorter = Sorter::new(device, 0)?;
    let mut launch = || launch(&mut sorter, &input, &mut output);
    // The first one allocates, and compiles the kernels.
    if !device.properties().is_emulated() {
        launch()?;
    }
    let us = device.time(launch)?;
    let mut results = memory::zeroed(input.len())?;
    output.download_to(0, &mut results)?;
    Ok((results, us))
}
