//! The log of calls, one line for each.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Writes a line to the log, if enabled.
pub(crate) fn log(line: &str) {
    let Some(path) = env::var_os("GRIDSYNC_FAKE_LOG") else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.expect("the log should take a line");
}
