//! Errors of reading runs.

use std::io;
use std::path::PathBuf;

/// A run cannot be read. Each message is one line with the file, the cause and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// A path does not exist.
    #[error("{}: no such file or folder; check the path", .path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The operating system failed to read it.
    #[error("{}: reading failed: {cause}; records are text in UTF-8", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A line is not a record.
    #[error(
        "{}:{line}: not a record: {fault}; fix or remove the line, or name other files", .path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line; the first is 1.
        line: usize,
        /// The problem with the line.
        fault: String,
    },
    /// A file is not JSON, or contains an invalid record.
    #[error("{}:{line}: {fault}; fix or remove the file, or name other files", .path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// The number of the line; the first is 1.
        line: usize,
        /// The problem with the file.
        fault: String,
    },
    /// The paths contain no records.
    #[error(
        "no records in {paths}: name files that gridsync bench --output has written, or folders with such files (*.jsonl, *.json)"
    )]
    Empty {
        /// The paths that were searched.
        paths: String,
    },
}
