//! The end of a task.

/// How a task ended. A failure is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done, or checked without a finding.
    Passed,
    /// The same, with what to know of it.
    PassedAs(String),
    /// Something could not be checked: what is missing, and how to get it. This is not a pass.
    Skipped(String),
}
