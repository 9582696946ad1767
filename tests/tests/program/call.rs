//! Calls the program.

use crate::folder::Folder;
use serde_json::Value;
use std::process::{Command, Output};
use std::time::Duration;

/// The exit codes of the program.
pub(crate) const WRONG_USAGE: i32 = 2;
pub(crate) const DEVICE_FAILURE: i32 = 3;

/// Time after which a call counts as hanging and is killed. No call needs a tenth of it.
const HANGS: Duration = Duration::from_secs(600);

/// A finished call of the program.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Calls the program in an empty folder as if this machine had no CUDA driver.
pub(crate) fn without_cuda(args: &[&str], stdin: &[u8]) -> Call {
    Folder::new().call(args, stdin)
}

/// Calls the program in an empty folder on this machine. If there is a GPU, no other call uses it
/// at the same time.
pub(crate) fn gridsync(args: &[&str], stdin: &[u8]) -> Call {
    Folder::new().gridsync(args, stdin)
}

/// Runs `command` with `args` until it exits.
pub(crate) fn run(command: Command, args: &[&str], stdin: &[u8]) -> Call {
    let mut command = assert_cmd::Command::from_std(command);
    let ended = command.args(args).write_stdin(stdin).timeout(HANGS).output();
    Call::of(ended.expect("the program should start"))
}

impl Call {
    /// The call that produced `output`.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program should print UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { code: output.status.code(), stdout, stderr }
    }

    /// Checks that the call succeeded, and that standard error has no error message.
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
    /// line on standard error that starts with the program's name and contains each of `parts`.
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
