//! `gridsync select`: some elements of an array, in their order.

mod condition;
mod run;
mod stream;

use super::choice::Place;
use super::exit::{Usage, Wrong};
use super::files::Files;
use super::parts::{About, Parts, time_with_bar};
use super::{Global, output};
use bytemuck::Pod;
use condition::Condition;
use gridsync::data::{self, Dtype, Incoming, Input, Output};
use gridsync::primitives::select::{Comparable, FirstOfRun, Within, run_lengths};
use gridsync::primitives::{Sifted, Wanted, select_in_parts};
use gridsync_kernels::entry::select::Selectable;
use run::{time_on_cpu, time_on_device, wrong};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::str::FromStr;

/// Select elements of an array: those that meet a condition, or the first of each run
///
/// The array is taken as flat, in C order, and each output has one dimension: --where is x[x > 0.5] in
/// NumPy, --partition the same with x[~(x > 0.5)], --positions numpy.flatnonzero(x > 0.5). A condition
/// is one of < <= > >= == != and a number of the array's type, or one of the words nonzero, finite and
/// notnan. Comparisons are those of IEEE 754: NaN meets != only, and -0 equals +0. --unique keeps the
/// first of each run of equal elements; each NaN is a run of its own; --positions says where each run
/// begins, --counts how long it is: run-length encoding. Positions and counts are written as u64. For
/// elements of 4 and 8 bytes. Each output is written whole or not at all, and none if --check finds
/// one wrong.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Select {
    /// A .npy file, or raw little-endian numbers (with --dtype); `-` is standard input.
    input: OsString,
    /// Keep the elements that meet this condition, such as "> 0.5".
    #[arg(
        long = "where",
        value_name = "CONDITION",
        required_unless_present = "unique"
    )]
    condition: Option<Condition>,
    /// Keep the first of each run of equal elements.
    #[arg(long, conflicts_with = "condition")]
    unique: bool,
    /// The element type of raw input: f32 f64 i32 u32 i64 u64.
    #[arg(long)]
    dtype: Option<Dtype>,
    /// The .npy file to write what is kept to; `-` is standard output, which then has nothing else.
    #[arg(short, long, value_name = "OUT")]
    output: OsString,
    /// The .npy file to write all other elements to.
    #[arg(long, value_name = "REST", conflicts_with = "unique")]
    partition: Option<OsString>,
    /// The .npy file to write the indices of the elements that are kept to.
    #[arg(long, value_name = "POSITIONS")]
    positions: Option<OsString>,
    /// The .npy file to write the lengths of the runs to.
    #[arg(long, value_name = "COUNTS", conflicts_with = "condition")]
    counts: Option<OsString>,
    #[command(flatten)]
    parts: Parts,
    /// Compare the results with a loop on the CPU.
    #[arg(long)]
    check: bool,
}

/// An array to write.
struct File {
    to: Output,
    /// The option that named it, and its key in the JSON.
    name: &'static str,
    dtype: Dtype,
    len: usize,
    /// Its elements, unless they have been written as they came.
    bytes: Option<Vec<u8>>,
}

/// What a selection gave.
struct Outcome {
    kept: usize,
    files: Vec<File>,
    /// What `--check` found wrong, if it looked.
    check: Option<Option<String>>,
    median_us: f64,
    gb_per_s: f64,
    /// Elements of a part, if it was not all of them at once.
    part: Option<usize>,
}

impl Select {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("INPUT", &self.input)
            .writes("output", Some(&self.output))
            .writes("partition", self.partition.as_ref())
            .writes("positions", self.positions.as_ref())
            .writes("counts", self.counts.as_ref());
        files.refuse_what_collides(global)?;
        let on_stdout = self.outputs().iter().any(|(_, to)| *to == Output::Stdout);
        let input = data::open(&Input::parse(self.input.clone()), self.dtype)?;
        let (dtype, len) = (input.dtype(), input.len());
        let place = global.device.place()?;
        if global.verbose {
            eprintln!("{len} elements of {dtype} on {}", place.name());
        }
        let outcome = self.dispatch(input, &place, global)?;
        let wrong = outcome.check.clone().flatten();
        if wrong.is_none() {
            for file in &outcome.files {
                if let Some(bytes) = &file.bytes {
                    data::write_npy(&file.to, file.dtype, &[file.len as u64], bytes)?;
                }
            }
        }
        if !on_stdout && (!global.quiet || global.json) {
            let about = About { dtype, len };
            let text = || self.text(&about, &place, &outcome);
            let json = || self.json(&about, &place, &outcome);
            output::result(global, text, json)?;
        }
        match wrong {
            Some(what) => Err(Wrong(format!("{what}, and nothing was written")).into()),
            None => Ok(()),
        }
    }

    /// All outputs that were asked for, by the options that named them.
    fn outputs(&self) -> Vec<(&'static str, Output)> {
        let output = |(name, path): (_, &Option<OsString>)| {
            path.as_ref()
                .map(|path| (name, Output::parse(path.clone())))
        };
        let others = [
            ("partition", &self.partition),
            ("positions", &self.positions),
            ("counts", &self.counts),
        ];
        let first = ("output", Output::parse(self.output.clone()));
        let others = others.into_iter().filter_map(output);
        std::iter::once(first).chain(others).collect()
    }

    fn dispatch(&self, input: Incoming, place: &Place, global: &Global) -> anyhow::Result<Outcome> {
        match input.dtype() {
            Dtype::F32 => self.select::<f32>(input, place, global),
            Dtype::F64 => self.select::<f64>(input, place, global),
            Dtype::I32 => self.select::<i32>(input, place, global),
            Dtype::U32 => self.select::<u32>(input, place, global),
            Dtype::I64 => self.select::<i64>(input, place, global),
            Dtype::U64 => self.select::<u64>(input, place, global),
            dtype => Err(Usage(format!(
                "select takes elements of f32 f64 i32 u32 i64 u64, not of {dtype}: convert them"
            ))
            .into()),
        }
    }

    fn select<T>(&self, input: Incoming, place: &Place, global: &Global) -> anyhow::Result<Outcome>
    where
        T: Comparable + FromStr + Pod + data::Scalar,
        Within<T>: Selectable<Element = T>,
        FirstOfRun<T>: Selectable<Element = T>,
    {
        match &self.condition {
            Some(condition) => self.select_by(condition.within::<T>()?, input, place, global),
            None => self.select_by(FirstOfRun::<T>::new(), input, place, global),
        }
    }

    fn select_by<S>(
        &self,
        by: S,
        input: Incoming,
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome>
    where
        S: Selectable<Element: Pod + data::Scalar>,
    {
        let wanted = Wanted {
            rest: self.partition.is_some(),
            positions: self.positions.is_some() || self.counts.is_some(),
        };
        let bytes = wanted.bytes::<S::Element>();
        let part = self.parts.of(place, input.len(), bytes)?;
        if let (Place::Device(device), Some(part), false) = (place, part, self.check) {
            let part = self.parts.to_stream(part);
            let files = (input, self.outputs());
            return stream::select(by, device, files, wanted, part, global);
        }
        let array = input.all()?;
        let input = array.as_slice::<S::Element>()?;
        let (results, median_us) = match (place, part) {
            (Place::Cpu, _) => time_on_cpu(by, input, wanted),
            (Place::Device(device), None) => time_on_device(device, by, input, wanted)?,
            (Place::Device(device), Some(part)) => time_with_bar(global, |step| {
                let step = |done| step(done, input.len());
                select_in_parts(by, device, input, part, wanted, step)
            })?,
        };
        let written = size_of_val(&results.kept[..])
            + results.rest.as_deref().map_or(0, size_of_val)
            + results.positions.as_deref().map_or(0, size_of_val);
        let moved = (array.bytes().len() + written) as f64;
        Ok(Outcome {
            kept: results.kept.len(),
            check: self.check.then(|| wrong(by, input, &results)),
            median_us,
            gb_per_s: moved / median_us / 1e3,
            files: self.files(input.len(), &results),
            part,
        })
    }

    /// What is to be written where.
    fn files<T: Pod + data::Scalar>(&self, n: usize, results: &Sifted<T>) -> Vec<File> {
        let file = |(name, to)| {
            let (dtype, bytes) = match (name, &results.rest, &results.positions) {
                ("partition", Some(rest), _) => (T::DTYPE, bytes(rest)),
                ("positions", _, Some(positions)) => (Dtype::U64, bytes(positions)),
                ("counts", _, Some(starts)) => (Dtype::U64, bytes(&run_lengths(starts, n))),
                _ => (T::DTYPE, bytes(&results.kept)),
            };
            File {
                to,
                name,
                dtype,
                len: bytes.len() / dtype.size(),
                bytes: Some(bytes),
            }
        };
        self.outputs().into_iter().map(file).collect()
    }

    /// What the elements are selected by.
    fn condition(&self) -> String {
        match &self.condition {
            Some(condition) => condition.to_string(),
            None => "unique".into(),
        }
    }

    fn json(&self, about: &About, place: &Place, outcome: &Outcome) -> Value {
        let op = match (&self.partition, self.unique) {
            (Some(_), _) => "partition",
            (None, true) => "unique",
            (None, false) => "select",
        };
        let mut json = json!({
            "op": op,
            "where": self.condition.as_ref().map(ToString::to_string),
            "dtype": about.dtype.name(),
            "n": about.len,
            "kept": outcome.kept,
            "device": place.name(),
            "variant": variant(place),
            "median_us": output::number(outcome.median_us),
            "gb_per_s": output::number(outcome.gb_per_s),
            "part": outcome.part,
            "check": outcome.check.as_ref().map(|wrong| json!({ "ok": wrong.is_none() })),
        });
        let is_written = !matches!(outcome.check, Some(Some(_)));
        for file in &outcome.files {
            json[file.name] = is_written.then(|| file.to.to_string()).into();
        }
        json
    }

    fn text(&self, about: &About, place: &Place, outcome: &Outcome) -> String {
        let mut text = format!(
            "{} of {} {} elements ({}) on {}: {:.1} µs, {:.1} GB/s",
            outcome.kept,
            about.len,
            about.dtype,
            self.condition(),
            place.name(),
            outcome.median_us,
            outcome.gb_per_s
        );
        match &outcome.check {
            None => {}
            Some(None) => text += "\nas a loop on the CPU: right",
            Some(Some(what)) => return text + &format!("\n{what}: WRONG"),
        }
        for File { to, dtype, len, .. } in &outcome.files {
            text += &format!("\n{to}: {len} elements of {dtype}");
        }
        text
    }
}

/// The name of what is run.
fn variant(place: &Place) -> &'static str {
    match place {
        Place::Device(_) => "single-pass",
        Place::Cpu => "rayon",
    }
}

fn bytes<T: Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}
