//! The suite `python`: calls of the Python package `gridsync`.

use super::flags::{Sizes, by_default, is_asked, length, one_of};
use super::rows::{Cell, Rows, cell, longest, number, peer, variant};
use super::suites::{Measure, Records};
use super::{Global, Usage, of_peer};
use crate::cli::output;
use anyhow::Context;
use clap::{Arg, Args};
use gridsync_lab::bench::{
    PYTHON_FUNCTIONS, PYTHON_SIZES, PYTHON_TIMES, PeerError, PeerKind, PeerKinds, PythonCalls,
    Record, Step,
};
use gridsync_lab::display::Column;

/// The suite.
pub(super) struct Python;

#[derive(Args)]
pub(super) struct Flags {
    #[command(flatten)]
    sizes: Sizes,
    /// Measure these functions only [default: all].
    #[arg(long, value_name = "OP", value_delimiter = ',')]
    ops: Vec<String>,
}

impl Measure for Python {
    type Flags = Flags;

    fn describe(&self, flag: Arg) -> Arg {
        match flag.get_id().as_str() {
            "sizes" => by_default(flag, &PYTHON_SIZES),
            "ops" => one_of(flag, names()),
            _ => flag,
        }
    }

    fn kinds(&self) -> Vec<PeerKind> {
        vec![PeerKind::Torch, PeerKind::Cupy]
    }

    fn measure(&self, flags: Flags, peers: &PeerKinds, global: &Global) -> Records {
        // Python opens the GPU too, so this device is closed at once.
        let device = global.device.gpu("bench")?.properties().name.clone();
        let mut functions = PYTHON_FUNCTIONS.to_vec();
        functions.retain(|function| is_asked(&flags.ops, function.name));
        if functions.is_empty() {
            let names = names().collect::<Vec<_>>().join(",");
            return Err(
                Usage(format!("nothing to measure: the suite python has --ops {names}")).into()
            );
        }
        let sizes = flags.sizes.or(&PYTHON_SIZES);
        let calls = PythonCalls { functions: &functions, sizes, ordinal: global.device.ordinal() };
        let mut rows = Rows::new(global, calls.libraries(peers), cells(sizes));
        let step = |step: Step<'_, &str>| rows.step(step, |library| format!("arrays of {library}"));
        let run = match calls.run(&device, peers, step) {
            Err(error @ (PeerError::Absent(_) | PeerError::NoInterpreter(_))) => {
                output::say(format_args!("SKIPPED: {error}"));
                return Ok(Vec::new());
            }
            run => run.map_err(of_peer).context("measuring the calls of Python")?,
        };
        rows.finish(&run.records)?;
        for note in &run.notes {
            output::say(format_args!("gridsync: {note}"));
        }
        anyhow::ensure!(!run.records.is_empty(), "no call of Python could be measured");
        Ok(run.records)
    }
}

/// The names of all functions.
fn names() -> impl Iterator<Item = &'static str> {
    PYTHON_FUNCTIONS.iter().map(|function| function.name)
}

/// The columns of the table.
fn cells(sizes: &[usize]) -> impl Iterator<Item = Cell> {
    let lengths: Vec<_> = sizes.iter().map(|&n| length(n)).collect();
    let n = |record: &Record| length(record.number("n").unwrap_or_default() as usize);
    let words = |head, width, key: &'static str| {
        cell(Column::words(head, width), move |record| record.word(key).unwrap_or_default().into())
    };
    [
        variant("function", names()),
        words("arrays", 0, "arrays"),
        words("time", longest(PYTHON_TIMES.into_iter()), "time"),
        cell(Column::numbers("n", longest(lengths.iter().map(String::as_str))), n),
        number("µs", 10, 2, |_, record| Some(record.median)),
    ]
    .into_iter()
    .chain(peer("peer µs", 10, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::bench::{Measurement, Peer, Spread};
    use serde_json::json;

    #[test]
    fn a_row_has_the_time_beside_that_of_the_peer_and_fits_in_a_terminal() {
        let params = json!({ "arrays": "torch", "dtype": "f32", "n": 1 << 28, "time": "device" });
        let time = Spread::of(vec![375_500.0]).expect("there is a sample");
        let measured = Measurement { time, warnings: vec![] };
        let record = Record::new("python", "cumulative_max", "a GPU", params, measured)
            .beside(Some(Peer::new("torch.cummax", 751_000.0)));
        let (columns, texts): (Vec<_>, Vec<_>) = cells(&PYTHON_SIZES).unzip();
        let row: Vec<_> = texts.iter().map(|text| text(&[], &record)).collect();
        let words =
            ["cumulative_max", "torch", "device", "2^28", "375500.00", "751000.00", "0.500"];
        assert_eq!(row, words);
        let line = Column::row(&columns, row);
        assert!(line.chars().count() <= 76, "{line}");
    }
}
