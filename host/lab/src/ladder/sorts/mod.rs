//! `gridsync lab sorts`, the ladder of sorts: the rungs of [`gridsync_lab_kernels::ladder::sorts`],
//! and the library's sort.

mod bitonic;
mod climb;
mod count;
mod rung;

pub use climb::Climb;
pub use rung::{Rung, rungs};

use super::{Kind, Report};
use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// The names, texts and sizes of this ladder.
pub(super) const KIND: Kind = Kind {
    name: "sort",
    suite: "sorts",
    in_report: "ladder-sort",
    counts: "sort-operations",
    operations: [
        "What a block does to sort or move 256 keys",
        "times for 256 keys",
        "warp operations",
    ],
    records: "sorts.jsonl",
    // Each key is read and written at least once.
    bytes: 8,
    roof: "copying",
    rate: "pass_gb_per_s",
    only: ["copied", "read and written"],
    right: "the keys of the reference",
    note: "Launches, with those that set words to 0; words read and written of the array and of \
        arrays of counts, for each key. Counted by the emulator, in one block of the launch that \
        sorts a tile, or moves its keys for one digit: warp operations (loads and stores in shared \
        memory, and shuffles), bank conflicts, barriers of the block.",
    heads: &["launches", "words", "tile", "warp operations", "bank conflicts", "barriers"],
    // Seven tiles, and too many keys for the one block of the library.
    in_the_emulator: 13_000,
};

/// Climb the ladder of sorts: from bubble sort to one pass for each digit
///
/// Each rung sorts the same random u32, and every key is compared with the CPU reference. The rungs:
/// neighbours exchanged by one block, a bitonic network with a launch for each step, the same with
/// tiles in shared memory, a radix sort with three launches for each digit, the same with ranks that
/// a block computes together, one launch for each digit with look-back, and the library's own sort.
/// On a GPU each is timed, all of its launches together, the median of 7 samples or more. Its rate is
/// that of a single pass, n keys in and n out, and is shown in percent of the best rate of a copy.
/// The emulator counts, in one block with one tile: the warp's loads and stores in shared memory and
/// its shuffles, bank conflicts, and barriers of the block.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Elements of the array [default: 2^28 on a GPU, 13000 in the emulator]. Slow rungs get fewer;
    /// the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// Write sort-operations.svg to this folder, and on a GPU sorts.svg and sorts.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["sorts.svg", "sort-operations.svg", "sorts.jsonl"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        super::climb::<Climb>(device, bar, self.elements)
    }
}
