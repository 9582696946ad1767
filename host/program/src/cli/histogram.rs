//! `gridsync histogram`: how many elements of an array are in each bin.

mod asked;
mod chart;
mod check;
mod in_parts;
mod table;
mod weighted;

use super::Global;
use super::choice::Place;
use super::computed::Fields;
use super::files::Files;
use super::job::{self, About, Done, Job};
use super::parts::Parts;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Dtype, Incoming, Output, Stored, write_raw};
use asked::{Asked, Numbered, Span, extent_of, numbers, range_of, without_numbers};
use chart::chart;
use check::{count_again, verdict};
use clap::ArgAction;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::memory;
use gridsync::parallel;
use gridsync::primitives::histogram::{Binned, Bins, Histogram as Counter, MOST_BINS};
use gridsync::primitives::sort::Key;
use gridsync_lab::count::within;
use gridsync_lab::display::svg::Columns;
use gridsync_lab::display::words;
use gridsync_verify::Widen;
use std::ffi::OsString;
use table::{MOST_ROWS, table};

/// Count the elements of an array in bins, or add up their weights
///
/// Each bin is from one edge up to the next one, without it; the last bin includes its upper edge. An
/// element outside the edges is in no bin, and NaN neither. Without --range, --edges or --numbers, the
/// bins are of the same width, from the least to the greatest element, as in numpy.histogram: if all are
/// equal, from 0.5 less to 0.5 more, and from 0 to 1 for an empty array. Edges of such bins are rounded
/// to f32 if the elements are f16, bf16 or f32; integers of 64 bits are compared with edges as the
/// nearest f64. The counts are exact, and are written as i64. One device counts. An array for which a
/// GPU has no room, or longer than --part, is read in parts, and twice if its elements determine the
/// bins. Each output is written whole or not at all, and not if --check finds the counts wrong. --check
/// holds all elements.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Histogram {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The number of bins.
    #[arg(long, value_name = "N", default_value = "10", value_parser = within::<usize>(1..=MOST_BINS as u64))]
    bins: usize,
    /// The first and the last edge of bins of the same width.
    #[arg(
        long,
        num_args = 2,
        value_names = ["LOW", "HIGH"],
        allow_negative_numbers = true,
        action = ArgAction::Set
    )]
    range: Option<Vec<f64>>,
    /// Any edges, which ascend: 0,0.5,10 are those of two bins. They are compared as f64.
    #[arg(
        long,
        value_name = "EDGES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        action = ArgAction::Set,
        conflicts_with_all = ["bins", "range"]
    )]
    edges: Option<Vec<f64>>,
    /// A bin for each integer from FIRST to LAST, both included: 0..255 counts as numpy.bincount
    /// does.
    #[arg(
        long,
        value_name = "FIRST..LAST",
        allow_hyphen_values = true,
        conflicts_with_all = ["bins", "range", "edges"]
    )]
    numbers: Option<Span>,
    /// Add up the weights of the elements in each bin, instead of counting them: f32 or f64 from this
    /// .npy file, as many as there are elements. They are added in f64, in the order of the sorted
    /// elements, so the bits do not depend on the device.
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "svg")]
    weights: Option<OsString>,
    /// Write the counts or sums to this .npy file, and do not print them; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    /// Draw the counts as a bar chart to this file. If there are more than 256 bins, a bar has several of
    /// them. `-` is standard output, and the counts are not printed then.
    #[arg(long, value_name = "FILE")]
    svg: Option<OsString>,
    /// Count again on one core, by bisection of the edges, and compare.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

impl Histogram {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", self.output.as_ref())
            .writes("svg", self.svg.as_ref());
        if let Some(weights) = &self.weights {
            files = files.reads("--weights", weights);
        }
        let remedy = "a histogram holds all elements and counts: count parts with --part";
        job::run(global, &files, remedy, |job| {
            let input = job.open(&self.input, self.dtype)?;
            let what = About::of(&input).text("elements");
            let cost = if self.weights.is_some() { Cost::ARGSORT } else { Cost::HISTOGRAM };
            let work = cost.of(input.len());
            let input = job.choose_for(input, work, &what)?;
            self.dispatch(job, input)
        })
    }

    fn dispatch(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        match input.dtype() {
            Dtype::F16 => self.count::<f16>(job, input, without_numbers),
            Dtype::Bf16 => self.count::<bf16>(job, input, without_numbers),
            Dtype::F32 => self.count::<f32>(job, input, without_numbers),
            Dtype::F64 => self.count::<f64>(job, input, without_numbers),
            Dtype::I32 => self.count::<i32>(job, input, numbers),
            Dtype::U32 => self.count::<u32>(job, input, numbers),
            Dtype::I64 => self.count::<i64>(job, input, numbers),
            Dtype::U64 => self.count::<u64>(job, input, numbers),
        }
    }

    /// Counts, and checks the counts if `--check` is given.
    fn count<T: Binned + Key + Widen + data::Scalar>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        numbered: Numbered<T>,
    ) -> anyhow::Result<Done> {
        let device = job.place().device("histogram")?;
        let about = About::of(&input);
        // Bins that cannot be are refused before the array is read.
        let asked = self.asked();
        let bins = asked.as_ref().map(|asked| asked.bins(numbered)).transpose()?;
        let given = asked.zip(bins);
        if let Some(path) = &self.weights {
            return self.weigh(job, path, input, given, numbered);
        }
        // In parts, the next one is read while one is counted, and no memory holds all.
        let streamed = self.parts.of(job, about.len, size_of::<T>())?;
        let are_few = given.as_ref().is_some_and(|(_, bins)| bins.len() <= streamed / 8);
        let part = if are_few && !self.check {
            streamed
        } else {
            self.parts.of_held(job, about.len, size_of::<T>())?
        };
        if part < about.len {
            return self.in_parts(job, input.in_any_order(), part, given, numbered);
        }
        if let Some(device) = device {
            let len = given.as_ref().map_or(self.bins, |(_, bins)| bins.len());
            self.expect_room::<T>(device, about, len)?;
        }
        let input = input.in_any_order().all()?;
        let input = input.as_slice::<T>()?;
        let (asked, bins) = match given {
            Some(given) => given,
            None => self.even(range_of(extent_of(input))?, numbered)?,
        };
        let (counts, us) = match device {
            None => {
                // Each core has its own counts, unless most would stay zero.
                let parts = parallel::cores().min(input.len() / bins.len()).max(1);
                let bytes = parts * bins.len() * size_of::<u64>();
                job::on_cpu(bytes, || bins.count_on_cpu(input))?
            }
            Some(device) => on_device(device, &bins, input)?,
        };
        Ok(Done { us, ..self.checked(job, about, (&asked, &bins), input, counts)? })
    }

    /// As many bins of the same width as are asked for, between these edges.
    fn even<T: Binned>(
        &self,
        range: [f64; 2],
        numbered: Numbered<T>,
    ) -> anyhow::Result<(Asked, Bins<T>)> {
        let asked = Asked::Even(range, self.bins);
        let bins = asked.bins(numbered)?;
        Ok((asked, bins))
    }

    /// The outcome. Checks the counts of `input` if `--check` is given.
    fn checked<T: Binned + Widen + data::Scalar>(
        &self,
        job: &Job<'_>,
        about: About,
        (asked, bins): (&Asked, &Bins<T>),
        input: &[T],
        counts: Vec<u64>,
    ) -> anyhow::Result<Done> {
        let check = if self.check {
            job.doing("checking");
            Some(verdict(&counts, &count_again(asked, bins, input)?))
        } else {
            None
        };
        let arrays = match &self.output {
            None => Vec::new(),
            Some(path) => job::unless_wrong(&check, || {
                let counts: &[i64] = bytemuck::cast_slice(&counts);
                Sink::of_shape(path, Dtype::I64, &[counts.len() as u64])?.with(counts)
            })?,
        };
        let output = job.path("output", &check);
        let bytes = about.len * size_of::<T>() + bins.len() * size_of::<u64>();
        let drawn = match &self.svg {
            Some(to) if check.as_ref().is_none_or(|check| check.wrong.is_none()) => {
                job.doing("drawing");
                Some(draw(to, &chart(asked, about, &counts))?)
            }
            _ => None,
        };
        let done = self.report(job, about, asked, bins, counts, output);
        let lines = done.lines.into_iter().chain(drawn).collect();
        Ok(Done { bytes, check, arrays, lines, ..done })
    }

    /// The bins that are asked for, unless their range is that of the elements.
    fn asked(&self) -> Option<Asked> {
        let numbers = self.numbers.map(Asked::Numbers);
        let edges = || self.edges.clone().map(Asked::Edges);
        let even = || self.range.as_ref().map(|range| Asked::Even([range[0], range[1]], self.bins));
        numbers.or_else(edges).or_else(even)
    }

    /// An error if `device` has no room for the array, the counts, and the table by which bins of
    /// any edges are found.
    fn expect_room<T>(&self, device: &Device, about: About, bins: usize) -> anyhow::Result<()> {
        let table = if self.edges.is_some() { 2 * size_of::<T>() } else { 0 };
        let of_bins = bins * (size_of::<u64>() + table);
        let elements = about.len.saturating_mul(size_of::<T>());
        job::expect_room(device, "histogram", elements.saturating_add(of_bins))
    }

    /// Whether the counts are printed, not written to a file.
    fn is_printed(&self) -> bool {
        let is_stdout = |path: &OsString| Output::parse(path) == Output::Stdout;
        self.output.is_none() && !self.svg.as_ref().is_some_and(is_stdout)
    }

    /// The text and the JSON of the counts.
    fn report<T: Binned>(
        &self,
        job: &Job<'_>,
        about: About,
        asked: &Asked,
        bins: &Bins<T>,
        counts: Vec<u64>,
        output: Option<String>,
    ) -> Done {
        let (len, dtype) = (bins.len(), about.dtype());
        let outside = outside(about, &counts);
        let is_printed = self.is_printed();
        let result =
            (is_printed && len <= MOST_ROWS).then(|| table(&asked.labels(dtype, bins), &counts));
        let [low, high] = asked.ends(dtype);
        let fields = Fields::Histogram {
            op: "histogram",
            bins: len,
            low,
            high,
            outside,
            counts: is_printed.then_some(counts),
            sums: None,
            output,
        };
        let variant = match job.place() {
            Place::Devices(_) => "counters",
            Place::Cpu => "rayon",
        };
        let what = format!("histogram of {} in {len} bins", about.text("elements"));
        let lines = self.lines(len, outside);
        Done { result, lines, ..Done::of(fields, what, about, variant) }
    }

    /// Lines about bins that are not printed, and about elements outside.
    fn lines(&self, bins: usize, outside: u64) -> Vec<String> {
        let unprinted = (self.is_printed() && bins > MOST_ROWS)
            .then(|| format!("{bins} bins are too many to print: use -o or --json"));
        let missing = (outside > 0).then(|| format!("elements in no bin: {outside}"));
        unprinted.into_iter().chain(missing).collect()
    }
}

/// The number of elements in no bin. Wrong counts may be more than the elements.
fn outside(about: About, counts: &[u64]) -> u64 {
    (about.len as u64).saturating_sub(counts.iter().sum())
}

/// Writes a chart. Returns a line that describes it.
fn draw(to: &OsString, chart: &Columns) -> anyhow::Result<String> {
    let to = Output::parse(to);
    write_raw(&to, chart.svg()?.as_bytes())?;
    Ok(format!("{to}: a chart of {}", words::count(chart.values.len() as f64, "bar")))
}

/// The counts of `input` on a device, and the time of the kernel in µs.
fn on_device<T: Binned>(
    device: &Device,
    bins: &Bins<T>,
    input: &[T],
) -> anyhow::Result<(Vec<u64>, f64)> {
    let input = device.upload(input)?;
    let mut counts = device.alloc::<u64>(bins.len())?;
    let mut counter = Counter::new(device, bins.clone())?;
    counter.compile()?;
    let us = device.time(|| counter.launch(&input, &mut counts))?;
    let mut results = memory::zeroed(bins.len())?;
    counts.download_to(0, &mut results)?;
    Ok((results, us))
}
