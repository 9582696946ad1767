//! The table of a benchmark. It is printed row by row, so that an interrupted run has shown its
//! rows.

use super::Global;
use crate::cli::output;
use crate::cli::progress::progress;
use gridsync_lab::bench::{Notes, Record, Step};
use gridsync_lab::display::Column;
use indicatif::ProgressBar;

/// The text of a record, which is the last of the records so far.
type Text = Box<dyn Fn(&[Record], &Record) -> String>;

/// A column, and its text for each record.
pub(super) type Cell = (Column, Text);

/// A column of what `text` says of a record.
pub(super) fn cell(column: Column, text: impl Fn(&Record) -> String + 'static) -> Cell {
    (column, Box::new(move |_, record| text(record)))
}

/// A column of numbers, empty where there is none.
pub(super) fn number(
    head: &'static str,
    width: usize,
    digits: usize,
    of: impl Fn(&[Record], &Record) -> Option<f64> + 'static,
) -> Cell {
    let text = move |so_far: &[Record], record: &Record| {
        of(so_far, record).map_or(String::new(), |number| format!("{number:.digits$}"))
    };
    (Column::numbers(head, width), Box::new(text))
}

/// The column of the variants, which are among `names`.
pub(super) fn variant<'a>(head: &'static str, names: impl Iterator<Item = &'a str>) -> Cell {
    cell(Column::words(head, longest(names)), |record| record.variant.clone())
}

/// The length of the longest of `names`.
pub(super) fn longest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0)
}

/// The column of the parameter `key`.
pub(super) fn param(head: &'static str, width: usize, key: &'static str) -> Cell {
    cell(Column::numbers(head, width), move |record| record.params[key].to_string())
}

/// The columns of the blocks and the threads.
pub(super) fn grid() -> [Cell; 2] {
    [param("blocks", 6, "blocks"), param("threads", 7, "threads")]
}

/// The columns of the median, the least and the greatest sample.
pub(super) fn times(width: usize, digits: usize) -> [Cell; 3] {
    [
        number("µs", width, digits, |_, record| Some(record.median)),
        number("min", width, digits, |_, record| Some(record.min)),
        number("max", width, digits, |_, record| Some(record.max)),
    ]
}

/// The columns of the time of the peer and of our time divided by it.
pub(super) fn peer(head: &'static str, width: usize, digits: usize) -> [Cell; 2] {
    [number(head, width, digits, |_, record| Some(record.peer.as_ref()?.median)), ratio()]
}

/// The column of our time divided by the peer's.
pub(super) fn ratio() -> Cell {
    number("ratio", 5, 3, |_, record| record.ratio())
}

/// A table that is being printed.
pub(super) struct Rows<'a> {
    global: &'a Global,
    bar: ProgressBar,
    columns: Vec<Column>,
    texts: Vec<Text>,
    records: Vec<Record>,
    notes: Notes,
    /// The result of printing so far.
    printed: anyhow::Result<()>,
}

impl<'a> Rows<'a> {
    /// A table with these columns, then one of notes, and at most `points` points.
    pub(super) fn new(
        global: &'a Global,
        points: usize,
        cells: impl IntoIterator<Item = Cell>,
    ) -> Self {
        let (mut columns, texts): (Vec<_>, _) = cells.into_iter().unzip();
        columns.push(Column::words("", 0));
        Self {
            global,
            bar: progress(global, points),
            columns,
            texts,
            records: Vec::new(),
            notes: Notes::default(),
            printed: Ok(()),
        }
    }

    /// Shows what is measured next, which `name` names, or prints the row of a record.
    pub(super) fn step<P>(&mut self, step: Step<'_, P>, name: impl FnOnce(P) -> String) {
        match step {
            Step::Next(point) => {
                self.bar.set_message(name(point));
                self.bar.inc(1);
            }
            Step::Measured(record) => self.add(record),
        }
    }

    /// Prints the row of a record.
    fn add(&mut self, record: &Record) {
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
        let texts = self.texts.iter().map(|text| text(&self.records, record));
        Column::row(&self.columns, texts.chain([self.notes.marks(&record.warnings)]))
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
        if self.global.json || below.is_empty() {
            return Ok(());
        }
        output::print(&format!("\n{}", below.join("\n")))
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
        let mut rows = Rows::new(&call.global, 2, [variant("design", ["phase"].into_iter())]);
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
