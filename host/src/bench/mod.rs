//! Measuring: the rules, the suites, the records.
//!
//! * A latency is a **slope**: device time by events of a launch of many rounds, less that of a
//!   launch of few, over the difference. What a launch costs falls out.
//! * The first launch is not counted; of the samples the median is told, with the least and the
//!   greatest.
//! * A **peer** is measured by the same rule, on the same device, in the same run.

mod barrier;
mod peer;
mod record;
mod slope;

pub use barrier::{FEW, MANY, SAMPLES, Shape, barrier, shapes};
pub use peer::{PeerError, grid_sync};
pub use record::{Peer, Record};
pub use slope::{Spread, slope};
