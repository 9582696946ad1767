//! What can go wrong.

/// A text that is no litmus test. The message is one line. It does not name the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line of the text, from 1.
    pub line: usize,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
}

/// A test that is too large to be judged. The answer is unknown, not negative.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// A loop may go on beyond the bound, and each of its rounds has an effect.
    #[error(
        "line {line}: a loop of P{thread} may take more than {rounds} rounds that write, reach a barrier or change a register that is still needed; write a loop that ends sooner"
    )]
    Loop {
        /// The thread.
        thread: usize,
        /// The line of a statement of the loop.
        line: usize,
        /// The bound.
        rounds: usize,
    },

    /// A thread has too many ways through its code.
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
        /// The events, with the initial writes.
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
