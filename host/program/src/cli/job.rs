//! The steps that reduce, scan, select, sort, unique, top, quantile, histogram, describe, range-sum and kendall
//! share: open the files, choose a device, compute at once or part by part, check and write the
//! results, and report.
//!
//! Scans, selections and range sums in parts stream from file to file, so the host, like the
//! device, holds only one part at a time. Sorts, distinct values, selections by rank, histograms and
//! Kendall's correlation need their arrays in memory.

use super::choice::{DeviceChoice, Place};
use super::computed::{Check, Computed, Fields};
use super::exit::{Usage, Wrong, no_room};
use super::files::Files;
use super::progress::progress;
use super::sink::Sink;
use super::work::Work;
use super::{Global, output};
use crate::data::{self, Dtype, Incoming, Input, ReadAhead, Reading, Stored};
use bytemuck::Pod;
use gridsync::device::{Device, HostBuffer};
use gridsync::memory::{self, NoRoom};
use gridsync_lab::display::time;
use indicatif::ProgressBar;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::mem;
use std::time::Instant;

/// Bytes to read while a GPU opens. A full pipe blocks its writer.
const AHEAD: usize = 32 << 20;

/// A call in progress.
pub(super) struct Job<'a> {
    pub(super) global: &'a Global,
    files: &'a Files,
    start: Instant,
    place: OnceCell<Place>,
    bar: ProgressBar,
}

/// Describes an array; outlives its elements.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) stored: Stored,
    pub(super) len: usize,
}

impl About {
    pub(super) fn of(input: &Incoming) -> Self {
        Self { stored: input.stored(), len: input.len() }
    }

    /// The type of the elements in memory.
    pub(super) fn dtype(self) -> Dtype {
        self.stored.dtype()
    }

    /// Text such as `5 i8 elements`, for elements that are sorted: narrow integers are not widened.
    pub(super) fn text_as_sorted(self) -> String {
        let Self { stored, len } = self;
        if stored.narrow().is_none() {
            return self.text("elements");
        }
        let native = stored.native();
        let in_the_file =
            if stored == native { String::new() } else { format!(" ({stored} in the file)") };
        format!("{len} {native} elements{in_the_file}")
    }

    /// Text such as `5 i32 elements`, with the given word for elements, and with the type in the
    /// file if it differs.
    pub(super) fn text(self, elements: &str) -> String {
        let Self { stored, len } = self;
        let in_the_file = match stored.is_plain() {
            true => String::new(),
            false => format!(" ({stored} in the file)"),
        };
        format!("{len} {} {elements}{in_the_file}", self.dtype())
    }
}

/// The outcome of a computation.
pub(super) struct Done {
    /// Description of the work: "inclusive sum of 5 i32 elements".
    pub(super) what: String,
    pub(super) about: About,
    /// The type of the elements in memory.
    pub(super) dtype: &'static str,
    /// Name of the variant that was run.
    pub(super) variant: &'static str,
    /// The text for standard output, unless an array goes there.
    pub(super) result: Option<String>,
    /// More lines of text for the user.
    pub(super) lines: Vec<String>,
    /// JSON fields that are specific to this operation.
    pub(super) fields: Fields,
    /// Time of the kernels, or of the CPU, in µs.
    pub(super) us: f64,
    /// Bytes read and written in that time.
    pub(super) bytes: usize,
    /// Elements of a part, if the array was processed in parts.
    pub(super) part: Option<usize>,
    pub(super) check: Option<Verdict>,
    /// The arrays, written but not finished; empty if the check found an error.
    pub(super) arrays: Vec<Sink>,
}

impl Done {
    /// The outcome before anything is computed.
    pub(super) fn of(fields: Fields, what: String, about: About, variant: &'static str) -> Self {
        Self {
            what,
            about,
            dtype: about.dtype().name(),
            variant,
            result: None,
            lines: Vec::new(),
            fields,
            us: 0.0,
            bytes: 0,
            part: None,
            check: None,
            arrays: Vec::new(),
        }
    }
}

/// The result of a check.
pub(super) struct Verdict {
    pub(super) json: Check,
    pub(super) line: String,
    /// The error, if the check found one.
    pub(super) wrong: Option<String>,
}

/// The array that `write` writes, unless the check found an error.
pub(super) fn unless_wrong(
    check: &Option<Verdict>,
    write: impl FnOnce() -> anyhow::Result<Sink>,
) -> anyhow::Result<Vec<Sink>> {
    if check.as_ref().is_some_and(|check| check.wrong.is_some()) {
        Ok(Vec::new())
    } else {
        Ok(vec![write()?])
    }
}

/// An error if `device` has no room for so many bytes. `what` is the work that needs them at once.
pub(super) fn expect_room(device: &Device, what: &str, bytes: usize) -> anyhow::Result<()> {
    let free = device.free_memory()?;
    if bytes <= free {
        return Ok(());
    }
    let name = &device.properties().name;
    Err(Usage(format!(
        "a {what} of this array needs {bytes} bytes of the memory of {name}, of which {free} are free: use --device cpu"
    ))
    .into())
}

/// The results of `compute`, which needs so many bytes, and its time in µs.
pub(super) fn on_cpu<R>(bytes: usize, compute: impl FnOnce() -> R) -> Result<(R, f64), NoRoom> {
    memory::probe(bytes)?;
    let start = Instant::now();
    let results = compute();
    Ok((results, start.elapsed().as_secs_f64() * 1e6))
}

/// Runs a call on `files`; `compute` does the work of the command. If memory runs out, the error
/// includes `remedy`.
pub(super) fn run(
    global: &Global,
    files: &Files,
    remedy: &str,
    compute: impl FnOnce(&Job<'_>) -> anyhow::Result<Done>,
) -> anyhow::Result<()> {
    files.check_conflicts(global)?;
    let job = Job {
        global,
        files,
        start: Instant::now(),
        place: OnceCell::new(),
        bar: progress(global, 0),
    };
    let done = compute(&job).and_then(|done| job.finish(done));
    // The process is about to exit, which also ends the GPU's context. Closing it first takes 0.02
    // to 0.03 s longer on an H200 (2026-11-24).
    mem::forget(job.place);
    done.map_err(|error| no_room(error, remedy))
}

impl Job<'_> {
    /// The path of the output with this name in the JSON. `None` if the check found an error,
    /// because nothing is written then.
    pub(super) fn path(&self, name: &str, check: &Option<Verdict>) -> Option<String> {
        let is_wrong = check.as_ref().is_some_and(|check| check.wrong.is_some());
        if is_wrong { None } else { self.files.path(name) }
    }

    /// Opens an array.
    pub(super) fn open(&self, path: &OsString, asked: Option<Stored>) -> anyhow::Result<Incoming> {
        Ok(data::open_stored(&Input::parse(path), asked)?)
    }

    /// Where to compute, as chosen before.
    pub(super) fn place(&self) -> &Place {
        self.place.get().expect("the place is chosen once the files are open")
    }

    /// Chooses where to compute. Files are opened before this, so that a wrong path is reported
    /// without waiting for a device. With --verbose, prints what will be done, and why there.
    pub(super) fn choose(&self, work: Work, what: &str) -> anyhow::Result<()> {
        self.compute_on(self.global.device.place(work)?, what);
        if self.global.verbose && self.global.device == DeviceChoice::Auto {
            output::say(work.why());
        }
        Ok(())
    }

    /// Like [`choose`](Self::choose), but reads the first bytes of `input` while a GPU opens.
    pub(super) fn choose_for(
        &self,
        input: Incoming,
        work: Work,
        what: &str,
    ) -> anyhow::Result<Incoming> {
        if !self.global.device.opens_a_gpu(work) {
            self.choose(work, what)?;
            return Ok(input);
        }
        let input = ReadAhead::begin(input, AHEAD)?;
        self.choose(work, what)?;
        Ok(input.take())
    }

    /// Sets where to compute. With --verbose, prints what will be done.
    pub(super) fn compute_on(&self, place: Place, what: &str) {
        let place = self.place.get_or_init(|| place);
        if self.global.verbose {
            output::say(format_args!("{what} on {}", place.name()));
        }
    }

    /// Shows the progress: `done` steps out of `of`.
    pub(super) fn step(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
    }

    /// Shows what is being done.
    pub(super) fn doing(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    /// Passes on the elements of `input`, `part` at a time, as values of `T` of any size, while the
    /// next parts are read.
    pub(super) fn each_part<T: Pod>(
        &self,
        input: Incoming,
        part: usize,
        take: impl FnMut(&[T]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let len = input.len();
        self.each_part_within(input, part, len, take)
    }

    /// Like [`each_part`](Self::each_part), but no part has elements of two groups of `group`
    /// elements.
    pub(super) fn each_part_within<T: Pod>(
        &self,
        input: Incoming,
        part: usize,
        group: usize,
        mut take: impl FnMut(&[T]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.each_part_of_bytes(input, part, group, &mut |bytes| take(bytemuck::cast_slice(bytes)))
    }

    /// `each_part_within` for bytes, because that function is instantiated hundreds of times.
    fn each_part_of_bytes(
        &self,
        input: Incoming,
        part: usize,
        group: usize,
        take: &mut dyn FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (len, size) = (input.len(), input.size());
        let mut reading = Reading::begin_within(input, part, group)?;
        let mut taken = 0;
        while let Some(mut part) = reading.next_part()? {
            self.pin(part.buffer());
            if len > 0 {
                take(part.bytes())?;
            }
            taken += part.bytes().len() / size;
            self.step(taken, len);
            reading.give_back(part);
        }
        Ok(())
    }

    /// Pins `buffer`, so that devices can copy from and to it directly.
    pub(super) fn pin(&self, buffer: &mut HostBuffer) {
        if let Place::Devices(devices) = self.place() {
            // The system may limit pinned memory. Copies also work without it.
            let _slower = buffer.pin(&devices[0]);
        }
    }

    /// Finishes the outputs and prints the report.
    fn finish(&self, done: Done) -> anyhow::Result<()> {
        let (check, line, wrong) = match done.check {
            Some(Verdict { json, line, wrong }) => (Some(json), Some(line), wrong),
            None => (None, None, None),
        };
        let mut written = Vec::new();
        for array in done.arrays {
            self.doing("writing");
            written.push(array.finish()?);
        }
        self.bar.finish_and_clear();
        let total_us = self.start.elapsed().as_secs_f64() * 1e6;
        let gb_per_s = done.bytes as f64 / done.us / 1e3;
        let place = self.place();

        if self.global.json {
            output::print_json(&Computed {
                dtype: done.dtype,
                stored: done.about.stored.to_string(),
                n: done.about.len,
                device: place.name().to_owned(),
                variant: done.variant,
                median_us: done.us.into(),
                total_us: total_us.into(),
                gb_per_s: gb_per_s.into(),
                part: done.part,
                check,
                fields: done.fields,
            })?;
        } else if let Some(result) = &done.result {
            output::print(result)?;
        }
        if !self.global.quiet && !self.global.json {
            let parts = done.part.map_or(String::new(), |part| format!(" in parts of {part}"));
            // An empty array takes no time, so its throughput is not finite.
            let rate =
                if gb_per_s.is_finite() { format!(" ({gb_per_s:.1} GB/s)") } else { String::new() };
            let computing = match place {
                Place::Cpu => format!("computing {}{rate}", time(done.us)),
                Place::Devices(devices) if devices[0].properties().is_emulated() => {
                    format!("emulating {}", time(done.us))
                }
                Place::Devices(_) => format!("kernels {}{rate}", time(done.us)),
            };
            output::say(format_args!(
                "{} on {}{parts}: {computing}, from file to result {}",
                done.what,
                place.name(),
                time(total_us)
            ));
            for line in done.lines.into_iter().chain(line).chain(written) {
                output::say(&line);
            }
        }
        wrong.map_or(Ok(()), |wrong| Err(Wrong(wrong).into()))
    }
}
