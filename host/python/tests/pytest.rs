//! Runs the tests of the Python package with the library that cargo has built. Without Python, NumPy,
//! pytest and Hypothesis it prints SKIPPED. Without torch, pytest does.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// Imports whatever the tests need.
const NEEDED: &str = "import hypothesis, numpy, pytest; numpy.cumulative_sum";

#[test]
fn the_tests_of_the_package_pass() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = env::current_exe().expect("the path of this program");
    // Both are in target/PROFILE/deps.
    let built = program.parent().expect("a folder of outputs");
    let Some(python) = python(built) else {
        let skipped = "SKIPPED: no Python with NumPy 2.1, pytest and Hypothesis";
        let _printed = writeln!(io::stderr(), "{skipped}");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let linked = folder.path().join("gridsync");
    fs::create_dir(&linked).expect("a folder for the package");
    for file in fs::read_dir(package.join("python/gridsync")).expect("the package") {
        let file = file.expect("a file of the package");
        symlink(file.path(), linked.join(file.file_name())).expect("a link to the file");
    }
    symlink(built.join("lib_native.so"), linked.join("_native.abi3.so"))
        .expect("a link to the library");
    let status = Command::new(python)
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
        .current_dir(package)
        .env("PYTHONPATH", folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status();
    assert!(status.expect("Python should start").success(), "pytest has failed: see above");
}

/// A Python that has what the tests need: the one of `.ci/run`, or of the path.
fn python(built: &Path) -> Option<PathBuf> {
    let of_ci = built.ancestors().nth(2).map(|target| target.join("python/bin/python"));
    let has_all = |python: &PathBuf| {
        let output = Command::new(python).args(["-c", NEEDED]).stderr(Stdio::null()).status();
        output.is_ok_and(|status| status.success())
    };
    of_ci.into_iter().chain([PathBuf::from("python3")]).find(has_all)
}
