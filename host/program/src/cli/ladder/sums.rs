//! `gridsync lab ladder`: one sum, rung by rung.

use super::{Timed, percent_of, times};
use crate::bench::{Record, Sampling, Warning};
use crate::cli::count::within;
use crate::cli::exit::Wrong;
use crate::cli::progress::progress;
use crate::cli::{Global, folder, output};
use crate::lab::ladder::sums::{
    Climbed, LadderError, Report, Step, measure, operations_chart, rates_chart, rungs,
};
use crate::report::table;
use gridsync::device::Device;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Elements to sum on a GPU, and in the emulator, where there is nothing to time.
const ON_A_GPU: u64 = 1 << 28;
const IN_THE_EMULATOR: u64 = 1 << 16;

/// What `--output` writes; without a GPU the second alone.
const FILES: [&str; 3] = ["ladder.svg", "operations.svg", "ladder.jsonl"];

/// Climb the ladder of sums: from one thread to one launch at the memory's rate
///
/// Each rung sums the same array and is held against the CPU reference. On a GPU each is timed, all
/// of its launches together, the median of 7 samples or more, and its rate is told beside the best
/// of a kernel that only reads. The emulator counts, in one block of 256 threads: additions of a
/// warp and its accesses to shared memory, however few of its lanes take part; bank conflicts, the
/// passes through shared memory that lanes wait for because others want another word of the same
/// bank; and barriers of the block.
#[derive(clap::Args)]
pub(crate) struct Ladder {
    /// Elements of the array [default: 2^28 on a GPU, 2^16 in the emulator]. Slow rungs get fewer;
    /// the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// What the array holds. Only u32 has a rung with redux.sync.
    #[arg(long, value_enum, default_value_t = Dtype::F32, value_name = "TYPE")]
    dtype: Dtype,
    /// Write operations.svg to this folder, and on a GPU ladder.svg and ladder.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Dtype {
    /// Rounded: held against the bound of the rung's own order.
    F32,
    /// Modulo 2^32: exact in any order.
    U32,
}

impl Ladder {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        // Before minutes of measuring, not after them.
        if let Some(out) = &self.output {
            folder::prepare(out, &FILES)?;
        }
        let default = match device.properties().is_emulated() {
            true => IN_THE_EMULATOR,
            false => ON_A_GPU,
        };
        let len = self.elements.unwrap_or(default) as usize;
        let report = match self.dtype {
            Dtype::F32 => climb::<f32>(global, &device, len),
            Dtype::U32 => climb::<u32>(global, &device, len),
        }?;
        if let Some(out) = &self.output {
            folder::write(out, &files(&device, &report)?)?;
        }
        let name = &device.properties().name;
        output::result(
            global,
            || text(global, name, &report),
            || as_json(name, &report),
        )
    }
}

/// Climbs it. A wrong rung is a wrong result.
fn climb<T: Step>(global: &Global, device: &Device, len: usize) -> anyhow::Result<Report> {
    let bar = progress(global, 1 + rungs::<T>().len());
    let report = measure::<T>(device, len, &Sampling::default(), |next| {
        bar.set_message(next.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    report.map_err(|error| match error {
        LadderError::Device(error) => error.into(),
        wrong => Wrong(wrong.to_string()).into(),
    })
}

fn files(device: &Device, report: &Report) -> anyhow::Result<Vec<(&'static str, String)>> {
    let [rates, operations, records] = FILES;
    let name = &device.properties().name;
    let mut files = vec![(operations, operations_chart(report).svg()?)];
    if let Some(chart) = rates_chart(report, name) {
        let lines = report
            .climbed
            .iter()
            .filter_map(|rung| record(name, report, rung));
        let lines = lines.map(|record| format!("{}\n", record.json()));
        files.extend([(rates, chart.svg()?), (records, lines.collect())]);
    }
    Ok(files)
}

fn record(device: &str, report: &Report, rung: &Climbed) -> Option<Record> {
    let measured = rung.measured.as_ref()?;
    Some(Record {
        suite: "ladder",
        variant: rung.name,
        device: device.to_owned(),
        params: json!({
            "rung": rung.number,
            "dtype": report.dtype,
            "n": rung.len,
            "blocks": rung.geometry.grid.volume(),
            "threads": rung.geometry.block.volume(),
            "reading_gb_per_s": report.roof.as_ref().map(|roof| roof.gb_per_s),
        }),
        time: measured.time,
        bytes: Some((rung.len * size_of::<u32>()) as u64),
        peer: None,
        warnings: measured.warnings.clone(),
    })
}

/// What of the rate of reading alone the rung reaches, in percent.
fn percent(report: &Report, rung: &Climbed) -> Option<f64> {
    percent_of(report.roof.as_ref(), rung.gb_per_s())
}

fn text(global: &Global, device: &str, report: &Report) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        let Report { dtype, len, .. } = report;
        let read = report.roof.as_ref().map_or(String::new(), |roof| {
            let (rate, blocks) = (roof.gb_per_s, roof.blocks);
            format!("; only read by {blocks} blocks, it is read at {rate:.0} GB/s")
        });
        parts.push(format!(
            "The sum of {len} {dtype} on {device}, each time within its bound of the reference{read}"
        ));
    }
    parts.push(rows(report));
    for absent in &report.absent {
        parts.push(format!("without {}: {}", absent.name, absent.error));
    }
    if !global.quiet {
        parts.push(
            "Counted by the emulator, in one block of 256 threads: additions and accesses to shared \
             memory of a warp (however many of its lanes take part), bank conflicts, barriers of the \
             block."
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
        Some(roof) => format!("{}\n\n{}", times("reading", roof, timed), counts(report)),
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
        "warp additions",
        "shared accesses",
        "bank conflicts",
        "barriers",
    ]);
    for rung in &report.climbed {
        let counted = rung.counted.map_or_else(Default::default, |counted| {
            [
                counted.warp_additions.to_string(),
                counted.shared_accesses.to_string(),
                counted.bank_conflicts.to_string(),
                counted.barriers.to_string(),
            ]
        });
        table.add_row(heads(rung).into_iter().chain(counted));
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
            "percent_of_reading": percent(report, rung),
            "warnings": warnings,
            "warp_additions": rung.counted.map(|counted| counted.warp_additions),
            "shared_accesses": rung.counted.map(|counted| counted.shared_accesses),
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
        "dtype": report.dtype,
        "n": report.len,
        "reading_gb_per_s": report.roof.as_ref().map(|roof| roof.gb_per_s),
        "rungs": rungs.collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Measurement, Spread};
    use crate::lab::ladder::Roof;
    use gridsync::device::{Emulator, EmulatorConfig, Geometry};

    /// What a GPU would give: 2^20 elements in 4 µs, which can be read in 2.
    fn timed() -> Report {
        let measured = |us| Measurement {
            time: Spread::of(vec![us]).expect("there is a sample"),
            warnings: Warning::too_short(us).into_iter().collect(),
        };
        let len = 1 << 20;
        Report {
            dtype: "f32",
            len,
            roof: Some(Roof {
                blocks: 1056,
                measured: measured(2.0),
                gb_per_s: 2097.152,
            }),
            climbed: vec![Climbed {
                number: 16,
                name: "last block",
                len,
                geometry: Geometry::new(256, 256),
                measured: Some(measured(4.0)),
                counted: None,
            }],
            absent: vec![],
        }
    }

    #[test]
    fn a_timed_rung_tells_its_rate_beside_that_of_reading() {
        let rows = rows(&timed());
        let mut lines = rows.lines();
        let is_row = |line: &&str| line.starts_with("16 ");
        let row = lines.find(is_row).expect("a row of the rung");
        let cells: Vec<&str> = row.split_whitespace().collect();
        let expected = [
            "16", "last", "block", "1048576", "4.0", "1048.6", "50.0", "[1]",
        ];
        assert_eq!(cells, expected, "{rows}");
        assert!(
            lines.any(|line| line.starts_with("[1] too short: ")),
            "{rows}"
        );
        let in_the_tables = rows.lines().filter(|line| !line.starts_with('['));
        let widest = in_the_tables.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{rows}");
    }

    #[test]
    fn a_timed_climb_leaves_charts_and_records() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let mut report = timed();
        report.climbed[0].counted = Some(Default::default());
        let files = files(&device, &report).expect("whole charts");
        let mut names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(names, ["ladder.jsonl", "ladder.svg", "operations.svg"]);
        let (_, rates) = &files[1];
        for series in ["16 last block", "reading only"] {
            assert!(rates.contains(series), "{rates}");
        }
    }
}
