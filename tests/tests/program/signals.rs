//! Signals that end the program leave no unfinished files.

use gridsync_tests::{npy, program};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time after which a call that has not started its output counts as hanging.
const HANGS: Duration = Duration::from_secs(120);

/// A call that has read some elements from a pipe, and waits for the others.
struct Waiting {
    folder: TempDir,
    child: Child,
    /// The pipe for the elements. `missing` has those that the call waits for.
    pipe: File,
    missing: Vec<u8>,
}

impl Waiting {
    /// Starts the program with `call`, and returns when it has started its output `out.npy`.
    fn begin(call: &mut Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder should be there to write to");
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        assert!(made.expect("there should be mkfifo").success());
        let child = call
            .args(["scan", "pipe", "--op", "sum", "-o", "out.npy", "-q"])
            .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .spawn()
            .expect("the program should start");
        let mut pipe =
            File::options().write(true).open(folder.path().join("pipe")).expect("a pipe");
        let file = npy::of(&[1i32; 1000]);
        let (some, missing) = file.split_at(file.len() - 100);
        pipe.write_all(some).expect("it is read");
        let mut waiting = Self { missing: missing.to_vec(), folder, child, pipe };
        let start = Instant::now();
        while !waiting.has_begun() {
            let ended = waiting.child.try_wait().expect("it can be asked");
            assert_eq!(ended, None, "it should wait for elements");
            assert!(start.elapsed() < HANGS, "it should begin its output");
            sleep(Duration::from_millis(5));
        }
        waiting
    }

    /// Whether it has opened a file in the folder.
    fn has_begun(&self) -> bool {
        let open = fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs");
        let mut paths = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        paths.any(|path| path.starts_with(self.folder.path()) && !path.ends_with("pipe"))
    }

    fn send(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.expect("there should be kill").success());
    }

    /// Sends the missing elements to the call, and waits until it ends. Returns its exit status and
    /// the folder.
    fn go_on(mut self) -> (ExitStatus, TempDir) {
        self.pipe.write_all(&self.missing).expect("it is read");
        drop(self.pipe);
        let status = self.child.wait().expect("it should end");
        (status, self.folder)
    }

    /// All files in the folder except the pipe.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the folder should be there");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| !path.ends_with("pipe")).collect()
    }
}

#[test]
fn a_signal_that_ends_the_program_leaves_no_partial_file() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        // These tests may run where a signal is ignored, as under nohup.
        let mut call = Command::new("env");
        call.arg(format!("--default-signal={signal}")).arg(program::path());
        let mut waiting = Waiting::begin(&mut call);
        waiting.send(signal);
        let status = waiting.child.wait().expect("it should end");
        assert_eq!(status.signal(), Some(number), "{signal}: {status}");
        assert_eq!(Waiting::files(waiting.folder.path()), [""; 0].map(PathBuf::from), "{signal}");
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP && exec \"$0\" \"$@\""]).arg(program::path());
    let waiting = Waiting::begin(&mut shell);
    waiting.send("HUP");
    let (status, folder) = waiting.go_on();
    assert_eq!(status.code(), Some(0), "{status}");
    assert_eq!(Waiting::files(folder.path()), [folder.path().join("out.npy")]);
}

#[test]
fn an_existing_output_stays_until_the_new_one_is_whole() {
    let waiting = Waiting::begin(&mut Command::new(program::path()));
    let out = waiting.folder.path().join("out.npy");
    fs::write(&out, "old").expect("the folder should be there");
    let (status, folder) = waiting.go_on();
    assert_eq!(status.code(), Some(0), "{status}");
    assert_eq!(Waiting::files(folder.path()), std::slice::from_ref(&out));
    let new = fs::read(out).expect("it is there");
    assert!(new.starts_with(b"\x93NUMPY"), "the new one has taken its place");
}
