//! What can go wrong between Rust and PTX.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use thiserror::Error;

/// A kernel build that did not give PTX.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No compiler with the sources of its own `core` was found.
    #[error(
        "no rustc with the sources of its own `core` (looked at: {looked_at}). Get one of:\n  \
         rustup component add rust-src\n  \
         apt-get install rustc-web cargo-web rust-web-src"
    )]
    NoCompiler {
        /// Where sources were looked for.
        looked_at: String,
    },

    /// An architecture that [`Arch`](crate::Arch) does not list.
    #[error("unknown architecture `{given}`: know {known}")]
    UnknownArch {
        /// What was asked for.
        given: String,
        /// What there is.
        known: String,
    },

    /// A program could not be started.
    #[error("cannot run {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// A program ran and failed.
    #[error("{} failed ({status}):\n{stderr}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },

    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl BuildError {
    /// For `map_err` of what the file system refuses.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
