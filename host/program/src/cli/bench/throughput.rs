//! The throughput suites: operations on elements of several types, at several lengths.

use super::rows::Rows;
use super::{Bench, Global, Usage, distinct};
use crate::cli::exit::Wrong;
use crate::cli::output;
use anyhow::Context;
use gridsync::device::Device;
use gridsync_lab::bench::{
    Case, Ceiling, MeasureError, PeerError, PeerTimes, Record, Sampling, Step, Throughput,
    plain_mode,
};
use gridsync_lab::display::Column;

impl Bench {
    pub(super) fn throughputs(
        &self,
        suite: &Throughput,
        device: Device,
        global: &Global,
    ) -> anyhow::Result<Vec<Record>> {
        let cases = chosen(suite, &self.ops, &self.dtypes)?;
        let sizes = match &self.sizes[..] {
            [] => suite.sizes,
            sizes => sizes,
        };
        let sampling = Sampling::default();
        let (device, peers) = if self.peers {
            let l2_bytes = device.properties().l2_bytes;
            // The peer runs alone on the GPU.
            drop(device);
            let peers = suite
                .peers(&cases, sizes, l2_bytes, &sampling)
                .map_err(|error| match error {
                    PeerError::Wrong(_) => anyhow::Error::new(Wrong(error.to_string())),
                    error => error.into(),
                })
                .with_context(|| format!("measuring the peers of {}", suite.name))?;
            (global.device.device()?, peers)
        } else {
            (device, PeerTimes::default())
        };
        for note in peers.notes() {
            output::say(format_args!("gridsync: {note}"));
        }

        let points = cases.len() * sizes.len();
        let mut rows = Rows::new(global, points, columns(suite, &cases, sizes), cells);
        let step = |step: Step<'_, (&Case, usize)>| match step {
            Step::Next((case, n)) => {
                rows.next(format!("{} of {n} {}, {}", case.op, case.dtype, case.variant))
            }
            Step::Measured(record) => rows.add(record),
        };
        let run =
            suite.run(&device, &cases, sizes, &peers, &sampling, step).map_err(
                |error| match error {
                    MeasureError::Wrong(what) => anyhow::Error::new(Wrong(what)),
                    MeasureError::Device(error) => error.into(),
                },
            )?;
        rows.finish(&run.records)?;

        for left in &run.too_large {
            output::say(format_args!(
                "gridsync: leaving out {} elements of {}: {}",
                left.n, left.dtype, left.error
            ));
        }
        if run.records.is_empty() {
            return Err(Usage(format!(
                "nothing to measure: none of {} lengths fits in the memory of {}",
                sizes.len(),
                device.properties().name
            ))
            .into());
        }
        Ok(run.records)
    }
}

/// The cases of these operations and element types. An empty list means all.
fn chosen(suite: &Throughput, ops: &[String], dtypes: &[String]) -> Result<Vec<Case>, Usage> {
    let asked = |names: &[String], name| names.is_empty() || names.iter().any(|n| n == name);
    let cases = suite.cases.iter();
    let chosen: Vec<Case> = cases
        .clone()
        .filter(|case| asked(ops, case.op) && asked(dtypes, case.dtype.name()))
        .copied()
        .collect();
    if chosen.is_empty() {
        return Err(Usage(format!(
            "nothing to measure: the suite {} supports --ops {}, --dtypes {}, but not every combination",
            suite.name,
            distinct(cases.clone().map(|case| case.op)).join(","),
            distinct(cases.map(|case| case.dtype.name())).join(","),
        )));
    }
    Ok(chosen)
}

/// The columns of the table, wide enough for these cases and lengths.
fn columns(suite: &Throughput, cases: &[Case], sizes: &[usize]) -> Vec<Column> {
    let longest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let beside = [suite.ceiling.name().len()];
    let variants = cases.iter().map(|case| case.variant.len()).chain(beside);
    let modes = cases.iter().flat_map(|case| case.peer_modes);
    vec![
        Column::words("variant", longest(&mut variants.into_iter())),
        Column::words("op", longest(&mut cases.iter().map(|case| case.op.len()))),
        Column::words("dtype", 0),
        Column::numbers("n", longest(&mut sizes.iter().map(|&n| length(n).len()))),
        Column::numbers("calls", 0),
        Column::numbers("µs", 9),
        Column::numbers("GB/s", 6),
        Column::numbers("%roof", 0),
        Column::numbers("ratio", 0),
        Column::words("to", longest(&mut modes.map(|mode| plain_mode(mode).len()))),
        Column::words("", 0),
    ]
}

/// A length in its shortest form.
fn length(n: usize) -> String {
    match n.is_power_of_two() && n > 1 {
        true => format!("2^{}", n.ilog2()),
        false => n.to_string(),
    }
}

/// The row of a record. The record of the ceiling comes before it.
fn cells(so_far: &[Record], record: &Record) -> Vec<String> {
    let word = |key: &str| record.params[key].as_str().unwrap_or_default().to_owned();
    let or_none = |text: Option<String>| text.unwrap_or_default();
    let n = record.params["n"].as_u64().unwrap_or_default();
    vec![
        record.variant.clone(),
        word("op"),
        word("dtype"),
        length(n as usize),
        record.params["calls"].to_string(),
        format!("{:.3}", record.median),
        or_none(record.gb_per_s().map(|gb| format!("{gb:.1}"))),
        or_none(of_ceiling(so_far, record).map(|part| format!("{:.1}", 100.0 * part))),
        or_none(record.ratio().map(|ratio| format!("{ratio:.3}"))),
        plain_mode(&word("peer_mode")).to_owned(),
    ]
}

/// The throughput of `record` as a fraction of the ceiling's, if the ceiling is in `records`.
fn of_ceiling(records: &[Record], record: &Record) -> Option<f64> {
    let ceiling = records.iter().find(|ceiling| {
        let is_ceiling = [Ceiling::Read, Ceiling::Copy].map(Ceiling::name);
        let alike = |key| ceiling.params[key] == record.params[key];
        is_ceiling.contains(&&*ceiling.variant) && ["dtype", "n", "calls"].into_iter().all(alike)
    })?;
    Some(record.gb_per_s()? / ceiling.gb_per_s()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::bench::{
        KENDALL, Measurement, PARTITION, Peer, REDUCE, REDUCE_ROWS, SCAN, SELECT, Spread, UNIQUE,
    };
    use serde_json::json;

    #[test]
    fn error_of_an_unknown_case_lists_the_known_ones() {
        let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect::<Vec<_>>();
        let of_scan = |ops: &[&str], dtypes: &[&str]| chosen(&SCAN, &names(ops), &names(dtypes));
        assert_eq!(of_scan(&[], &["u32"]).map(|cases| cases.len()).ok(), Some(3));
        let refused = of_scan(&["min"], &[]).err().map(|usage| usage.0);
        assert!(refused.is_some_and(|why| why.contains("--ops sum, --dtypes f32,f64,i32,u32,u64")));
    }

    #[test]
    fn a_row_shows_the_percentage_of_the_ceiling_and_the_peer() {
        let record = |variant: &str, median, peer| {
            let params = json!({
                "op": "sum", "dtype": "f32", "n": 1000, "calls": 256, "peer_mode": "run_to_run",
            });
            let time = Spread::of(vec![median]).expect("there is a sample");
            let measured = Measurement { time, warnings: vec![] };
            Record::new("reduce", variant, "a GPU", params, measured).moving(4000).beside(peer)
        };
        let peer = Peer::new("cub::DeviceReduce", 5.0);
        let read = record(Ceiling::Read.name(), 2.0, None);
        let tiles = record("tiles", 2.5, Some(peer));
        let words = ["tiles", "sum", "f32", "1000", "256", "2.500", "1.6", "80.0", "0.500"];
        let so_far = [read, tiles];
        assert_eq!(cells(&so_far, &so_far[1]), [&words[..], &["run_to_run"]].concat());
        assert_eq!(cells(&so_far, &so_far[0])[7], "100.0");
    }

    #[test]
    fn table_of_every_suite_fits_in_a_terminal() {
        for suite in [&REDUCE, &REDUCE_ROWS, &SCAN, &SELECT, &PARTITION, &UNIQUE, &KENDALL] {
            let columns = columns(suite, suite.cases, suite.sizes);
            let rows = suite.cases.iter().map(|case| {
                let cells = [case.variant, case.op, "f32", "2^32", "256", "12345.678", "4321.0"];
                let mode = case.peer_modes.first().map_or("", |mode| plain_mode(mode));
                let more = ["100.0", "0.985", mode, "[1]"];
                Column::row(&columns, cells.into_iter().chain(more).map(str::to_owned))
            });
            for row in rows {
                assert!(row.chars().count() <= 80, "{}: {row}", suite.name);
            }
        }
    }
}
