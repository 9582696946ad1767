//! The table of a benchmark. It is printed row by row, so that an interrupted run has shown its
//! rows.

use super::Global;
use crate::cli::notes::Notes;
use crate::cli::output;
use crate::cli::progress::progress;
use gridsync_lab::bench::Record;
use gridsync_lab::display::Column;
use indicatif::ProgressBar;

/// A table that is being printed.
pub(super) struct Rows<'a> {
    global: &'a Global,
    bar: ProgressBar,
    columns: Vec<Column>,
    /// Formats a record, which is the last of the records so far.
    cells: fn(&[Record], &Record) -> Vec<String>,
    records: Vec<Record>,
    notes: Notes,
    /// The result of printing so far.
    printed: anyhow::Result<()>,
}

impl<'a> Rows<'a> {
    /// A table with these columns and at most `points` points.
    pub(super) fn new(
        global: &'a Global,
        points: usize,
        columns: Vec<Column>,
        cells: fn(&[Record], &Record) -> Vec<String>,
    ) -> Self {
        Self {
            global,
            bar: progress(global, points),
            columns,
            cells,
            records: Vec::new(),
            notes: Notes::default(),
            printed: Ok(()),
        }
    }

    /// Shows what is measured next.
    pub(super) fn next(&self, what: String) {
        self.bar.set_message(what);
        self.bar.inc(1);
    }

    /// Prints the row of a record.
    pub(super) fn add(&mut self, record: &Record) {
        let row = self.row(record);
        let lines = match self.records.len() {
            1 => format!("{}\n{row}", Column::heads(&self.columns)),
            _ => row,
        };
        if self.printed.is_ok() && !self.global.json {
            self.printed = self.bar.suspend(|| output::print(&lines));
        }
    }

    /// The row of a record, with the numbers of its notes.
    fn row(&mut self, record: &Record) -> String {
        self.records.push(record.clone());
        let mut cells = (self.cells)(&self.records, record);
        cells.push(self.notes.marks(&record.warnings));
        Column::row(&self.columns, cells)
    }

    /// The lines below the table: its notes, and a warning about all of `records`, if any.
    fn below(&self, records: &[Record]) -> Vec<String> {
        let mut lines: Vec<_> = self.notes.lines().collect();
        let mut warnings = records.iter().flat_map(|record| &record.warnings);
        let of_all = warnings.find(|warning| !self.notes.contains(warning));
        lines.extend(of_all.map(|warning| format!("All rows: {warning}")));
        lines
    }

    /// Prints the lines below the table of these records.
    pub(super) fn finish(self, records: &[Record]) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        let below = self.below(records);
        self.printed?;
        match self.global.json || below.is_empty() {
            true => Ok(()),
            false => output::print(&format!("\n{}", below.join("\n"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gridsync_lab::bench::{Measurement, Spread, Warning};
    use serde_json::json;

    #[test]
    fn warnings_are_marked_and_noted_once_below() {
        let call = crate::cli::Cli::try_parse_from(["gridsync", "devices"]).expect("a call");
        let columns = vec![Column::words("design", 6), Column::words("", 0)];
        let mut rows =
            Rows::new(&call.global, 2, columns, |_, record| vec![record.variant.clone()]);
        let noise = Warning::Noise { uncertainty: 0.1, allowed: 0.005, samples: 7 };
        let short = Warning::too_short(20.0).expect("20 µs are too short");
        let drift = Warning::drift(1.0, 1.1).expect("10 % are too much");
        let record = |variant: &str, warnings| {
            let time = Spread::of(vec![0.845]).expect("there is a sample");
            let params = json!({ "blocks": 132, "threads": 256 });
            Record::new("barrier", variant, "a GPU", params, Measurement { time, warnings })
        };
        let mut records = [record("split", vec![noise]), record("phase", vec![short, noise])];
        let lines: Vec<_> = records.iter().map(|record| rows.row(record)).collect();
        assert_eq!(lines, ["split  [1]", "phase  [2][1]"]);
        // This is only known at the end.
        records.iter_mut().for_each(|record| record.warnings.push(drift));
        let below = rows.below(&records);
        assert!(below[0].starts_with("[1] noise: "), "{below:?}");
        assert!(below[1].starts_with("[2] too short: "), "{below:?}");
        assert!(below[2].starts_with("All rows: drift: "), "{below:?}");
        assert_eq!(below.len(), 3, "{below:?}");
    }
}
