//! `gridsync lab ladder` and `gridsync lab scans`: one computation, rung by rung.

mod scans;
mod sums;
mod told;

pub(super) use scans::Scans;
pub(super) use sums::Ladder;

use super::Found;
use super::found::owned;
use crate::cli::Global;
use crate::cli::exit::Wrong;
use crate::cli::progress::progress;
use gridsync::device::Device;
use gridsync_lab::bench::{Record, Sampling};
use gridsync_lab::ladder::{
    self, Climbed, LadderError, Report, measure, operations_chart, rates_chart,
};
use serde_json::{Value, json};
use told::{as_json, text};

/// A ladder, with the texts of its command.
trait Told: ladder::Ladder {
    /// Elements on a GPU.
    const ON_A_GPU: u64;
    /// Elements in the emulator, which has nothing to time.
    const IN_THE_EMULATOR: u64;
    /// The files that `--output` writes. Without a GPU, only the second.
    const FILES: [&'static str; 3];
    /// The suite of the records.
    const SUITE: &'static str;
    /// The rate of the roof in records and JSON.
    const ROOF_RATE: &'static str;
    /// The check that every result passed.
    const RIGHT: &'static str;
    /// The operation of the roof on the array: a participle, and the continuation of the sentence.
    const ONLY: [&'static str; 2];
    /// A note on the counts in the tables.
    const NOTE: &'static str;
    /// The columns of the table of counts, after the common ones.
    const HEADS: &'static [&'static str];

    /// The cells of a rung in these columns.
    fn cells(rung: &Climbed<Self>) -> Vec<String>;

    /// The rung that is not available for this type, and the reason.
    fn left_out() -> Option<&'static str> {
        None
    }

    /// The JSON fields of a rung that only this ladder has: an object.
    fn json(rung: &Climbed<Self>) -> Value;

    /// The parameters of a record that only this ladder has: an object.
    fn params(rung: &Climbed<Self>) -> Value;
}

/// Climbs a ladder.
fn run<L: Told>(global: &Global, device: &Device, elements: Option<u64>) -> anyhow::Result<Found> {
    let default = match device.properties().is_emulated() {
        true => L::IN_THE_EMULATOR,
        false => L::ON_A_GPU,
    };
    let report = climb::<L>(global, device, elements.unwrap_or(default) as usize)?;
    let name = &device.properties().name;
    Ok(Found {
        text: text(global, name, &report),
        json: as_json(name, &report),
        files: owned(files(name, &report)?),
        wrong: None,
        ..Found::default()
    })
}

/// Climbs the ladder. A wrong rung is a wrong result.
fn climb<L: Told>(global: &Global, device: &Device, len: usize) -> anyhow::Result<Report<L>> {
    let bar = progress(global, 1 + L::rungs().len());
    let report = measure(device, len, &Sampling::default(), |next| {
        bar.set_message(next.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    report.map_err(|error| match error {
        LadderError::Device(error) => error.into(),
        wrong => Wrong(wrong.to_string()).into(),
    })
}

/// The files that `--output` writes, each a name and its content.
fn files<L: Told>(device: &str, report: &Report<L>) -> anyhow::Result<Vec<(&'static str, String)>> {
    let [rates, operations, records] = L::FILES;
    let mut files = vec![(operations, operations_chart(report).svg()?)];
    if let Some(chart) = rates_chart(report, device) {
        let measured = report.climbed.iter().filter_map(|rung| record(device, report, rung));
        let lines = Record::lines_made_now(&measured.collect::<Vec<_>>());
        files.extend([(rates, chart.svg()?), (records, lines)]);
    }
    Ok(files)
}

fn record<L: Told>(device: &str, report: &Report<L>, rung: &Climbed<L>) -> Option<Record> {
    let measured = rung.measured.as_ref()?;
    let common = json!({
        "rung": rung.number,
        "dtype": L::DTYPE,
        "n": rung.len,
        (L::ROOF_RATE): report.roof.as_ref().map(|roof| roof.gb_per_s),
    });
    let params = both(common, L::params(rung));
    let record = Record::new(L::SUITE, rung.name, device, params, measured.clone());
    Some(record.moving(rung.bytes() as u64))
}

/// An object with the fields of both.
fn both(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::bench::{Measurement, Spread, Warning};
    use gridsync_lab::ladder::{Counted, Roof};

    /// Plausible results of a GPU: 2^20 elements in 4 µs, for which the roof is 2 µs.
    pub(super) fn timed<L: Told>(number: u32, name: &'static str, plan: L::Plan) -> Report<L> {
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
                gb_per_s: (len * L::BYTES) as f64 / 2e3,
            }),
            climbed: vec![Climbed {
                number,
                name,
                len,
                plan,
                measured: Some(measured(4.0)),
                counted: Some(Counted { elements: 2048, ..Counted::default() }),
            }],
            absent: vec![],
        }
    }

    /// Checks that a climb on a GPU writes all files, and that the chart of rates has these series.
    #[track_caller]
    pub(super) fn leaves_charts_and_records<L: Told>(report: &Report<L>, series: [&str; 2]) {
        let mut files = files("a GPU", report).expect("whole charts");
        files.sort();
        let (names, contents): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        let mut expected = L::FILES;
        expected.sort_unstable();
        assert_eq!(names, expected);
        let rates = contents.iter().find(|text| text.contains("GB/s"));
        let rates = rates.expect("a chart of rates");
        for name in series {
            assert!(rates.contains(name), "{rates}");
        }
        let record = contents.iter().find(|text| text.starts_with('{'));
        assert!(record.is_some_and(|line| line.contains(L::ROOF_RATE)));
    }
}
