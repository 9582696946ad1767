//! `gridsync segments`: reduces each segment of an array, which offsets delimit.

pub(super) mod by_op;

use super::Global;
use super::computed::Fields;
use super::files::Files;
use super::job::{self, About, Done, Job};
use super::offsets::offsets;
use super::output;
use super::sink::Sink;
use super::work::Cost;
use crate::data::{Incoming, Stored};
use by_op::{By, Place, Reduced};
use gridsync::primitives::segments::Offsets;
use std::ffi::OsString;

/// Reduce each segment of an array to one value
///
/// Segment i has the elements from offset i up to, but without, offset i + 1: 0,3,3,5 are three segments,
/// the second one empty, as the rows of a sparse matrix in CSR form. The array is flattened in C order. The
/// results are as of gridsync reduce. Integers are summed in 64 bits, and wrap around there; i64 and u64
/// have no mean. An empty segment has the sum 0 (-0.0 if floating point), and the least or greatest number
/// as its maximum or minimum; its mean is NaN. argmin and argmax are indices within the segment, and 2^64 - 1
/// for an empty one. The bits of a floating-point result depend on the array and
/// the offsets only. One device computes, with the whole array in its memory. Without -o the first 100
/// results are printed.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct OfSegments {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    input: OsString,
    /// The offset of each segment, and at last the number of elements: a file of integers.
    offsets: OsString,
    /// Write the results to this .npy file, and do not print them; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    #[command(flatten)]
    by: By,
    /// Reduce each segment again on the CPU, and compare.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16 bool, which are
    /// widened.
    #[arg(long)]
    dtype: Option<Stored>,
}

impl OfSegments {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .reads("OFFSETS", &self.offsets)
            .writes("output", self.output.as_ref());
        job::run(global, &files, "reduce fewer segments at a time", |job| {
            let input = job.open(&self.input, self.dtype)?;
            let offsets = offsets(job, &self.offsets, input.len())?;
            let about = About::of(&input);
            let run = self.by.find("segments", about.dtype())?;
            let input =
                job.choose_for(input, Cost::REDUCE.of(about.len), &about.text("elements"))?;
            self.reduce(job, run, input, &offsets)
        })
    }

    fn reduce(
        &self,
        job: &Job<'_>,
        run: by_op::Run,
        input: Incoming,
        offsets: &[u64],
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let device = job.place().device("segments")?;
        let on_device = device.map(|device| Offsets::new(device, offsets)).transpose()?;
        let place = on_device.as_ref().map_or(Place::Cpu(offsets), Place::Segments);
        let checked = self.check.then_some((offsets, None));
        let values = input.all()?;
        let Reduced { results, us, check } = run(job, &values, device, &place, checked)?;
        let count = offsets.len() - 1;
        let (mut result, mut in_json, mut arrays) = (None, None, Vec::new());
        if let Some(path) = &self.output {
            let begin = |dtype| Sink::of_shape(path, dtype, &[count as u64]);
            arrays = job::unless_wrong(&check, || results.write(&begin))?;
        } else if job.global.json {
            in_json = Some(results.numbers());
        } else {
            let numbers = results.numbers().into_iter().map(|number| number.text());
            result = Some(output::first(numbers, "segments"));
        }
        let op = self.by.op.clone();
        let what = format!("{op} of {count} segments of {}", about.text("elements"));
        let fields = Fields::Segments {
            op,
            segments: count,
            results: in_json,
            output: job.path("output", &check),
        };
        let bytes = values.bytes().len() + size_of_val(offsets);
        let variant = if device.is_some() { "path" } else { "rayon" };
        Ok(Done { result, us, bytes, check, arrays, ..Done::of(fields, what, about, variant) })
    }
}
