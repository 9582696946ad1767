//! What the conformance matrix of gridsync and the end-to-end tests of its program share: devices
//! to run on, the program to run, files to give it, and an oracle that knows what is right.

pub mod devices;
pub mod npy;
pub mod oracle;
pub mod outcome;
pub mod program;
pub mod trials;

/// Whether this is a thorough run, which makes the tests that take long too: `GRIDSYNC_THOROUGH` is 1.
#[must_use]
pub fn thorough() -> bool {
    std::env::var_os("GRIDSYNC_THOROUGH").is_some_and(|value| value == "1")
}
