//! What goes where: results to standard output, all else to standard error.

use super::Global;
use std::io::{self, Write};

/// Prints a result: text for a person, or the JSON value if `--json` asks for it.
pub(crate) fn result(
    global: &Global,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if global.json {
        writeln!(out, "{}", json())?;
    } else {
        writeln!(out, "{}", text().trim_end())?;
    }
    out.flush()?;
    Ok(())
}

/// A number as JSON, which has none for NaN and the infinities: those are strings.
pub(crate) fn number(value: f64) -> serde_json::Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.into(),
        None => value.to_string().into(),
    }
}
