//! A file that replaces another in one step, or leaves everything unchanged.
//!
//! If the system supports unnamed files (`O_TMPFILE`, then `linkat`), the new file gets its name
//! only then: nothing is left of it if the process exits before. Replacing an existing file needs a
//! rename, and so a temporary name, for a moment. During this moment, and on systems without
//! unnamed files, the name is `.gridsync-….partial`, in the folder of the target.
//! [`discard_partials`] removes these files. `kill -9` or a power cut can leave one, which can be
//! deleted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

/// The partial files that have names.
static NAMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn named() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all named partial files of this process, for use when a signal ends the process. None
/// can be created after that: a thread that tries to waits until the process exits.
pub fn discard_partials() {
    let partials = named();
    for partial in partials.iter() {
        // The process is exiting, so a failure cannot be reported. The user can also remove the
        // file.
        let _removed = fs::remove_file(partial);
    }
    mem::forget(partials);
}

/// A file that replaces another in one step, or leaves everything unchanged.
pub(super) struct Replacement {
    file: File,
    /// Its temporary name, if it has one.
    partial: Option<Partial>,
    path: PathBuf,
}

/// The name of a partial file. The file is removed when this is dropped.
struct Partial(Option<TempPath>);

impl Replacement {
    /// Creates a file to replace `path`.
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let path = end_of_links(path)?;
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = folder_of(&path);
        let (file, partial) = match unnamed_in(folder) {
            Some(file) => (file, None),
            None => {
                let (file, partial) = Partial::make_in(folder, |path| File::create_new(path))?;
                (file, Some(partial))
            }
        };
        if let Ok(there) = fs::metadata(&path) {
            file.set_permissions(there.permissions())?;
        }
        Ok(Self { file, partial, path })
    }

    /// The file to write to.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name. If it replaces another one, it is on the disk before, so that one of
    /// them is there after a power cut. To wait for the disk takes three times as long as to write.
    pub(super) fn finish(self) -> io::Result<()> {
        close_a_copy(&self.file)?;
        let partial = match self.partial {
            Some(partial) => {
                if self.path.exists() {
                    self.file.sync_all()?;
                }
                partial
            }
            None => match link(&self.file, &self.path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.file.sync_all()?;
                    // A link cannot replace a file; a rename can.
                    let link = |path: &Path| link(&self.file, path);
                    Partial::make_in(folder_of(&self.path), link)?.1
                }
                linked => return linked,
            },
        };
        partial.rename(&self.path)
    }
}

impl Partial {
    /// Creates a file with a unique name. The name is in `NAMED` as long as the file exists.
    fn make_in<T>(
        folder: &Path,
        mut make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        // Locked now, so that a signal cannot arrive between creating the file and listing its
        // name.
        let mut names = named();
        let (made, path) = tempfile::Builder::new()
            .prefix(".gridsync-")
            .suffix(".partial")
            .make_in(folder, &mut make)?
            .into_parts();
        names.insert(path.to_path_buf());
        Ok((made, Self(Some(path))))
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        let mut names = named();
        match self.0.take() {
            Some(path) => {
                names.remove(&*path);
                path.persist(to).map_err(|failed| failed.error)
            }
            None => Ok(()),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let mut names = named();
            names.remove(&*path);
            drop(path);
        }
    }
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// An unnamed file that can get a name later (open(2), `O_TMPFILE`), with the permissions of any
/// new file, or `None` if the file system of `folder` does not support that.
#[cfg(target_os = "linux")]
fn unnamed_in(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // `link` accesses the file through this folder.
    if !Path::new("/proc/self/fd").is_dir() {
        return None;
    }
    let mut options = File::options();
    let options = options.read(true).write(true).mode(0o666);
    options.custom_flags(libc::O_TMPFILE).open(folder).ok()
}

#[cfg(not(target_os = "linux"))]
fn unnamed_in(_folder: &Path) -> Option<File> {
    None
}

/// Gives an unnamed file the name `path`, unless another file has it.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both paths end in NUL and outlive the call.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Closes another descriptor of a file. File systems of a network write the data then, and report that
/// their disk is full; others do nothing.
#[cfg(unix)]
fn close_a_copy(file: &File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    let copy = file.try_clone()?.into_raw_fd();
    // SAFETY: no one else has this descriptor. It is closed even if there is an error.
    match unsafe { libc::close(copy) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
fn close_a_copy(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// The file that a write to `path` creates or changes. For a symbolic link that is its target, even
/// if the target does not exist yet.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        // A cycle of links is another error, so the loop ends.
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
    use std::io::Write;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    /// Writes only half of the data, as on a full disk.
    fn half(path: &Path) {
        let file = Replacement::begin(path).unwrap();
        file.file().write_all(b"half of it").unwrap();
    }

    fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = Replacement::begin(path)?;
        file.file().write_all(bytes)?;
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

    #[test]
    fn partial_files_are_listed_for_removal_while_they_have_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.npy");
        let make = || Partial::make_in(folder.path(), |path| File::create_new(path)).unwrap();
        let path = |partial: &Partial| partial.0.as_ref().unwrap().to_path_buf();
        let is_listed = |path: &PathBuf| named().contains(path);

        let (_file, dropped) = make();
        let at = path(&dropped);
        assert!(is_listed(&at) && at.exists());
        drop(dropped);
        assert!(!is_listed(&at) && !at.exists());

        let (_file, renamed) = make();
        let at = path(&renamed);
        assert!(is_listed(&at));
        renamed.rename(&out).unwrap();
        assert!(!is_listed(&at) && !at.exists() && out.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_missing_file_is_followed() {
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
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        fs::write(&path, "old").unwrap();
        let file = Replacement::begin(&path).unwrap();
        file.file().write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.npy"]);
    }
}
