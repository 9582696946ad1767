//! Makes each call of the program to the driver or the file system fail, one at a time.
//!
//! The program must then end with one line and the right exit code, or succeed in spite of the
//! failure. Each file that it writes is whole or unchanged, and no other files remain.

mod driver;
mod files;
mod supervisor;

use crate::folder::Folder;
use gridsync_tests::{npy, program};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::process::{Command, ExitStatus, Stdio};

/// Elements of the arrays.
const LEN: usize = 1200;

/// The arguments of the calls: each command, at once and in parts, with each kind of output.
const CALLS: [&str; 20] = [
    "reduce x.npy --op sum",
    "reduce x.npy --op max --part 400",
    "reduce m.npy --op sum --rows -o out.npy",
    "scan x.npy --op sum -o out.npy",
    "scan x.npy --op sum -o old.npy --check",
    "scan x.npy --op sum -o old.npy --part 400",
    "scan x.npy --op sum -o -",
    "select x.npy --where >10 -o out.npy --positions at.npy",
    "select x.npy --where >10 -o out.npy --partition rest.npy --part 400",
    "select x.npy --unique -o old.npy --counts counts.npy",
    "select x.npy --unique -o - --part 400",
    "sort x.npy -o old.npy",
    "unique x.npy -o old.npy --counts counts.npy --indices at.npy",
    "top x.npy -k 50 -o old.npy --indices at.npy",
    "quantile x.npy",
    "histogram x.npy -o old.npy",
    "describe x.npy",
    "range-sum x.npy ranges.npy -o out.npy",
    "range-sum x.npy ranges.npy -o old.npy --part 400",
    "kendall x.npy y.npy",
];

/// The files and the output after a call.
#[derive(PartialEq)]
struct Left {
    files: BTreeMap<String, Vec<u8>>,
    stdout: Vec<u8>,
}

/// A finished call.
struct Ended {
    status: ExitStatus,
    left: Left,
    stderr: String,
}

/// A folder with the inputs, and with an output of another call.
fn folder() -> Folder {
    let floats =
        |step: usize| -> Vec<f32> { (0..LEN).map(|i| (i / 2 * step % 101) as f32 * 0.5).collect() };
    let ranges: Vec<u64> = (0..50).flat_map(|i| [i, 24 * i]).collect();
    Folder::new()
        .with("x.npy", npy::of(&floats(37)))
        .with("y.npy", npy::of(&floats(11)))
        .with("m.npy", npy::shaped("(12, 100)", &floats(7)))
        .with("ranges.npy", npy::shaped("(50, 2)", &ranges))
        .with("old.npy", npy::of(&[1i32, 2, 3]))
}

/// The files in `folder`.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let names = folder.names().into_iter();
    names.map(|name| (name.clone(), folder.read(&name))).collect()
}

/// Calls the program with `args` in `folder`; `run` starts it.
fn call(
    args: &str,
    folder: &Folder,
    run: impl FnOnce(&mut Command) -> io::Result<ExitStatus>,
) -> io::Result<Ended> {
    let printed = Folder::new();
    let create = |name| File::create(printed.path(name)).expect("the folder should be there");
    let mut command = Command::new(program::path());
    command
        .args(args.split(' '))
        .arg("--quiet")
        .current_dir(folder.path(""))
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .stdout(create("stdout"))
        .stderr(create("stderr"));
    let status = run(&mut command)?;
    Ok(Ended {
        status,
        left: Left { files: files(folder), stdout: printed.read("stdout") },
        stderr: String::from_utf8_lossy(&printed.read("stderr")).into_owned(),
    })
}

impl Ended {
    /// Checks that the call succeeded with the results of `whole`, or that it ended with `code` and
    /// wrote each file whole or not at all. `what` names the call that failed.
    #[track_caller]
    fn is_whole_or_refused(&self, whole: &Left, code: i32, what: &str) {
        let what = format!("{what}: {}, {:?}", self.status, self.stderr);
        if self.status.success() {
            assert!(self.left == *whole, "{what}: another result");
            return;
        }
        assert_eq!(self.status.code(), Some(code), "{what}");
        let is_a_line =
            self.stderr.starts_with("gridsync: ") && self.stderr.trim_end().lines().count() == 1;
        assert!(is_a_line, "{what}: one line should say it");
        self.is_old_or_whole(whole, &what);
    }

    /// Checks that each file is unchanged or the same as in `whole`, and that no other files exist.
    #[track_caller]
    fn is_old_or_whole(&self, whole: &Left, what: &str) {
        let before = files(&folder());
        for (name, bytes) in &self.left.files {
            let is_known =
                [&before, &whole.files].iter().any(|files| files.get(name) == Some(bytes));
            assert!(is_known, "{what}: {name} is neither old nor whole");
        }
        for name in before.keys() {
            assert!(self.left.files.contains_key(name), "{what}: {name} is gone");
        }
    }
}
