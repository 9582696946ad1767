//! Geometry: how many blocks of how many threads, and whether they can all be resident.
//!
//! A grid barrier waits for every block of the grid. A block that does not fit on the device starts
//! only when another has ended, and that one waits at the barrier: the grid hangs. So the number of
//! blocks that can be resident is asked of the driver, for that very kernel, block size and shared
//! memory, and a larger grid is refused before it is launched. [`plan`] goes over to one launch for each stage
//! instead.

mod cooperative;
mod stages;
mod state;

pub use cooperative::{Blocks, cooperative, cooperative_in_clusters, resident_blocks};
pub use stages::{Plan, plan};
pub use state::barrier_words;
