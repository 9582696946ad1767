//! Checks whether two paths name the same file.

use std::fs::{self, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::replacement::end_of_links;
use super::{Input, Output, npz};

/// The null device. Anything written to it is lost, so that any number of outputs may use it.
const NULL: &str = "/dev/null";

/// The identity of a file, pipe or device. It does not depend on links and dots in the path, and a
/// standard stream redirected to the file has it too.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The device and inode numbers, if the file exists.
    file: Option<(u64, u64)>,
    /// The path without links and dots, or `None` for a standard stream.
    path: Option<PathBuf>,
    is_read_once: bool,
    goes_both_ways: bool,
}

impl Identity {
    /// Whether it can be read only once: true for pipes, sockets and terminals.
    #[must_use]
    pub fn is_read_once(&self) -> bool {
        self.is_read_once
    }

    /// Whether a reader does not get back the bytes written to it: true for sockets and terminals.
    #[must_use]
    pub fn goes_both_ways(&self) -> bool {
        self.goes_both_ways
    }

    /// Whether both are the same file.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let is_null = |place: &Self| place.path.as_deref() == Some(Path::new(NULL));
        if is_null(self) || is_null(other) {
            return false;
        }
        let same = |a: Option<_>, b: Option<_>| a.is_some() && a == b;
        same(self.file, other.file) || (self.path.is_some() && self.path == other.path)
    }

    fn of(metadata: Option<&Metadata>, path: Option<PathBuf>) -> Self {
        let kind = metadata.map(Metadata::file_type);
        let is_pipe = kind.is_some_and(|kind| kind.is_fifo());
        let goes_both_ways = kind.is_some_and(|kind| kind.is_socket() || kind.is_char_device());
        Self {
            file: metadata.map(|there| (there.dev(), there.ino())),
            path,
            is_read_once: is_pipe || goes_both_ways,
            goes_both_ways,
        }
    }

    fn of_path(path: &Path) -> Option<Self> {
        let end = end_of_links(path).ok()?;
        let folder = match end.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let name = end.file_name()?;
        let canonical = fs::canonicalize(folder).ok()?.join(name);
        // Uses the path as given: the system follows links to pipes, which do not have a path.
        Some(Self::of(fs::metadata(path).ok().as_ref(), Some(canonical)))
    }

    fn of_stream(stream: &impl AsFd) -> Option<Self> {
        let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
        Some(Self::of(Some(&file.metadata().ok()?), None))
    }
}

impl Input {
    /// The identity of the file, or `None` if it cannot be accessed.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Self::Stdin => Identity::of_stream(&io::stdin()),
            Self::Path(path) => match npz::split(path).filter(|_| !path.exists()) {
                Some((archive, _)) => Identity::of_path(&archive),
                None => Identity::of_path(path),
            },
        }
    }
}

impl Output {
    /// The identity of the file, which may not exist yet, or `None` if it cannot be accessed.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Self::Stdout => Identity::of_stream(&io::stdout()),
            Self::Path(path) => Identity::of_path(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn same(one: &Path, other: &Path) -> bool {
        let identity = |path| Output::parse(path).identity().expect("it can be reached");
        identity(one).is(&identity(other))
    }

    #[test]
    fn all_spellings_of_a_path_have_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("d")).unwrap();
        symlink(at("d"), at("link_to_d")).unwrap();
        symlink("d/x.npy", at("link_to_x")).unwrap();
        let spellings = ["d/x.npy", "d/./x.npy", "d/../d/x.npy", "link_to_d/x.npy", "link_to_x"];
        for there in [false, true] {
            if there {
                fs::write(at("d/x.npy"), "").unwrap();
            }
            for spelling in spellings {
                assert!(same(&at("d/x.npy"), &at(spelling)), "{spelling}, {there}");
                assert!(!same(&at("d/y.npy"), &at(spelling)), "{spelling}, {there}");
            }
        }
        fs::hard_link(at("d/x.npy"), at("hard")).unwrap();
        assert!(same(&at("d/x.npy"), &at("hard")), "another name of one file");
    }

    #[test]
    fn the_null_device_never_conflicts() {
        assert!(!same(Path::new(NULL), Path::new(NULL)));
    }

    #[test]
    fn devices_are_read_once_but_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        fs::write(&path, "").unwrap();
        let once = |path: &Path| Input::parse(path).identity().unwrap().is_read_once();
        assert!(!once(&path));
        assert!(once(Path::new("/dev/tty")) || !Path::new("/dev/tty").exists());
        assert!(once(Path::new("/dev/zero")));
    }
}
