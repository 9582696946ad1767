//! Result of an experiment, as text, as JSON and as files.

use crate::cli::exit::Wrong;
use crate::cli::{Global, output};
use gridsync_lab::Report;
use serde_json::Value;

/// Result of an experiment.
pub(in crate::cli) struct Found {
    /// Text for people.
    pub(super) text: String,
    /// The same for scripts.
    pub(super) json: Value,
    /// Whether the JSON is an array, printed with one element per line.
    pub(super) is_one_a_line: bool,
    /// Charts and records for `--output`: names and contents.
    pub(super) files: Vec<(String, String)>,
    /// The error, if there is one.
    pub(super) wrong: Option<String>,
}

impl Found {
    /// The page, the JSON and the files of `report`.
    pub(super) fn of<R: Report>(report: &R, global: &Global) -> anyhow::Result<Self> {
        let page = report.page();
        let charts = report.charts()?.into_iter().map(|chart| (chart.file(), chart.svg));
        let text = page.text(global.quiet);
        for note in page.notes() {
            output::say(format_args!("gridsync: {note}"));
        }
        let (files, wrong) = page.into_files_and_wrong();
        let files = files.into_iter().map(|(name, content)| (name.to_owned(), content));
        Ok(Self {
            text,
            json: serde_json::to_value(report)?,
            is_one_a_line: R::ONE_A_LINE,
            files: charts.chain(files).collect(),
            wrong,
        })
    }

    /// Prints it. Something wrong is an error.
    pub(in crate::cli) fn print(self, global: &Global) -> anyhow::Result<()> {
        match self.json {
            Value::Array(lines) if global.json && self.is_one_a_line => {
                let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
                output::print(&lines.join("\n"))?;
            }
            json => output::result(global, || self.text, || json)?,
        }
        self.wrong.map_or(Ok(()), |wrong| Err(Wrong(wrong).into()))
    }
}
