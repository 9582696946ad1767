//! The throughput suites: operations on elements of several types, at several lengths.

use super::flags::{Sizes, by_default, is_asked, length, one_of};
use super::rows::{Cell, Rows, cell, longest, number, param, ratio, variant};
use super::suites::{Measure, Records};
use super::{Global, Usage, of_measurement, of_peer, with_peer};
use crate::cli::output;
use anyhow::Context;
use clap::{Arg, Args};
use gridsync_lab::bench::{
    Case, Ceiling, PeerKind, PeerKinds, PeerProgram, Record, Sampling, Step, Throughput, plain_mode,
};
use gridsync_lab::display::Column;

#[derive(Args)]
pub(super) struct Flags {
    #[command(flatten)]
    sizes: Sizes,
    /// Measure these operations only [default: all].
    #[arg(long, value_name = "OP", value_delimiter = ',')]
    ops: Vec<String>,
    /// Measure these element types only [default: all].
    #[arg(long, value_name = "DTYPE", value_delimiter = ',')]
    dtypes: Vec<String>,
}

impl Measure for Throughput {
    type Flags = Flags;

    fn describe(&self, flag: Arg) -> Arg {
        match flag.get_id().as_str() {
            "sizes" => by_default(flag, self.sizes),
            "ops" => one_of(flag, names(self, |case| case.op)),
            "dtypes" => one_of(flag, names(self, |case| case.dtype.name())),
            _ => flag,
        }
    }

    fn peer(&self) -> Option<PeerProgram> {
        self.peer
    }

    fn kinds(&self) -> Vec<PeerKind> {
        self.kinds()
    }

    fn measure(&self, flags: Flags, kinds: &PeerKinds, global: &Global) -> Records {
        let Flags { sizes, ops, dtypes } = flags;
        let device = global.device.gpu("bench")?;
        let cases = chosen(self, &ops, &dtypes)?;
        let sizes = sizes.or(self.sizes);
        let sampling = Sampling::default();
        let l2_bytes = device.properties().l2_bytes;
        let ask = || {
            let times = self.peers(&cases, sizes, l2_bytes, &sampling, kinds).map_err(of_peer);
            times.with_context(|| format!("measuring the peers of {}", self.name))
        };
        let (device, peers) = with_peer(device, *kinds != PeerKinds::None, global, ask)?;
        for note in peers.notes() {
            output::say(format_args!("gridsync: {note}"));
        }

        let cells = cells(self, &cases, sizes);
        let mut rows = Rows::new(global, cases.len() * sizes.len(), cells);
        let step = |step: Step<'_, (&Case, usize)>| {
            rows.step(step, |(case, n)| {
                format!("{} of {n} {}, {}", case.op, case.dtype, case.variant)
            });
        };
        let run = self.run(&device, &cases, sizes, &peers, &sampling, step);
        let run = run.map_err(of_measurement)?;
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

/// The operations, or the element types, of a suite, each once.
fn names(suite: &Throughput, name: fn(&Case) -> &'static str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in suite.cases.iter().map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The cases of these operations and element types. An empty list means all.
fn chosen(suite: &Throughput, ops: &[String], dtypes: &[String]) -> Result<Vec<Case>, Usage> {
    let is_chosen = |case: &Case| is_asked(ops, case.op) && is_asked(dtypes, case.dtype.name());
    let chosen: Vec<Case> = suite.cases.iter().copied().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(Usage(format!(
            "nothing to measure: the suite {} supports --ops {}, --dtypes {}, but not every combination",
            suite.name,
            names(suite, |case| case.op).join(","),
            names(suite, |case| case.dtype.name()).join(","),
        )));
    }
    Ok(chosen)
}

/// The columns of the table, wide enough for these cases and lengths.
fn cells(suite: &Throughput, cases: &[Case], sizes: &[usize]) -> Vec<Cell> {
    let variants = cases.iter().map(|case| case.variant).chain([suite.ceiling.name()]);
    let modes = cases.iter().flat_map(|case| suite.modes(case)).map(plain_mode);
    let lengths: Vec<_> = sizes.iter().map(|&n| length(n)).collect();
    let words = |head, width, key: &'static str| {
        cell(Column::words(head, width), move |record| record.word(key).unwrap_or_default().into())
    };
    let n = |record: &Record| length(record.number("n").unwrap_or_default() as usize);
    let mode = |record: &Record| plain_mode(record.word("peer_mode").unwrap_or_default()).into();
    vec![
        variant("variant", variants),
        words("op", longest(cases.iter().map(|case| case.op)), "op"),
        words("dtype", 0, "dtype"),
        cell(Column::numbers("n", longest(lengths.iter().map(String::as_str))), n),
        param("calls", 0, "calls"),
        number("µs", 9, 3, |_, record| Some(record.median)),
        number("GB/s", 6, 1, |_, record| record.gb_per_s()),
        number("%roof", 0, 1, |so_far, record| Some(100.0 * of_ceiling(so_far, record)?)),
        ratio(),
        cell(Column::words("to", longest(modes)), mode),
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
        BY_KEY, HISTOGRAM, KENDALL, Measurement, PARTITION, Peer, RANK, REDUCE, REDUCE_ROWS, SCAN,
        SCAN_ROWS, SEGMENTS, SELECT, SOFTMAX, SORT, Spread, UNIQUE,
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
        let cells = cells(&REDUCE, REDUCE.cases, REDUCE.sizes);
        let row = |at: usize| -> Vec<_> {
            cells.iter().map(|(_, text)| text(&so_far, &so_far[at])).collect()
        };
        assert_eq!(row(1), [&words[..], &["run_to_run"]].concat());
        assert_eq!(row(0)[7], "100.0");
    }

    #[test]
    fn table_of_every_suite_fits_in_a_terminal() {
        for suite in [
            &REDUCE,
            &REDUCE_ROWS,
            &SCAN,
            &SELECT,
            &PARTITION,
            &UNIQUE,
            &SEGMENTS,
            &BY_KEY,
            &SCAN_ROWS,
            &SOFTMAX,
            &SORT,
            &HISTOGRAM,
            &RANK,
            &KENDALL,
        ] {
            let cells = cells(suite, suite.cases, suite.sizes).into_iter();
            let mut columns: Vec<_> = cells.map(|(column, _)| column).collect();
            columns.push(Column::words("", 0));
            let rows = suite.cases.iter().map(|case| {
                let cells = [case.variant, case.op, "f32", "2^32", "256", "12345.678", "4321.0"];
                let mode = suite.modes(case).first().map_or("", |mode| plain_mode(mode));
                let more = ["100.0", "0.985", mode, "[1]"];
                Column::row(&columns, cells.into_iter().chain(more).map(str::to_owned))
            });
            for row in rows {
                assert!(row.chars().count() <= 80, "{}: {row}", suite.name);
            }
        }
    }
}
