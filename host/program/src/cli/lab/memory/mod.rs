//! `gridsync lab memory`: the latencies and bandwidths of a device.

mod charts;
mod meaning;
#[cfg(test)]
mod tests;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::exit::Wrong;
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use gridsync::device::Device;
use gridsync_lab::bench::Spread;
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::display::{Table, table};
use gridsync_lab::memory::bandwidth::{Curve, Point};
use gridsync_lab::memory::latencies::{BARRIER_THREADS, Walked};
use gridsync_lab::memory::lines::Seen;
use gridsync_lab::memory::{Measured, MemoryError, PARTS, measure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Measure latencies and bandwidths of all memories of a GPU, the ceilings of every kernel
///
/// Latencies: one thread walks a random cycle, one load after the other, in shared memory, in the
/// L1, the L2, device memory and the shared memory of another multiprocessor; and single lines of the
/// L2 from two multiprocessors. Bandwidths: all multiprocessors read, with ever more bytes in flight.
/// Cycles are slopes between 200 and 2200 steps, the median of 7. Every word that is read is checked.
#[derive(clap::Args)]
pub(super) struct Memory {
    /// Write memory-latency.svg, memory-lines.svg and memory-bandwidth.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The fraction of the best rate at which a curve counts as saturated.
const NEARLY: f64 = 0.9;

impl Experiment for Memory {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] = &charts::NAMES;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let bar = progress(global, PARTS);
        let measured = measure(device, |part| {
            bar.set_message(part);
            bar.inc(1);
        })
        .map_err(failed)?;
        bar.finish_and_clear();
        Ok(page(&device.properties().name, &measured)?.found(global))
    }
}

/// Converts an error of the experiment to an error of the program.
fn failed(error: MemoryError) -> anyhow::Error {
    match error {
        MemoryError::Device(error) => error.into(),
        wrong @ MemoryError::Wrong { .. } => Wrong(wrong.to_string()).into(),
        no_room @ MemoryError::NoRoom { .. } => no_room.into(),
    }
}

fn page(device: &str, measured: &Measured) -> Result<Page, ChartError> {
    let mut page = Page::new(
        device,
        format!(
            "How long does a thread wait for each kind of memory, and how many bytes must be on their \
             way until the rate is highest? On {device}, whose clock was {:.0} MHz.",
            measured.clock_mhz
        ),
    );
    page.table("One operation after the other, in one thread or one block:", &latencies(measured));
    page.table(
        &format!(
            "A load of one of {} lines of the L2, in cycles, from two multiprocessors:",
            measured.lines.first.cycles.len()
        ),
        &lines(measured),
    );
    page.table("Reading, with more and more bytes in flight:", &rates(measured));
    page.table("The best rates, and what they take on each multiprocessor:", &best(measured));
    page.table(
        "Reading shared memory, 16 bytes a lane, without bank conflicts:",
        &shared(measured),
    );
    for paragraph in meaning::paragraphs(measured) {
        page.means(paragraph);
    }
    as_json(&mut page, measured);
    charts::draw(&mut page, device, measured)?;
    Ok(page)
}

/// Everything that one thread or one block waits for, by name, from short to long.
fn waits(measured: &Measured) -> Vec<(String, Spread)> {
    let found = &measured.latencies;
    let walked =
        |walked: &Walked| (format!("device memory, {}", size(walked.bytes)), walked.cycles);
    let mut waits = vec![
        ("warp shuffle".to_owned(), found.shuffle),
        (format!("barrier of {BARRIER_THREADS} threads"), found.barrier),
        ("shared memory".to_owned(), found.shared),
        ("L1".to_owned(), found.l1),
        ("L2".to_owned(), found.l2),
        walked(&found.device_memory),
        walked(&found.large),
    ];
    let other = found.other_shared;
    waits.extend(other.map(|cycles| ("shared memory of another SM".to_owned(), cycles)));
    let operations = found.operations.iter();
    waits.extend(operations.map(|cost| (cost.instruction.to_owned(), cost.cycles)));
    waits.sort_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
    waits
}

fn latencies(measured: &Measured) -> Table {
    let mut table = table();
    table.set_header(["", "cycles", "ns"]);
    for (name, cycles) in waits(measured) {
        let ns = measured.ns(cycles.median);
        table.add_row([name, format!("{:.1}", cycles.median), format!("{ns:.1}")]);
    }
    table
}

fn lines(measured: &Measured) -> Table {
    let mut table = table();
    table.set_header(["from", "5 %", "50 %", "95 %", "fast lines", "slow lines", "of these, %"]);
    let rows = [("one SM", &measured.lines.first), ("the SM least like it", &measured.lines.other)];
    for (name, seen) in rows {
        let Seen { p5, p50, p95, fast, slow, slow_part, .. } = seen;
        let cycles = [p5, p50, p95, fast, slow].map(|cycles| format!("{cycles:.0}"));
        let part = format!("{:.0}", 100.0 * slow_part);
        table.add_row([name.to_owned()].into_iter().chain(cycles).chain([part]));
    }
    table
}

/// The two curves, for each number of bytes in flight.
fn rates(measured: &Measured) -> Table {
    let mut table = table();
    table.set_header(["KiB in flight on each SM", "device memory, GB/s", "L2, GB/s"]);
    let mut rows = BTreeMap::<usize, [String; 2]>::new();
    for (column, curve) in [&measured.device_memory, &measured.l2].into_iter().enumerate() {
        for point in curve.envelope() {
            let cell = &mut rows.entry(point.in_flight()).or_default()[column];
            *cell = format!("{:.0}", point.gb_per_s.median);
        }
    }
    for (in_flight, rates) in rows {
        table.add_row([kib(in_flight as f64)].into_iter().chain(rates));
    }
    table
}

/// The memory, its curve, and the cycles of a single load.
fn curves(measured: &Measured) -> [(&'static str, &Curve, Spread); 2] {
    let found = &measured.latencies;
    [("device memory", &measured.device_memory, found.large.cycles), ("L2", &measured.l2, found.l2)]
}

fn best(measured: &Measured) -> Table {
    let mut table = table();
    let heads = ["", "GB/s", "threads × loads", "KiB there", "KiB for 90 %", "KiB by law"];
    table.set_header(heads);
    for (name, curve, cycles) in curves(measured) {
        let Point { threads, packs, gb_per_s } = curve.best();
        table.add_row([
            format!("{name}, {}", size(curve.bytes)),
            format!("{:.0}", gb_per_s.median),
            format!("{threads} × {packs}"),
            kib(curve.best().in_flight() as f64),
            kib(curve.in_flight_for(NEARLY) as f64),
            kib(measured.little(curve, cycles.median)),
        ]);
    }
    table
}

fn shared(measured: &Measured) -> Table {
    let mut table = table();
    table.set_header(["at work", "bytes per cycle of each", "GB/s of all"]);
    let all = measured.multiprocessors;
    let rows = [
        ("one SM".to_owned(), measured.shared.one, 1),
        (format!("{all} SMs"), measured.shared.all, all),
    ];
    for (name, rate, at_work) in rows {
        let gb_per_s = measured.gb_per_s(rate.median, at_work);
        table.add_row([name, format!("{:.1}", rate.median), format!("{gb_per_s:.0}")]);
    }
    table
}

/// Converts bytes to KiB.
fn kib(bytes: f64) -> String {
    format!("{:.1}", bytes / 1024.0)
}

/// The size of an array, in the largest unit in which it is at least one.
fn size(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(log, _)| bytes >= 1 << log);
    let Some((log, unit)) = unit else { return format!("{bytes} bytes") };
    let number = bytes as f64 / f64::from(1 << log);
    if number.fract() == 0.0 { format!("{number} {unit}") } else { format!("{number:.1} {unit}") }
}

fn as_json(page: &mut Page, measured: &Measured) {
    let number = output::number;
    page.json("clock_mhz", number(measured.clock_mhz));
    page.json("multiprocessors", measured.multiprocessors);
    page.json("l2_bytes", measured.l2_bytes);
    page.json("peak_gb_per_s", measured.peak_gb_per_s);
    page.json("device_memory_percent_of_peak", measured.percent_of_peak());
    let latency = |(name, cycles): (String, Spread)| {
        json!({
            "of": name,
            "cycles": number(cycles.median),
            "cycles_min": number(cycles.min),
            "cycles_max": number(cycles.max),
            "samples": cycles.samples,
            "ns": number(measured.ns(cycles.median)),
        })
    };
    page.json("latencies", waits(measured).into_iter().map(latency).collect::<Value>());
    let seen = |seen: &Seen| {
        json!({
            "p5_cycles": number(seen.p5),
            "p50_cycles": number(seen.p50),
            "p95_cycles": number(seen.p95),
            "slow_percent": number(100.0 * seen.slow_part),
            "fast_cycles": number(seen.fast),
            "slow_cycles": number(seen.slow),
            "cycles_of_lines": seen.cycles,
        })
    };
    let lines = &measured.lines;
    page.json(
        "l2_lines",
        json!({
            "from_one": seen(&lines.first),
            "from_another": seen(&lines.other),
            "correlation": number(lines.correlation),
        }),
    );
    for (name, (_, curve, cycles)) in ["device_memory", "l2"].into_iter().zip(curves(measured)) {
        let point = |point: &Point| {
            json!({
                "threads": point.threads,
                "packs_of_16_bytes": point.packs,
                "bytes_in_flight": point.in_flight(),
                "gb_per_s": number(point.gb_per_s.median),
                "gb_per_s_min": number(point.gb_per_s.min),
                "gb_per_s_max": number(point.gb_per_s.max),
            })
        };
        page.json(
            name,
            json!({
                "bytes": curve.bytes,
                "best": point(curve.best()),
                "bytes_in_flight_for_90_percent": curve.in_flight_for(NEARLY),
                "bytes_in_flight_by_littles_law": number(measured.little(curve, cycles.median)),
                "points": curve.points.iter().map(point).collect::<Value>(),
            }),
        );
    }
    let rate = |rate: Spread, at_work| {
        json!({
            "bytes_per_cycle": number(rate.median),
            "gb_per_s": number(measured.gb_per_s(rate.median, at_work)),
        })
    };
    let shared = measured.shared;
    page.json(
        "shared_memory",
        json!({ "one": rate(shared.one, 1), "all": rate(shared.all, measured.multiprocessors) }),
    );
}
