//! What the conformance matrix of gridsync and the end-to-end tests of its program share: devices
//! to run on, the program to run, files to give it, and an oracle that knows what is right.

pub mod devices;
pub mod npy;
pub mod oracle;
pub mod outcome;
pub mod program;
