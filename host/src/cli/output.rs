//! What goes where: results to standard output, all else to standard error.

use super::Global;
use anyhow::Context;
use std::io::{self, Write};

/// Prints a result: text for a person, or the JSON value if `--json` asks for it.
pub(crate) fn result(
    global: &Global,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> anyhow::Result<()> {
    let shown = if global.json {
        json().to_string()
    } else {
        text().trim_end().to_owned()
    };
    let mut out = io::stdout().lock();
    match writeln!(out, "{shown}").and_then(|()| out.flush()) {
        // Whoever read our output has had enough. The verdict stands all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done.context("writing to standard output")?),
    }
}

/// A number as JSON, which has none for NaN and the infinities: those are strings.
pub(crate) fn number(value: f64) -> serde_json::Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.into(),
        None => value.to_string().into(),
    }
}
