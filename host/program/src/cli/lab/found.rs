//! Result of an experiment, as text, as JSON and as files.

use crate::cli::exit::Wrong;
use crate::cli::{Global, output};
use gridsync_lab::Report;
use gridsync_lab::display::Table;
use gridsync_lab::display::svg::ChartError;
use serde_json::{Map, Value};

/// Result of an experiment.
#[derive(Default)]
pub(super) struct Found {
    /// Text for people.
    pub(super) text: String,
    /// The same for scripts.
    pub(super) json: Value,
    /// Whether the JSON is an array, printed with one element per line.
    pub(super) is_one_a_line: bool,
    /// Charts and records for `--output`: names and contents.
    pub(super) files: Vec<(String, String)>,
    /// What is wrong, if anything is.
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
    pub(super) fn print(self, global: &Global) -> anyhow::Result<()> {
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

/// A page about one question: the numbers of a device, and their meaning.
pub(crate) struct Page {
    /// The question, and how it was answered.
    question: String,
    /// Tables and drawings, one below the other.
    numbers: Vec<String>,
    /// The meaning of the numbers, in paragraphs.
    meaning: Vec<String>,
    json: Map<String, Value>,
    files: Vec<(&'static str, String)>,
    wrong: Option<String>,
}

impl Page {
    /// A page with the question `question`, about `device`.
    pub(crate) fn new(device: &str, question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            numbers: Vec::new(),
            meaning: Vec::new(),
            json: Map::from_iter([("device".to_owned(), device.into())]),
            files: Vec::new(),
            wrong: None,
        }
    }

    /// Adds a table with the heading `what`.
    pub(crate) fn table(&mut self, what: &str, table: &Table) {
        self.drawing(what, &table.to_string());
    }

    /// Adds lines with the heading `what`.
    pub(crate) fn drawing(&mut self, what: &str, lines: &str) {
        self.numbers.push(format!("{}\n{}", wrapped(what), lines.trim_end()));
    }

    /// Adds a paragraph about the meaning of the numbers.
    pub(crate) fn means(&mut self, paragraph: impl Into<String>) {
        self.meaning.push(paragraph.into());
    }

    /// Adds a field of the JSON.
    pub(crate) fn json(&mut self, name: &str, value: impl Into<Value>) {
        self.json.insert(name.to_owned(), value.into());
    }

    /// Adds a file for `--output`.
    ///
    /// # Errors
    /// The error of the chart.
    pub(crate) fn file(
        &mut self,
        name: &'static str,
        content: Result<String, ChartError>,
    ) -> Result<(), ChartError> {
        self.files.push((name, content?));
        Ok(())
    }

    /// Records that a result is wrong. Keeps the first such record.
    pub(crate) fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert(what.into());
    }

    /// The page as it is printed without flags.
    #[cfg(test)]
    pub(super) fn without_flags(self) -> Found {
        let device = crate::cli::DeviceChoice::Auto;
        self.found(&Global { device, json: false, quiet: false, verbose: false })
    }

    /// The page as it is printed: with `--quiet` only the numbers.
    pub(super) fn found(self, global: &Global) -> Found {
        let question = [wrapped(&self.question)];
        let meaning: Vec<_> = self.meaning.iter().map(|paragraph| wrapped(paragraph)).collect();
        let parts = match global.quiet {
            true => self.numbers,
            false => [&question[..], &self.numbers[..], &meaning[..]].concat(),
        };
        Found {
            text: parts.join("\n\n"),
            json: self.json.into(),
            files: owned(self.files),
            wrong: self.wrong,
            ..Found::default()
        }
    }
}

/// Files with names of their own.
pub(super) fn owned(files: Vec<(&str, String)>) -> Vec<(String, String)> {
    files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect()
}

/// A paragraph in lines of at most 80 characters.
pub(super) fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        match last.chars().count() + 1 + word.chars().count() {
            _ if last.is_empty() => *last = word.to_owned(),
            ..=80 => *last += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_fits_in_a_terminal_and_keeps_its_words() {
        let paragraph = "A warp is 32 lanes. ".repeat(20);
        let lines = wrapped(&paragraph);
        assert!(lines.lines().all(|line| line.len() <= 80), "{lines}");
        assert!(lines.split_whitespace().eq(paragraph.split_whitespace()));
    }
}
