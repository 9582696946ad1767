//! How a task ended, when it did not fail.

/// The end of a task. What failed is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done, or looked at and found right.
    Passed,
    /// Something could not be looked at: what was missing, and how to get it. Not a pass.
    Skipped(String),
}
