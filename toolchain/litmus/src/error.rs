//! Errors.

/// A text that is not a valid litmus test. The message is one line and does not name the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line of the text, starting at 1.
    pub line: usize,
    /// The text found there.
    pub found: String,
    /// The text expected there.
    pub expected: String,
}

/// A test that is too large to judge. The answer is unknown, not negative.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// A loop may continue beyond the bound, and each of its iterations has an effect.
    #[error(
        "line {line}: a loop of P{thread} may take more than {rounds} rounds that write, reach a barrier or change a register that is still needed; write a loop that ends sooner"
    )]
    Loop {
        /// The thread.
        thread: usize,
        /// The line of a statement in the loop.
        line: usize,
        /// The bound.
        rounds: usize,
    },

    /// A thread has too many paths through its code.
    #[error("P{thread} has more than {limit} ways through its code; use fewer branches")]
    Paths {
        /// The thread.
        thread: usize,
        /// The bound.
        limit: usize,
    },

    /// An execution has too many events.
    #[error("an execution has {events} events, and {limit} are the limit; use fewer instructions")]
    Events {
        /// Number of events, including the initial writes.
        events: usize,
        /// The bound.
        limit: usize,
    },

    /// There are too many executions.
    #[error("the search was not over after {steps} steps; use fewer threads, reads or writes")]
    Search {
        /// The bound.
        steps: u64,
    },
}
