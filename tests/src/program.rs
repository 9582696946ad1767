//! The program under test, and the workspace that it is of.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of `gridsync`: an absolute one, since tests call it in other folders.
///
/// A bundle names it in `CARGO_BIN_EXE_gridsync`; cargo sets that variable only for the package's
/// own tests. If cargo runs the test, it first builds the program into the test's own folder, so
/// the program is never older than its sources. Otherwise the program must be in that folder.
///
/// # Panics
/// If the program is not there.
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
        if let Some(cargo) = env::var_os("CARGO") {
            build(Command::new(cargo), profile);
        }
        let program = profile.join(format!("gridsync{}", env::consts::EXE_SUFFIX));
        assert!(
            program.is_file(),
            "{} should be there: build it with `cargo build -p gridsync-program`, or name it in \
             CARGO_BIN_EXE_gridsync",
            program.display()
        );
        program
    })
}

/// The workspace: the one that a bundle names, or else the folder above this package.
#[must_use]
pub fn workspace() -> PathBuf {
    match env::var_os("GRIDSYNC_ROOT") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
    }
}

fn build(mut cargo: Command, profile: &Path) {
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let target = profile.parent().unwrap_or(profile);
    let built = cargo
        .args(["build", "--quiet", "--package=gridsync-program", "--bin=gridsync"])
        .args(["--profile", name, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the cargo that runs this test should run");
    assert!(
        built.status.success(),
        "building the program failed:\n{}",
        String::from_utf8_lossy(&built.stderr)
    );
}
