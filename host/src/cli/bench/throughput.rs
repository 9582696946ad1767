//! The suites of throughputs: operations on elements of several types, over lengths.

use super::{Bench, Global, Usage, below, distinct, marks};
use crate::cli::exit::Wrong;
use crate::cli::progress::progress;
use anyhow::Context;
use gridsync::bench::{
    Case, Ceiling, MeasureError, PeerError, PeerTimes, Record, Sampling, Throughput,
};
use gridsync::device::Device;
use gridsync::report::table;

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
            // The peer has the GPU to itself.
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
            eprintln!("gridsync: {note}");
        }

        let bar = progress(global, cases.len() * sizes.len());
        let step = |case: &Case, n: usize| {
            bar.set_message(format!(
                "{} of {n} {}, {}",
                case.op, case.dtype, case.variant
            ));
            bar.inc(1);
        };
        let run = suite
            .run(&device, &cases, sizes, &peers, &sampling, step)
            .map_err(|error| match error {
                MeasureError::Wrong(what) => anyhow::Error::new(Wrong(what)),
                MeasureError::Device(error) => error.into(),
            })?;
        bar.finish_and_clear();

        for left in &run.too_large {
            eprintln!(
                "gridsync: leaving out {} elements of {}: {}",
                left.n, left.dtype, left.error
            );
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

/// The cases of these operations and element types; where none are named, of all.
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
            "nothing to measure: the suite {} takes --ops {}, --dtypes {}, and not every one of each",
            suite.name,
            distinct(cases.clone().map(|case| case.op)).join(","),
            distinct(cases.map(|case| case.dtype.name())).join(","),
        )));
    }
    Ok(chosen)
}

/// The table, and below it what its marks mean.
pub(super) fn text(records: &[Record]) -> String {
    let mut table = table();
    table.set_header([
        "variant",
        "op",
        "dtype",
        "n",
        "calls",
        "µs",
        "min",
        "max",
        "samples",
        "GB/s",
        "% of ceiling",
        "peer",
        "peer µs",
        "ratio",
        "",
    ]);
    let mut notes = Vec::new();
    for record in records {
        let word = |key: &str| record.params[key].as_str().unwrap_or_default().to_owned();
        let or_none = |text: Option<String>| text.unwrap_or_default();
        table.add_row([
            record.variant.to_owned(),
            word("op"),
            word("dtype"),
            record.params["n"].to_string(),
            record.params["calls"].to_string(),
            format!("{:.3}", record.time.median),
            format!("{:.3}", record.time.min),
            format!("{:.3}", record.time.max),
            record.time.samples.to_string(),
            or_none(record.gb_per_s().map(|gb| format!("{gb:.1}"))),
            or_none(of_ceiling(records, record).map(|part| format!("{:.1}", 100.0 * part))),
            word("peer_mode"),
            or_none(
                record
                    .peer
                    .as_ref()
                    .map(|peer| format!("{:.3}", peer.median)),
            ),
            or_none(record.ratio().map(|ratio| format!("{ratio:.3}"))),
            marks(&mut notes, record),
        ]);
    }
    format!("{table}\n{}", below(&notes))
}

/// The throughput of `record` over that of only moving bytes, if that is among `records`.
fn of_ceiling(records: &[Record], record: &Record) -> Option<f64> {
    let ceiling = records.iter().find(|ceiling| {
        let is_ceiling = [Ceiling::Read, Ceiling::Copy].map(Ceiling::name);
        let alike = |key| ceiling.params[key] == record.params[key];
        is_ceiling.contains(&ceiling.variant) && ["dtype", "n", "calls"].into_iter().all(alike)
    })?;
    Some(record.gb_per_s()? / ceiling.gb_per_s()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::bench::{Peer, SCAN, Spread};
    use serde_json::json;

    #[test]
    fn what_a_suite_does_not_have_is_refused_with_what_it_has() {
        let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect::<Vec<_>>();
        let of_scan = |ops: &[&str], dtypes: &[&str]| chosen(&SCAN, &names(ops), &names(dtypes));
        assert_eq!(
            of_scan(&[], &["u32"]).map(|cases| cases.len()).ok(),
            Some(3)
        );
        let refused = of_scan(&["min"], &[]).err().map(|usage| usage.0);
        assert!(refused.is_some_and(|why| why.contains("--ops sum, --dtypes f32,f64,i32,u32,u64")));
    }

    #[test]
    fn a_row_tells_its_part_of_the_ceiling_and_its_peer() {
        let record = |variant, median, peer| Record {
            suite: "reduce",
            variant,
            device: "a GPU".into(),
            params: json!({
                "op": "sum", "dtype": "f32", "n": 1000, "calls": 256, "peer_mode": "run_to_run",
            }),
            time: Spread::of(vec![median]).expect("there is a sample"),
            bytes: Some(4000),
            peer,
            warnings: vec![],
        };
        let peer = Peer {
            name: "cub::DeviceReduce",
            median: 5.0,
        };
        let text = text(&[
            record(Ceiling::Read.name(), 2.0, None),
            record("tiles", 2.5, Some(peer)),
        ]);
        let row = text.lines().nth(2).expect("a header and two rows");
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(
            words,
            [
                "tiles",
                "sum",
                "f32",
                "1000",
                "256",
                "2.500",
                "2.500",
                "2.500",
                "1",
                "1.6",
                "80.0",
                "run_to_run",
                "5.000",
                "0.500",
            ]
        );
    }
}
