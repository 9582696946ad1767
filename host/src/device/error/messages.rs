//! Parts of the messages of errors.

use libcuda::CUresult;
use std::path::PathBuf;

/// The driver's description of a result, for the end of a message.
pub(super) fn meaning(result: &CUresult) -> &'static str {
    result
        .meaning()
        .map_or("which this program does not know", |meaning| meaning.trim_end_matches('.'))
}

/// Joins the paths for a message.
pub(super) fn paths(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    shown.join(", ")
}

/// A log as the end of a message, or an empty string if nothing was logged.
pub(super) fn after_a_line(log: &str) -> String {
    match log.trim_end() {
        "" => String::new(),
        log => format!("\n{log}"),
    }
}

/// Describes the fault of an offset of segments.
pub(super) fn offset_fault(at: usize, offset: Option<u64>, before: u64) -> String {
    match offset {
        None => "there is no offset".into(),
        Some(offset) if at == 0 => format!("offset 0 is {offset}"),
        Some(offset) => format!("offset {at} is {offset}, and the one before is {before}"),
    }
}
