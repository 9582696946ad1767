//! The fingerprint of a set of sources.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::BuildError;

/// The SHA-256, in hex, of the sources that can change the PTX: for each of `dirs`, every `*.rs`
/// and `Cargo.toml` below `root/dir`, or the file `root/dir` itself.
///
/// Each file contributes its path relative to `root` and its bytes, in the order of the paths. So
/// the result does not depend on the location of the checkout or the order of `dirs`. Folders named
/// `tests`, `benches`, `examples` or `target` are skipped, because their contents never reach the
/// device.
///
/// # Errors
/// [`BuildError::Io`] if a folder or a file cannot be read.
pub fn fingerprint(root: &Path, dirs: &[impl AsRef<Path>]) -> Result<String, BuildError> {
    let mut files = BTreeMap::new();
    for dir in dirs {
        let path = root.join(dir);
        if path.is_file() {
            insert(root, path, &mut files)
        } else {
            collect(root, &path, &mut files)?
        }
    }
    let mut hash = Sha256::new();
    for (name, path) in files {
        let bytes = fs::read(&path).map_err(BuildError::io(&path))?;
        // Lengths come first, so that different sets of files never hash the same bytes.
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn collect(
    root: &Path,
    dir: &Path,
    files: &mut BTreeMap<String, PathBuf>,
) -> Result<(), BuildError> {
    for entry in fs::read_dir(dir).map_err(BuildError::io(dir))? {
        let path = entry.map_err(BuildError::io(dir))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if !["tests", "benches", "examples", "target"].iter().any(|left_out| name == *left_out)
            {
                collect(root, &path, files)?;
            }
        } else if name == "Cargo.toml" || path.extension() == Some(OsStr::new("rs")) {
            insert(root, path, files);
        }
    }
    Ok(())
}

fn insert(root: &Path, path: PathBuf, files: &mut BTreeMap<String, PathBuf>) {
    let relative = path.strip_prefix(root).unwrap_or(&path);
    let parts: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
    files.insert(parts.join("/"), path);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn hash(files: &[(&str, &str)], dirs: &[&str]) -> String {
        fingerprint(tree(files).path(), dirs).unwrap()
    }

    const BASE: [(&str, &str); 3] =
        [("a/Cargo.toml", "x"), ("a/src/lib.rs", "y"), ("b/lib.rs", "z")];

    #[test]
    fn the_fingerprint_does_not_depend_on_location_or_order() {
        assert_eq!(hash(&BASE, &["a", "b"]), hash(&BASE, &["b", "a"]));
        assert_eq!(hash(&BASE, &["a"]).len(), 64);
    }

    #[test]
    fn one_changed_byte_or_name_changes_the_fingerprint() {
        let base = hash(&BASE, &["a", "b"]);
        let changed = [("a/Cargo.toml", "x"), ("a/src/lib.rs", "y\r"), ("b/lib.rs", "z")];
        let renamed = [("a/Cargo.toml", "x"), ("a/src/lab.rs", "y"), ("b/lib.rs", "z")];
        assert_ne!(base, hash(&changed, &["a", "b"]));
        assert_ne!(base, hash(&renamed, &["a", "b"]));
        assert_ne!(base, hash(&BASE, &["a"]));
    }

    #[test]
    fn files_that_never_reach_the_device_are_skipped() {
        let more =
            [&BASE[..], &[("a/audit.toml", "n"), ("a/tests/t.rs", "t"), ("a/README.md", "r")]]
                .concat();
        assert_eq!(hash(&BASE, &["a", "b"]), hash(&more, &["a", "b"]));
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_it() {
        let error = fingerprint(tree(&BASE).path(), &["gone"]).unwrap_err();
        assert!(error.to_string().contains("gone"), "{error}");
    }
}
