//! How a task ended, if it did not fail.

/// The end of a task. A failure is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done, or checked and found right.
    Passed,
    /// Something could not be checked: what was missing, and how to get it. This is not a pass.
    Skipped(String),
}
