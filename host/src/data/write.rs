//! Writing an array: whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::array::byte_len;
use super::npy::header_bytes;
use super::{DataError, Dtype, Output};

/// Writes a `.npy` file: a header, then `bytes`, the elements in C order.
///
/// A regular file appears under its name only when all of it is on the disk; until then, and after any failure, what
/// was there before stays. Devices, FIFOs and standard output are written as they come.
///
/// # Errors
/// [`DataError::NoNpyDescr`] for bf16, [`DataError::ShapeMismatch`] when `bytes` are not the data of `shape`,
/// [`DataError::Write`] when the operating system fails.
pub fn write_npy(
    output: &Output,
    dtype: Dtype,
    shape: &[u64],
    bytes: &[u8],
) -> Result<(), DataError> {
    let Some(descr) = dtype.npy_descr() else {
        return Err(DataError::NoNpyDescr {
            output: output.clone(),
            dtype,
        });
    };
    if byte_len(dtype, shape) != Some(bytes.len() as u64) {
        return Err(DataError::ShapeMismatch {
            output: output.clone(),
            bytes: bytes.len(),
            dtype,
            shape: shape.to_vec(),
        });
    }
    write(output, &[&header_bytes(descr, shape), bytes])
}

/// Writes elements as they are, little-endian; whole or not at all, as [`write_npy`].
///
/// # Errors
/// [`DataError::Write`] when the operating system fails.
pub fn write_raw(output: &Output, bytes: &[u8]) -> Result<(), DataError> {
    write(output, &[bytes])
}

fn write(output: &Output, parts: &[&[u8]]) -> Result<(), DataError> {
    let all = |to: &mut dyn Write| -> io::Result<()> {
        parts.iter().try_for_each(|part| to.write_all(part))?;
        to.flush()
    };
    let written = match output {
        Output::Stdout => all(&mut io::stdout().lock()),
        Output::Path(path) => match fs::metadata(path) {
            // A device or FIFO must be written to: a rename would put a file in its place.
            Ok(there) if !there.is_file() && !there.is_dir() => File::options()
                .write(true)
                .open(path)
                .and_then(|mut file| all(&mut file)),
            _ => replace(path, |file| all(file)),
        },
    };
    written.map_err(|cause| DataError::Write {
        output: output.clone(),
        cause,
    })
}

/// Gives `path` the content that `fill` writes, in one step, or leaves everything as it is.
fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let path = &end_of_links(path)?;
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
    let mut temporary = builder.tempfile_in(folder)?;
    if let Ok(there) = fs::metadata(path) {
        temporary.as_file().set_permissions(there.permissions())?;
    }
    fill(temporary.as_file_mut())?;
    // The rename must not reach the disk before the data.
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(())
}

/// The file that a write to `path` makes or changes. The target of a symbolic link is what gets the content, not the
/// link, even where there is no such file yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
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

    /// A disk that fills up in the middle of the data.
    fn half_then_full(file: &mut File) -> io::Result<()> {
        file.write_all(b"half of it")?;
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        let error = replace(&path, half_then_full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.npy"]);
    }

    #[test]
    fn a_failed_write_of_a_new_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        replace(&folder.path().join("out.npy"), half_then_full).unwrap_err();
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
        replace(&at("first"), |file| file.write_all(b"new")).unwrap();
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
        replace(&link, |file| file.write_all(b"new")).unwrap_err();
        assert!(link.is_symlink());
    }

    #[test]
    fn the_old_file_is_there_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        replace(&path, |file| {
            file.write_all(b"new")?;
            assert_eq!(fs::read(&path)?, b"old");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.npy"]);
    }
}
