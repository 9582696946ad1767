//! `gridsync lab scans`, the ladder of scans: the rungs of [`gridsync_lab_kernels::ladder::scans`],
//! and the library's two scans.

mod climb;
mod count;
mod rung;

pub use climb::Climb;
pub use rung::{Moves, Rung, rungs};

use super::{Kind, Report};
use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::{Device, Emulator, EmulatorConfig};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// The names, texts and sizes of this ladder.
pub(super) const KIND: Kind = Kind {
    name: "scan",
    suite: "scans",
    in_report: "ladder-scan",
    counts: "scan-operations",
    operations: [
        "What a block does to scan 256 elements",
        "times for 256 elements",
        "warp operations",
    ],
    records: "scans.jsonl",
    // Each word is read and written.
    bytes: 8,
    roof: "copying",
    rate: "copy_gb_per_s",
    only: ["copied", "read and written"],
    right: "the words of the reference",
    note: "Launches, with those that set words to 0; words read and written of the array and of \
        arrays of sums, for each element. Counted by the emulator, in one block with one tile: \
        warp operations (loads and stores in shared memory, and shuffles), bank conflicts, \
        barriers of the block.",
    heads: &["launches", "words", "tile", "warp operations", "bank conflicts", "barriers"],
    // Enough for the rung that needs more than 1 MiB.
    in_the_emulator: (1 << 18) + 1000,
};

/// The most shared memory of a block on Hopper, bytes (CUDA C++ Programming Guide, "Compute
/// Capability 9.0").
const SHARED_OF_HOPPER: u32 = 227 << 10;

/// Climb the ladder of scans: from one thread to one pass at the memory's rate
///
/// Each rung scans the same u32, and every word is compared with the CPU reference. The rungs: one
/// thread, Hillis and Steele, Blelloch, shuffles, a grid barrier, chained blocks, the look-back of
/// Merrill and Garland, and the library's own two scans. On a GPU each is timed, all of its
/// launches together, the median of 7 samples or more. Its rate is that of the words which any scan
/// has to move, n in and n out, and is shown in percent of the best rate of a copy. The emulator
/// counts, in one block with one tile: the warp's loads and stores in shared memory and its
/// shuffles, bank conflicts, and barriers of the block.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Elements of the array [default: 2^28 on a GPU, 2^18 + 1000 in the emulator]. Slow rungs get
    /// fewer; the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// Write scan-operations.svg to this folder, and on a GPU scans.svg and scans.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["scans.svg", "scan-operations.svg", "scans.jsonl"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        // An emulated GPU whose blocks have room for bulk copies.
        let emulator = || {
            Device::new(Emulator::new(EmulatorConfig {
                shared_per_block: SHARED_OF_HOPPER,
                ..EmulatorConfig::default()
            }))
        };
        let emulated = device.properties().is_emulated().then(emulator);
        super::climb::<Climb>(emulated.as_ref().unwrap_or(device), bar, self.elements)
    }
}
