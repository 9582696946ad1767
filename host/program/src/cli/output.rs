//! Prints results to standard output, and everything else to standard error.

use super::Global;
use crate::data::{DataError, Output};
use crate::shown::escaped_lines;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// The most results to print as text.
pub(crate) const MOST_PRINTED: usize = 100;

/// The first [`MOST_PRINTED`] lines, and the number of those left out. `what` names what is on a line.
pub(crate) fn first(lines: impl ExactSizeIterator<Item = String>, what: &str) -> String {
    let left = lines.len().saturating_sub(MOST_PRINTED);
    let mut first: Vec<_> = lines.take(MOST_PRINTED).collect();
    if left > 0 {
        first.push(format!("… and {left} more {what}: -o FILE writes all, --json prints all"));
    }
    first.join("\n")
}

/// Prints a result: text, or JSON with `--json`.
pub(crate) fn result<J: Serialize>(
    global: &Global,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> J,
) -> anyhow::Result<()> {
    if global.json { print_json(&json()) } else { print(text().trim_end()) }
}

/// Prints JSON on standard output, its fields in alphabetical order.
pub(crate) fn print_json(result: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_value(result)?.to_string())
}

/// Prints lines on standard output.
pub(crate) fn print(lines: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", escaped_lines(lines)).and_then(|()| out.flush()) {
        // The reader of our output closed the pipe. The exit code stays the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done.map_err(|cause| DataError::Write { output: Output::Stdout, cause })?),
    }
}

/// Prints lines on standard error, which gets everything except results. If standard error is
/// closed or full, the lines are lost without an error, because only the result counts.
pub(crate) fn say(lines: impl Display) {
    let lines = format!("{}\n", escaped_lines(&lines.to_string()));
    let _lost = io::stderr().write_all(lines.as_bytes());
}
