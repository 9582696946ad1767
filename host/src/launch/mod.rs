//! Geometry: the number of blocks and of threads per block, and whether all blocks can be resident.
//!
//! A grid barrier waits for every block of the grid. A block that does not fit on the device starts
//! only after another has ended. But the other blocks wait at the barrier, so the grid hangs. So
//! this module asks the driver how many blocks can be resident, for the same kernel, block size and
//! shared memory, and refuses a larger grid before it is launched. [`plan`] uses one launch per
//! stage instead.

mod cooperative;
mod several;
mod stages;
mod state;

pub use cooperative::{Blocks, cooperative, cooperative_in_clusters, resident_blocks};
pub use several::{cooperative_on_all, system_words, words_with_heads};
pub use stages::{Plan, plan};
pub use state::barrier_words;
