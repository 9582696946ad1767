//! Shared by the conformance tests and the end-to-end tests of the program: devices, the program,
//! input files, and an oracle for the right results.

pub mod devices;
pub mod npy;
pub mod oracle;
pub mod outcome;
pub mod program;
pub mod trials;
