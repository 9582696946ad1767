//! The errors of a kernel build.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use thiserror::Error;

/// A kernel build that gave no PTX.
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
        /// The folders that were searched.
        looked_at: String,
    },

    /// An architecture that [`Arch`](crate::Arch) does not list.
    #[error("unknown architecture `{given}`: know {known}")]
    UnknownArch {
        /// The name that was given.
        given: String,
        /// The known architectures.
        known: String,
    },

    /// A program could not be started.
    #[error("cannot run {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why it did not start.
        source: io::Error,
    },

    /// A program ran and failed.
    #[error("{} failed ({status}):\n{stderr}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: ExitStatus,
        /// Its standard error.
        stderr: String,
    },

    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl BuildError {
    /// An error of the file system at `path`, for `map_err`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
