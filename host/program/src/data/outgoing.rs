//! An array that is being written.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::npy::header_bytes;
use super::replacement::Replacement;
use super::{DataError, Output, Stored, npz};

/// Begins a file or stream to which bytes are appended. Otherwise like
/// [`write_raw`](super::write_raw).
///
/// # Errors
/// [`DataError::Write`] if the operating system fails.
pub fn create_raw(output: &Output) -> Result<Outgoing, DataError> {
    Outgoing::begin(output)
}

/// Begins a `.npy` file of this type, in native byte order, and shape, to which elements are appended. Like
/// [`write_npy`](super::write_npy), but does not check that they match the shape.
///
/// # Errors
/// [`DataError::NoNpyDescr`] for bf16, [`DataError::Write`] if the operating system fails.
pub fn create_npy(
    output: &Output,
    stored: impl Into<Stored>,
    shape: &[u64],
) -> Result<Outgoing, DataError> {
    let descr = npy_descr(output, stored.into())?;
    let mut outgoing = Outgoing::begin(output)?;
    outgoing.push(&header_bytes(descr, shape))?;
    Ok(outgoing)
}

/// The name of the type in `.npy`.
pub(super) fn npy_descr(output: &Output, stored: Stored) -> Result<&'static str, DataError> {
    stored
        .npy_descr()
        .ok_or_else(|| DataError::NoNpyDescr { output: output.clone(), dtype: stored.dtype() })
}

/// A file or stream that is being written. A regular file appears under its name when it is
/// [finished](Self::finish); if this is dropped before, nothing is left of it.
pub struct Outgoing {
    output: Output,
    to: Destination,
}

enum Destination {
    /// Standard output, a device or a FIFO.
    Stream(Box<dyn Write + Send>),
    /// A stream that its reader has closed.
    Nobody,
    File(Replacement),
}

impl Outgoing {
    pub(super) fn begin(output: &Output) -> Result<Self, DataError> {
        let bad_name = |problem| DataError::BadName { output: output.clone(), problem };
        let to = match output {
            Output::Stdout => Ok(Destination::Stream(Box::new(io::stdout()))),
            Output::Path(path) if path.as_os_str().is_empty() => {
                return Err(bad_name(
                    "the name is empty; name a file, or give `-` for standard output",
                ));
            }
            Output::Path(path) => match fs::metadata(path) {
                Err(_) if npz::is_member(path) => {
                    return Err(bad_name(
                        "arrays of archives can only be read; name a .npy file, and pack it with `np.savez`",
                    ));
                }
                Ok(there) if there.is_file() && !is_writable(path, &there) => {
                    return Err(DataError::ReadOnly { output: output.clone() });
                }
                // A device or FIFO must be written to directly: a rename would replace it with a
                // file.
                Ok(there) if !there.is_file() && !there.is_dir() => File::options()
                    .write(true)
                    .open(path)
                    .map(|file| Destination::Stream(Box::new(file))),
                _ => Replacement::begin(path).map(Destination::File),
            },
        };
        Ok(Self { output: output.clone(), to: to.map_err(|cause| failed(output, cause))? })
    }

    /// Writes the next bytes. If the reader of a pipe has closed it, they are dropped.
    ///
    /// # Errors
    /// [`DataError::Write`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let written = match &mut self.to {
            Destination::Stream(stream) => stream.write_all(bytes),
            Destination::Nobody => Ok(()),
            Destination::File(file) => file.file().write_all(bytes),
        };
        match written {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                self.to = Destination::Nobody;
                Ok(())
            }
            written => written.map_err(|cause| failed(&self.output, cause)),
        }
    }

    /// Whether this is a regular file, not a stream.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.to, Destination::File(_))
    }

    /// Overwrites the start of a file. Nothing may be pushed after that.
    pub(super) fn write_at_start(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let Destination::File(file) = &mut self.to else {
            unreachable!("a stream has no start to go back to");
        };
        let mut file = file.file();
        file.rewind()
            .and_then(|()| file.write_all(bytes))
            .map_err(|cause| failed(&self.output, cause))
    }

    /// Writes the rest and finishes the file or stream.
    ///
    /// # Errors
    /// [`DataError::Write`].
    pub fn finish(self) -> Result<(), DataError> {
        match self.to {
            Destination::Stream(mut stream) => match stream.flush() {
                Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                flushed => flushed,
            },
            Destination::Nobody => Ok(()),
            Destination::File(file) => file.finish(),
        }
        .map_err(|cause| failed(&self.output, cause))
    }
}

/// Whether an existing file may be replaced. A rename does not check that: it needs a writable
/// folder, not a writable file.
fn is_writable(path: &Path, there: &Metadata) -> bool {
    let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    // The superuser may open any file, so the permissions are checked too.
    !there.permissions().readonly() && !File::options().write(true).open(path).is_err_and(denied)
}

fn failed(output: &Output, cause: io::Error) -> DataError {
    DataError::Write { output: output.clone(), cause }
}
