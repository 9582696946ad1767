//! The result of a task, and the function that prints what it finds.

/// The result of a task. A failure is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done, or checked without a finding.
    Passed,
    /// The same, with a note.
    PassedAs(String),
    /// Something could not be checked: what is missing, and how to get it. This is not a pass.
    Skipped(String),
}

/// Prints a line, or keeps it for later.
pub(crate) type Say<'a> = &'a (dyn Fn(&str) + Sync);
