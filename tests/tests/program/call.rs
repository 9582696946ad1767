//! Calls the program.

use assert_cmd::Command;
use gridsync_tests::program;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The exit codes of the program.
pub(crate) const WRONG_USAGE: i32 = 2;
pub(crate) const DEVICE_FAILURE: i32 = 3;

/// A call that takes longer than this hangs, and is ended. No call takes a tenth of it.
const HANGS: Duration = Duration::from_secs(600);

/// A call of the program that has ended.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Calls the program as if this machine had no CUDA driver.
pub(crate) fn without_cuda(args: &[&str], stdin: &[u8]) -> Call {
    run(
        Command::new(program::path()).env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1"),
        args,
        stdin,
    )
}

/// Calls the program on this machine. If there is a GPU, no other call uses it meanwhile.
pub(crate) fn gridsync(args: &[&str], stdin: &[u8]) -> Call {
    static GPU: Mutex<()> = Mutex::new(());
    let _alone = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    run(&mut Command::new(program::path()), args, stdin)
}

fn run(command: &mut Command, args: &[&str], stdin: &[u8]) -> Call {
    let output = command
        .args(args)
        .write_stdin(stdin)
        .timeout(HANGS)
        .output()
        .expect("the program should start");
    let text = |bytes| String::from_utf8(bytes).expect("the program should print UTF-8");
    Call { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Call {
    /// Checks that the call succeeded, and that standard error has no complaint.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        let complains = self.stderr.lines().any(|line| line.starts_with("gridsync: "));
        assert!(!complains, "{self:?}");
        self
    }

    /// Checks that the call succeeded, and printed nothing on standard error.
    #[track_caller]
    pub(crate) fn says_nothing(self) -> Self {
        assert_eq!(self.stderr, "", "{self:?}");
        self.succeeds()
    }

    /// Checks that the call succeeded, and that standard error contains each of `parts`.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        let call = self.succeeds();
        for part in parts {
            assert!(call.stderr.contains(part), "{part:?}: {call:?}");
        }
        call
    }

    /// Checks that the call succeeded, and printed one JSON value and nothing else. Returns the
    /// value.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let call = self.says_nothing();
        serde_json::from_str(&call.stdout).unwrap_or_else(|error| panic!("{error}: {call:?}"))
    }

    /// Checks that the call failed with `code`, printed nothing on standard output, and printed one
    /// line on standard error that begins with the program's name and contains each of `parts`.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let line =
            self.stderr.strip_suffix('\n').unwrap_or_else(|| panic!("a line should end: {self:?}"));
        assert!(!line.contains('\n'), "one line should do: {self:?}");
        assert!(line.starts_with("gridsync: "), "{self:?}");
        for part in parts {
            assert!(line.contains(part), "{part:?} should be in {line:?}");
        }
    }
}
