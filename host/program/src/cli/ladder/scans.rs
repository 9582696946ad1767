//! `gridsync lab scans`: one scan, rung by rung.

use super::{Timed, percent_of, times};
use crate::bench::{Record, Sampling, Warning};
use crate::cli::count::within;
use crate::cli::exit::Wrong;
use crate::cli::progress::progress;
use crate::cli::{Global, folder, output};
use crate::lab::ladder::scans::{
    Climbed, Report, ScansError, measure, operations_chart, rates_chart, rungs,
};
use crate::report::table;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Elements to scan on a GPU; and in the emulator, where there is nothing to time: enough for the
/// rung that takes more than 1 MiB.
const ON_A_GPU: u64 = 1 << 28;
const IN_THE_EMULATOR: u64 = (1 << 18) + 1000;

/// Shared memory that a block of Hopper may ask for, bytes (CUDA C++ Programming Guide, "Compute
/// Capability 9.0").
const SHARED_OF_HOPPER: u32 = 227 << 10;

/// What `--output` writes; without a GPU the second alone.
const FILES: [&str; 3] = ["scans.svg", "scan-operations.svg", "scans.jsonl"];

/// Climb the ladder of scans: from one thread to one pass at the memory's rate
///
/// Each rung scans the same u32 and is held against the CPU reference, word for word: from one thread
/// over Hillis and Steele, Blelloch, and shuffles to a grid barrier, chained blocks, the look-back of
/// Merrill and Garland, and the library's own two scans. On a GPU each is timed, all of its launches
/// together, the median of 7 samples or more. Its rate is that of the words which any scan has to
/// move, n in and n out, and is told beside the best of a copy. The emulator counts, in one block
/// with one tile: the warp's loads and stores in shared memory and its shuffles, bank conflicts, and
/// barriers of the block.
#[derive(clap::Args)]
pub(crate) struct Scans {
    /// Elements of the array [default: 2^28 on a GPU, 2^18 + 1000 in the emulator]. Slow rungs get
    /// fewer; the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// Write scan-operations.svg to this folder, and on a GPU scans.svg and scans.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Scans {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = match global.device.device()? {
            emulated if emulated.properties().is_emulated() => hopper_emulated(),
            gpu => gpu,
        };
        // Before minutes of measuring, not after them.
        if let Some(out) = &self.output {
            folder::prepare(out, &FILES)?;
        }
        let default = match device.properties().is_emulated() {
            true => IN_THE_EMULATOR,
            false => ON_A_GPU,
        };
        let report = climb(global, &device, self.elements.unwrap_or(default) as usize)?;
        let name = &device.properties().name;
        if let Some(out) = &self.output {
            folder::write(out, &files(name, &report)?)?;
        }
        output::result(
            global,
            || text(global, name, &report),
            || as_json(name, &report),
        )
    }
}

/// An emulated GPU whose blocks have room for bulk copies.
fn hopper_emulated() -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        shared_per_block: SHARED_OF_HOPPER,
        ..EmulatorConfig::default()
    }))
}

/// Climbs it. A wrong rung is a wrong result.
fn climb(global: &Global, device: &Device, len: usize) -> anyhow::Result<Report> {
    let bar = progress(global, 1 + rungs().len());
    let report = measure(device, len, &Sampling::default(), |next| {
        bar.set_message(next.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    report.map_err(|error| match error {
        ScansError::Device(error) => error.into(),
        wrong => Wrong(wrong.to_string()).into(),
    })
}

fn files(device: &str, report: &Report) -> anyhow::Result<Vec<(&'static str, String)>> {
    let [rates, operations, records] = FILES;
    let mut files = vec![(operations, operations_chart(report).svg()?)];
    if let Some(chart) = rates_chart(report, device) {
        let lines = report
            .climbed
            .iter()
            .filter_map(|rung| record(device, report, rung));
        let lines = lines.map(|record| format!("{}\n", record.json()));
        files.extend([(rates, chart.svg()?), (records, lines.collect())]);
    }
    Ok(files)
}

fn record(device: &str, report: &Report, rung: &Climbed) -> Option<Record> {
    let measured = rung.measured.as_ref()?;
    Some(Record {
        suite: "scans",
        variant: rung.name,
        device: device.to_owned(),
        params: json!({
            "rung": rung.number,
            "dtype": "u32",
            "n": rung.len,
            "launches": rung.launches,
            "words_moved": rung.words_moved,
            "copy_gb_per_s": report.roof.as_ref().map(|roof| roof.gb_per_s),
        }),
        time: measured.time,
        bytes: Some((2 * rung.len * size_of::<u32>()) as u64),
        peer: None,
        warnings: measured.warnings.clone(),
    })
}

/// What of the rate of a copy the rung reaches, in percent.
fn percent(report: &Report, rung: &Climbed) -> Option<f64> {
    percent_of(report.roof.as_ref(), rung.gb_per_s())
}

fn text(global: &Global, device: &str, report: &Report) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        let copied = report.roof.as_ref().map_or(String::new(), |roof| {
            let (rate, blocks) = (roof.gb_per_s, roof.blocks);
            format!("; only copied by {blocks} blocks, it is read and written at {rate:.0} GB/s")
        });
        let len = report.len;
        parts.push(format!(
            "The scan of {len} u32 on {device}, each time the words of the reference{copied}"
        ));
    }
    parts.push(rows(report));
    for absent in &report.absent {
        parts.push(format!("without {}: {}", absent.name, absent.error));
    }
    if !global.quiet {
        parts.push(
            "Launches, with those that set words to 0; words read and written of the array and of \
             arrays of sums, for each element. Counted by the emulator, in one block with one tile: \
             warp operations (loads and stores in shared memory, and shuffles), bank conflicts, \
             barriers of the block."
                .into(),
        );
    }
    parts.join("\n\n")
}

/// The times, where they were measured, and below them what was counted.
fn rows(report: &Report) -> String {
    let timed = report.climbed.iter().map(|rung| Timed {
        heads: heads(rung),
        measured: rung.measured.as_ref(),
        gb_per_s: rung.gb_per_s(),
    });
    match &report.roof {
        Some(roof) => format!("{}\n\n{}", times("copying", roof, timed), counts(report)),
        None => counts(report),
    }
}

/// A row of a table begins with these.
fn heads(rung: &Climbed) -> [String; 3] {
    super::heads(rung.number, rung.name, rung.len)
}

fn counts(report: &Report) -> String {
    let mut table = table();
    table.set_header([
        "",
        "rung",
        "elements",
        "launches",
        "words",
        "tile",
        "warp operations",
        "bank conflicts",
        "barriers",
    ]);
    for rung in &report.climbed {
        let moves = [
            rung.launches.to_string(),
            format!("{:.2}", rung.words_moved as f64 / rung.len as f64),
        ];
        let counted = rung.counted.map_or_else(Default::default, |counted| {
            [
                counted.elements.to_string(),
                counted.warp_operations().to_string(),
                counted.bank_conflicts.to_string(),
                counted.barriers.to_string(),
            ]
        });
        table.add_row(heads(rung).into_iter().chain(moves).chain(counted));
    }
    table.to_string()
}

fn as_json(device: &str, report: &Report) -> Value {
    let rungs = report.climbed.iter().map(|rung| {
        let measured = rung.measured.as_ref();
        let time = measured.map(|measured| measured.time);
        let warnings = measured.map(|measured| {
            let warnings = measured.warnings.iter().map(Warning::json);
            warnings.collect::<Vec<_>>()
        });
        json!({
            "rung": rung.number,
            "name": rung.name,
            "n": rung.len,
            "us": time.map(|time| time.median),
            "min": time.map(|time| time.min),
            "max": time.map(|time| time.max),
            "samples": time.map(|time| time.samples),
            "gb_per_s": rung.gb_per_s(),
            "percent_of_copying": percent(report, rung),
            "warnings": warnings,
            "launches": rung.launches,
            "words_moved": rung.words_moved,
            "tile": rung.counted.map(|counted| counted.elements),
            "warp_operations": rung.counted.map(|counted| counted.warp_operations()),
            "shared_accesses": rung.counted.map(|counted| counted.shared_accesses),
            "shuffles": rung.counted.map(|counted| counted.shuffles),
            "bank_conflicts": rung.counted.map(|counted| counted.bank_conflicts),
            "barriers": rung.counted.map(|counted| counted.barriers),
        })
    });
    let absent = report
        .absent
        .iter()
        .map(|absent| json!({ "name": absent.name, "why": absent.error.to_string() }));
    json!({
        "device": device,
        "dtype": "u32",
        "n": report.len,
        "copy_gb_per_s": report.roof.as_ref().map(|roof| roof.gb_per_s),
        "rungs": rungs.collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Measurement, Spread};
    use crate::lab::ladder::Roof;

    /// What a GPU would give: 2^20 elements in 4 µs, which can be copied in 2.
    fn timed() -> Report {
        let measured = |us| Measurement {
            time: Spread::of(vec![us]).expect("there is a sample"),
            warnings: Warning::too_short(us).into_iter().collect(),
        };
        let len = 1 << 20;
        Report {
            len,
            roof: Some(Roof {
                blocks: 1056,
                measured: measured(2.0),
                gb_per_s: 4194.304,
            }),
            climbed: vec![Climbed {
                number: 9,
                name: "look-back",
                len,
                launches: 2,
                words_moved: 2 * len,
                measured: Some(measured(4.0)),
                counted: Some(Default::default()),
            }],
            absent: vec![],
        }
    }

    #[test]
    fn a_timed_scan_tells_its_rate_beside_that_of_a_copy() {
        let rows = rows(&timed());
        let of_the_rung: Vec<Vec<&str>> = rows
            .lines()
            .filter(|line| line.starts_with("9 "))
            .map(|line| line.split_whitespace().collect())
            .collect();
        let [times, counts] = &of_the_rung[..] else {
            panic!("a row of times and one of counts: {rows}");
        };
        let expected = ["9", "look-back", "1048576", "4.0", "2097.2", "50.0", "[1]"];
        assert_eq!(times, &expected, "{rows}");
        assert_eq!(counts[3..5], ["2", "2.00"], "{rows}");
        let in_the_tables = rows.lines().filter(|line| !line.starts_with('['));
        let widest = in_the_tables.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{rows}");
    }

    #[test]
    fn a_timed_climb_leaves_charts_and_records() {
        let mut report = timed();
        let counted = report.climbed[0].counted.as_mut().expect("it is there");
        counted.elements = 2048;
        let files = files("a GPU", &report).expect("whole charts");
        let mut names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(names, ["scan-operations.svg", "scans.jsonl", "scans.svg"]);
        let (_, rates) = &files[1];
        for series in ["9 look-back", "copying only"] {
            assert!(rates.contains(series), "{rates}");
        }
    }
}
