//! Ladders: one computation in many steps, from one thread to the way of the library. A file is a rung.
//!
//! * [`sums`]: the sum of an array, in seventeen steps.
//! * [`scans`]: the sums up to each element of an array, in eleven.

pub mod scans;
pub mod sums;

/// Threads of a block, unless a rung says otherwise.
pub const THREADS: u32 = 256;
