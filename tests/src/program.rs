//! The program under test, and its workspace.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The absolute path of `gridsync`. It is absolute because tests call the program in other folders.
///
/// A bundle sets it in `CARGO_BIN_EXE_gridsync`. Otherwise it is a link, with the name that users
/// know, to the program `gridsync-tested` of this package, which cargo builds with the tests.
///
/// # Panics
///
/// If the program does not exist.
pub fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(named) = env::var_os("CARGO_BIN_EXE_gridsync") {
            return std::path::absolute(named).expect("its path should not be empty");
        }
        // TARGET/PROFILE/deps/TEST
        let test = env::current_exe().expect("a running test should know its own path");
        let profile =
            test.ancestors().nth(2).expect("a test should be built into TARGET/PROFILE/deps");
        let program = profile.join("gridsync-tested");
        assert!(
            program.is_file(),
            "{} should be there: run the tests by cargo, or name the program in CARGO_BIN_EXE_gridsync",
            program.display()
        );
        let link = profile.join("tested/gridsync");
        fs::create_dir_all(profile.join("tested")).expect("the folder of a test is written to");
        match symlink("../gridsync-tested", &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                panic!("linking {}: {error}", link.display())
            }
            _ => link,
        }
    })
}

/// The workspace: set by a bundle, or else the folder above this package.
#[must_use]
pub fn workspace() -> PathBuf {
    match env::var_os("GRIDSYNC_ROOT") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
    }
}
