//! `gridsync lab ladder`, the ladder of sums: the rungs of [`gridsync_lab_kernels::ladder::sums`].

mod climb;
mod count;
mod rung;

pub use climb::Climb;
pub use rung::{INTEGER_RUNG, NO_INTEGER_RUNG, Rung, Step, rungs};

use super::{Kind, Report, climb};
use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// The names, texts and sizes of this ladder.
pub(super) const KIND: Kind = Kind {
    name: "sum",
    suite: "ladder",
    in_report: "ladder-sum",
    counts: "operations",
    operations: [
        "What a block of 256 threads does to add up",
        "times in a block",
        "additions of a warp",
    ],
    records: "ladder.jsonl",
    bytes: 4,
    roof: "reading",
    rate: "reading_gb_per_s",
    only: ["read", "read"],
    right: "within its bound of the reference",
    note: "Counted by the emulator, in one block of 256 threads: additions and accesses to shared \
        memory of a warp (however many of its lanes take part), bank conflicts, barriers of the \
        block.",
    heads: &["warp additions", "shared accesses", "bank conflicts", "barriers"],
    in_the_emulator: 1 << 16,
};

/// Climb the ladder of sums: from one thread to one launch at the memory's rate
///
/// Each rung sums the same array, and its sum is compared with the CPU reference. On a GPU each is
/// timed, all of its launches together, the median of 7 samples or more. Its rate is shown in
/// percent of the best rate of a kernel that only reads. The emulator counts in one block of 256
/// threads: additions of a warp and its accesses to shared memory, however few of its lanes take
/// part; bank conflicts, the passes through shared memory that lanes wait for because others want
/// another word of the same bank; and barriers of the block.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Elements of the array [default: 2^28 on a GPU, 2^16 in the emulator]. Slow rungs get fewer;
    /// the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// The contents of the array. Only u32 has a rung with redux.sync.
    #[arg(long, value_enum, default_value_t = Dtype::F32, value_name = "TYPE")]
    dtype: Dtype,
    /// Write operations.svg to this folder, and on a GPU ladder.svg and ladder.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Dtype {
    /// Rounded: compared within the error bound of the rung's own order.
    F32,
    /// Modulo 2^32: exact in any order.
    U32,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["ladder.svg", "operations.svg", "ladder.jsonl"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        match self.dtype {
            Dtype::F32 => climb::<Climb<f32>>(device, bar, self.elements),
            Dtype::U32 => climb::<Climb<u32>>(device, bar, self.elements),
        }
    }
}
