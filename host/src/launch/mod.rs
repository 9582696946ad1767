//! Geometry: how many blocks of how many threads, and whether they can all be resident.
//!
//! A grid barrier waits for every block of the grid. A block that does not fit on the device starts
//! only when another has ended, and that one waits at the barrier: the grid hangs. So the number of
//! blocks that can be resident is asked of the driver, for that very kernel, block size and shared
//! memory, and a larger grid is refused before it is launched.

mod cooperative;

pub use cooperative::{Blocks, cooperative, resident_blocks};
