//! Why runs cannot be read.

use std::io;
use std::path::PathBuf;

/// A run that cannot be read. Each message is one line with the file, the cause and what to do.
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
        /// What the operating system said.
        cause: io::Error,
    },
    /// A line is no record.
    #[error(
        "{}:{line}: not a record: {fault}; mend or remove the line, or name other files", .path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// A file is no JSON, or has a record that is none.
    #[error("{}:{line}: {fault}; mend or remove the file, or name other files", .path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// There is nothing to read.
    #[error(
        "no records in {paths}: name files that gridsync bench --output has written, or folders with such files (*.jsonl, *.json)"
    )]
    Empty {
        /// The paths that were looked at.
        paths: String,
    },
}
