//! Grid-wide synchronisation, reductions and scans for NVIDIA GPUs, with every kernel in Rust.

pub mod data;
pub mod device;
pub mod lab;
pub mod launch;
pub mod primitives;
pub mod reference;
pub mod report;
pub mod verify;
