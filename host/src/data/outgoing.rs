//! An array that is being written.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::npy::header_bytes;
use super::{DataError, Dtype, Output};

/// Begins a `.npy` file of this type and shape, whose elements come piece by piece: as
/// [`write_npy`](super::write_npy), but that nobody looks whether they fill the shape.
///
/// # Errors
/// [`DataError::NoNpyDescr`] for bf16, [`DataError::Write`] when the operating system fails.
pub fn create_npy(output: &Output, dtype: Dtype, shape: &[u64]) -> Result<Outgoing, DataError> {
    let descr = npy_descr(output, dtype)?;
    let mut outgoing = Outgoing::begin(output)?;
    outgoing.push(&header_bytes(descr, shape))?;
    Ok(outgoing)
}

/// What `.npy` calls the type.
pub(super) fn npy_descr(output: &Output, dtype: Dtype) -> Result<&'static str, DataError> {
    dtype.npy_descr().ok_or_else(|| DataError::NoNpyDescr {
        output: output.clone(),
        dtype,
    })
}

/// A file, or a stream, that is being written. A regular file appears under its name when it is
/// [finished](Self::finish); dropped before that, it leaves nothing.
pub struct Outgoing {
    output: Output,
    to: Destination,
}

enum Destination {
    /// Standard output, a device or a FIFO.
    Stream(Box<dyn Write>),
    /// What was one, until its reader had had enough.
    Nobody,
    File(Replacement),
}

impl Outgoing {
    pub(super) fn begin(output: &Output) -> Result<Self, DataError> {
        let to = match output {
            Output::Stdout => Ok(Destination::Stream(Box::new(io::stdout().lock()))),
            Output::Path(path) => match fs::metadata(path) {
                // A device or FIFO must be written to: a rename would put a file in its place.
                Ok(there) if !there.is_file() && !there.is_dir() => File::options()
                    .write(true)
                    .open(path)
                    .map(|file| Destination::Stream(Box::new(file))),
                _ => Replacement::begin(path).map(Destination::File),
            },
        };
        Ok(Self {
            output: output.clone(),
            to: to.map_err(|cause| failed(output, cause))?,
        })
    }

    /// Writes the next bytes. What the reader of a pipe does not want any more is dropped.
    ///
    /// # Errors
    /// [`DataError::Write`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let written = match &mut self.to {
            Destination::Stream(stream) => stream.write_all(bytes),
            Destination::Nobody => Ok(()),
            Destination::File(file) => file.temporary.write_all(bytes),
        };
        match written {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                self.to = Destination::Nobody;
                Ok(())
            }
            written => written.map_err(|cause| failed(&self.output, cause)),
        }
    }

    /// Whether it is a regular file, and no stream.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.to, Destination::File(_))
    }

    /// Writes bytes anew from the start on, of a file. Nothing more is pushed after that.
    pub(super) fn write_at_start(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let Destination::File(file) = &mut self.to else {
            unreachable!("a stream has no start to go back to");
        };
        let temporary = &mut file.temporary;
        temporary
            .rewind()
            .and_then(|()| temporary.write_all(bytes))
            .map_err(|cause| failed(&self.output, cause))
    }

    /// Ends it: all is written.
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

fn failed(output: &Output, cause: io::Error) -> DataError {
    DataError::Write {
        output: output.clone(),
        cause,
    }
}

/// A file that takes the place of another in one step, or leaves everything as it is.
struct Replacement {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    fn begin(path: &Path) -> io::Result<Self> {
        let path = end_of_links(path)?;
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".gridsync-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file; the process's umask still applies. The default is for secrets, 0600.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder)?;
        if let Ok(there) = fs::metadata(&path) {
            temporary.as_file().set_permissions(there.permissions())?;
        }
        Ok(Self { temporary, path })
    }

    fn finish(self) -> io::Result<()> {
        // The rename must not reach the disk before the data.
        self.temporary.as_file().sync_all()?;
        self.temporary.persist(self.path)?;
        Ok(())
    }
}

/// The file that a write to `path` makes or changes. The target of a symbolic link is what gets the content, not the
/// link, even where there is no such file yet.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        // A link that leads round in a circle is another error, so that the loop has an end.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        there => return there,
    }
    let mut end = path.to_owned();
    while let Ok(target) = fs::read_link(&end) {
        end = end.parent().unwrap_or(Path::new("")).join(target);
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    /// What a disk leaves that fills up in the middle of the data.
    fn half(path: &Path) {
        let mut file = Replacement::begin(path).unwrap();
        file.temporary.write_all(b"half of it").unwrap();
    }

    fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = Replacement::begin(path)?;
        file.temporary.write_all(bytes)?;
        file.finish()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        half(&path);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.npy"]);
    }

    #[test]
    fn a_failed_write_of_a_new_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        half(&folder.path().join("out.npy"));
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("results")).unwrap();
        symlink("second", at("first")).unwrap();
        symlink("results/out.npy", at("second")).unwrap();
        write(&at("first"), b"new").unwrap();
        assert_eq!(fs::read(at("results/out.npy")).unwrap(), b"new");
        for link in ["first", "second"] {
            assert!(at(link).is_symlink(), "{link} was replaced");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_itself_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("link", &link).unwrap();
        write(&link, b"new").unwrap_err();
        assert!(link.is_symlink());
    }

    #[test]
    fn the_old_file_is_there_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        let mut file = Replacement::begin(&path).unwrap();
        file.temporary.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.npy"]);
    }
}
