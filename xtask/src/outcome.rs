//! The result of a task.

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
