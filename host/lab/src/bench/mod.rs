//! Measuring: the rules, the suites, the records.
//!
//! * **Time** is device time between two events in the stream. Events resolve about half a
//!   microsecond, so the work between them should last at least [`SHORTEST_US`]: then the
//!   resolution is as small as the requested uncertainty. Shorter work gets a warning.
//! * A latency is a **slope** ([`slope()`]): the time of a launch of many rounds, minus that of a
//!   launch of few, divided by the difference. The cost of a launch cancels out.
//! * A latency **over several GPUs** is a slope of host time, because all grids end together and
//!   one of them may wait forever (see the module `system`). The same holds for the time of a sum
//!   or a scan over several GPUs.
//! * A kernel that is run **once** ([`once()`]) is timed as it is called, including its launch. It
//!   is repeated within a sample until the sample is long enough, so its input may be in the L2.
//! * The cost of a **call** is time of the calling thread (see the module `calls`).
//! * The time of one call of a primitive is measured **cold**: before each sample the L2 is flushed
//!   by reading four times its size. It is measured **alone**: one call between two events, right
//!   after the flush. And it is measured **in a row**: calls in one graph, each on a different
//!   input. There are between 1 and 256 calls, which read and write 2 GiB in all. If that is 16
//!   times the L2, the graph is replayed until a sample lasts 2 ms. The peer follows the same
//!   plans.
//! * Calls that wait for the GPU or allocate are only measured alone. Their time includes that: the
//!   host waits, and copies results, between the two events.
//! * Each call **writes** to a different output. Small outputs may still be in the L2 when the last
//!   call ends, ours and the peer's.
//! * The **results** of scans are checked after each measurement, and so are the peer's. Results of
//!   selections and correlations are slower to check: they are checked once for each case and
//!   length.
//! * **Warm-up**: [`WARM_UP_US`] of device time pass before the first sample, so that the kernel is
//!   compiled and the clocks are up.
//! * **Samples** are taken until the median is known to [`Sampling::uncertainty`], half a percent,
//!   or until there are [`Sampling::at_most`]. The result has the median, the minimum, the maximum,
//!   and the number of samples.
//! * The first point of a run is measured again at its end. If it has moved by more than
//!   [`MOST_DRIFT`], something that all points share has changed, such as the clock.
//! * A measurement that breaks a rule is still reported, with a [`Warning`] that quantifies it.
//! * The calls of a **library of Python** are put into a graph too, unless they wait for the GPU: then
//!   Python makes them in sequence. Their results are not checked.
//! * The calls of the **package for Python** have their own rules (see `host/lab/peers/python.py`): the
//!   suite `python` measures what a caller in Python sees.
//! * A **peer** is measured by the same rules, on the same device and in the same run, while no
//!   other process has a context there: a second context makes `grid.sync()` 4 % slower on an H200
//!   (November 2026). A peer of latencies takes [`SAMPLES`] samples, a peer of throughputs as many
//!   as we would.

mod all_reduce;
mod barrier;
mod build_peers;
mod by_key;
mod calls;
mod chain;
mod histogram;
mod kendall;
mod kind;
mod launch_time;
mod library;
mod notes;
mod peer;
mod provenance;
mod python;
mod rank;
mod record;
mod reduce;
mod reduce_rows;
mod rows;
mod sampling;
mod scaling;
mod scan;
mod scan_rows;
mod scan_threads;
mod segments;
mod select;
mod slope;
mod softmax;
mod sort;
mod spread;
mod suite;
mod system;
mod throughput;
mod warning;

pub use all_reduce::ALL_REDUCE;
pub use barrier::BARRIER;
pub use build_peers::build_peers;
pub use by_key::BY_KEY;
pub use calls::{
    Call, CallError, PEER as CALLS_PEER, call_points, peer_calls, run_calls, sum_in_a_process,
};
pub use chain::chains_in_cpp;
pub use histogram::HISTOGRAM;
pub use kendall::KENDALL;
pub use kind::{PeerKind, PeerKinds};
pub use launch_time::once;
pub use notes::Notes;
use peer::{Answers, PeerScript};
pub use peer::{PeerError, PeerProgram};
pub use provenance::{Gpu, Made};
pub use python::{
    PYTHON_FUNCTIONS, PYTHON_SIZES, PYTHON_TIMES, PythonCalls, PythonFunction, PythonRun,
};
pub use rank::RANK;
pub use record::{Line, Peer, Record, Step, Times};
pub use reduce::REDUCE;
pub use reduce_rows::REDUCE_ROWS;
pub use sampling::{Measurement, SAMPLES, Sampling, WARM_UP_US};
pub use scaling::{SCALED, SCALING_SIZES, Scaling, ScalingPoint, Scalings};
pub use scan::SCAN;
pub use scan_rows::SCAN_ROWS;
pub use scan_threads::SCAN_THREADS;
pub use segments::SEGMENTS;
pub use select::{PARTITION, SELECT, UNIQUE};
pub use slope::slope;
pub use softmax::SOFTMAX;
pub use sort::SORT;
pub use spread::Spread;
pub use suite::{Absent, Design, FEW, MANY, Run, Shape, Suite, THREADS, default_blocks};
pub use system::{
    COLLECTIVES, Collective, Nccl, NoNccl, SYSTEM_THREADS, System, SystemPoint, gpu_counts,
    nccl_times, system_blocks,
};
pub use throughput::plain_mode;
pub use throughput::{
    Case, Ceiling, MeasureError, PeerTimes, SIZES, Throughput, Throughputs, TooLarge,
};
pub use warning::{MOST_DRIFT, SHORTEST_US, Warning};
