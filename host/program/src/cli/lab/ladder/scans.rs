//! `gridsync lab scans`: one scan, rung by rung.

use super::{Told, run};
use crate::cli::Global;
use crate::cli::lab::{Experiment, Found, RunsOn};
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync_lab::count::within;
use gridsync_lab::ladder::Climbed;
use gridsync_lab::ladder::scans::Climb;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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
#[derive(clap::Args)]
pub(crate) struct Scans {
    /// Elements of the array [default: 2^28 on a GPU, 2^18 + 1000 in the emulator]. Slow rungs get
    /// fewer; the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// Write scan-operations.svg to this folder, and on a GPU scans.svg and scans.jsonl.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Scans {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &<Climb as Told>::FILES;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        match device.properties().is_emulated() {
            true => run::<Climb>(global, &hopper_emulated(), self.elements),
            false => run::<Climb>(global, device, self.elements),
        }
    }
}

/// An emulated GPU whose blocks have room for bulk copies.
fn hopper_emulated() -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        shared_per_block: SHARED_OF_HOPPER,
        ..EmulatorConfig::default()
    }))
}

impl Told for Climb {
    const ON_A_GPU: u64 = 1 << 28;
    /// Enough for the rung that needs more than 1 MiB.
    const IN_THE_EMULATOR: u64 = (1 << 18) + 1000;
    const FILES: [&'static str; 3] = ["scans.svg", "scan-operations.svg", "scans.jsonl"];
    const SUITE: &'static str = "scans";
    const ROOF_RATE: &'static str = "copy_gb_per_s";
    const RIGHT: &'static str = "the words of the reference";
    const ONLY: [&'static str; 2] = ["copied", "read and written"];
    const NOTE: &'static str = "Launches, with those that set words to 0; words read and written of \
        the array and of arrays of sums, for each element. Counted by the emulator, in one block with \
        one tile: warp operations (loads and stores in shared memory, and shuffles), bank conflicts, \
        barriers of the block.";
    const HEADS: &'static [&'static str] =
        &["launches", "words", "tile", "warp operations", "bank conflicts", "barriers"];

    fn cells(rung: &Climbed<Self>) -> Vec<String> {
        let mut cells = vec![
            rung.plan.launches.to_string(),
            format!("{:.2}", rung.plan.words as f64 / rung.len as f64),
        ];
        if let Some(counted) = rung.counted {
            cells.extend([
                counted.elements.to_string(),
                counted.warp_operations().to_string(),
                counted.bank_conflicts.to_string(),
                counted.barriers.to_string(),
            ]);
        }
        cells
    }

    fn json(rung: &Climbed<Self>) -> Value {
        json!({
            "launches": rung.plan.launches,
            "words_moved": rung.plan.words,
            "tile": rung.counted.map(|counted| counted.elements),
            "warp_operations": rung.counted.map(|counted| counted.warp_operations()),
            "shuffles": rung.counted.map(|counted| counted.shuffles),
        })
    }

    fn params(rung: &Climbed<Self>) -> Value {
        json!({ "launches": rung.plan.launches, "words_moved": rung.plan.words })
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::lab::ladder::tests::{leaves_charts_and_records, timed};
    use crate::cli::lab::ladder::told::rows;
    use gridsync_lab::ladder::Report;
    use gridsync_lab::ladder::scans::{Climb, Moves};

    fn look_back() -> Report<Climb> {
        let moves = Moves { launches: 2, words: 2 << 20 };
        timed(9, "look-back", moves)
    }

    #[test]
    fn a_timed_scan_shows_its_rate_next_to_a_copy() {
        let rows = rows(&look_back());
        let of_the_rung: Vec<Vec<&str>> = rows
            .lines()
            .filter(|line| line.starts_with("9 "))
            .map(|line| line.split_whitespace().collect())
            .collect();
        let [times, counts] = &of_the_rung[..] else {
            panic!("a row of times and one of counts: {rows}");
        };
        let expected = ["9", "look-back", "1048576", "4.0", "2097.2", "50.0", "[1]"];
        assert_eq!(times, &expected, "{rows}");
        assert_eq!(counts[3..5], ["2", "2.00"], "{rows}");
        let in_the_tables = rows.lines().filter(|line| !line.starts_with('['));
        let widest = in_the_tables.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{rows}");
    }

    #[test]
    fn a_timed_climb_writes_charts_and_records() {
        leaves_charts_and_records(&look_back(), ["9 look-back", "copying only"]);
    }
}
