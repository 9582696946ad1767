//! The errors of a kernel build.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use thiserror::Error;

/// A failed kernel build.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No compiler with the sources of its `core` was found.
    #[error(
        "no rustc with the sources of its own `core` (tried: {looked_at}). Get one of:\n  \
         rustup component add rust-src\n  \
         apt-get install rustc-web cargo-web rust-web-src"
    )]
    NoCompiler {
        /// The folders that were searched.
        looked_at: String,
    },

    /// An architecture that [`Arch`](crate::Arch) does not list.
    #[error("unknown architecture `{given}`: known are {known}")]
    UnknownArch {
        /// The given name.
        given: String,
        /// The known architectures.
        known: String,
    },

    /// A program could not be started.
    #[error("cannot run {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The reason.
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
        /// The error of the operating system.
        source: io::Error,
    },
}

impl BuildError {
    /// A file system error at `path`, for `map_err`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
