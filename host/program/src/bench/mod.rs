//! Measuring: the rules, the suites, the records.
//!
//! * **Time** is device time between two events in the stream. Events resolve about half a
//!   microsecond, so what lies between them takes [`SHORTEST_US`] at least: there the resolution is
//!   as small as the uncertainty that is asked for. Less gets a warning.
//! * A latency is a **slope** ([`slope()`]): the time of a launch of many rounds, less that of a
//!   launch of few, over the difference. What a launch costs falls out.
//! * A kernel that is run **once** ([`once()`]) is timed as it is called, its launch included. With
//!   a [`Cache::Warm`] L2 it is repeated within a sample until the sample is long enough; with a
//!   [`Cache::Cold`] one the L2 is overwritten before each sample, which is a single run.
//! * The time of one call of a primitive is measured **cold**: before each sample the L2 is emptied
//!   by reading four times as much. It is measured **alone**, a call between two events, put into the
//!   stream behind what empties the L2; and **in a row**: calls, each on an input of its own, in one
//!   graph, as many that what they read and write takes 2 GiB, between 1 and 256. Where that is 16
//!   times the L2, the graph is replayed until a sample takes 2 ms. The peer goes by the same plans.
//! * What a call **writes** goes to an output of its own. Small ones are in the L2 when the last call
//!   ends, ours as the peer's.
//! * The **results** of scans are checked whenever they have been timed, and so are the peer's; those of
//!   selections and correlations, whose check takes longer, once for each case and length.
//! * **Warm-up**: [`WARM_UP_US`] of device time pass before the first sample, so that the kernel is
//!   compiled and the clocks are up.
//! * **Samples** are taken until the median is known to [`Sampling::uncertainty`], half a percent,
//!   or until [`Sampling::at_most`] have been. The median is told, with the least, the greatest, and
//!   how many there were.
//! * The first point of a run is measured again at its end. If it has moved by more than
//!   [`MOST_DRIFT`], then something that all points share did, such as the clock.
//! * What breaks a rule is still told, with a [`Warning`] that says by how much.
//! * A **peer** is measured by the same rule, on the same device, in the same run, and while nobody
//!   else has a context there: another context beside it makes `grid.sync()` 4 % slower on an H200.
//!   One of latencies takes [`SAMPLES`] samples, one of throughputs as many as we would.

mod all_reduce;
mod barrier;
mod kendall;
mod once;
mod peer;
mod record;
mod reduce;
mod reduce_rows;
mod sampling;
mod scan;
mod select;
mod slope;
mod spread;
mod suite;
mod throughput;
mod warning;

pub use all_reduce::ALL_REDUCE;
pub use barrier::BARRIER;
pub use kendall::KENDALL;
pub use once::{Cache, once};
pub use peer::PeerError;
use peer::{Answers, PeerProgram, PeerScript};
pub use record::{Peer, Record, Step};
pub use reduce::REDUCE;
pub use reduce_rows::REDUCE_ROWS;
pub use sampling::{Measurement, SAMPLES, Sampling, WARM_UP_US};
pub use scan::SCAN;
pub use select::{PARTITION, SELECT, UNIQUE};
pub use slope::slope;
pub use spread::Spread;
pub use suite::{Absent, Design, FEW, MANY, Run, Shape, Suite, THREADS, default_blocks};
pub use throughput::{
    Case, Ceiling, MeasureError, PeerTimes, SIZES, Throughput, Throughputs, TooLarge,
};
pub use warning::{MOST_DRIFT, SHORTEST_US, Warning};
