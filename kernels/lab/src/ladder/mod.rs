//! Ladders: one computation in many steps, from one thread to the library's implementation. Each
//! file is a rung.
//!
//! * [`sums`]: the sum of an array, in seventeen steps.
//! * [`scans`]: for each element of an array the sum up to it, in eleven steps.
//! * [`sorts`]: the elements of an array in order, in seven steps.

pub mod scans;
pub mod sorts;
pub mod sums;

/// Threads of a block, unless a rung specifies otherwise.
pub const THREADS: u32 = 256;
