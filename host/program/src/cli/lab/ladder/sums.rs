//! `gridsync lab ladder`: one sum, rung by rung.

use super::{Told, run};
use crate::cli::Global;
use crate::cli::lab::{Experiment, Found, RunsOn};
use gridsync::device::Device;
use gridsync_lab::count::within;
use gridsync_lab::ladder::Climbed;
use gridsync_lab::ladder::sums::{Climb, NO_INTEGER_RUNG, Step};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Climb the ladder of sums: from one thread to one launch at the memory's rate
///
/// Each rung sums the same array, and its sum is compared with the CPU reference. On a GPU each is
/// timed, all of its launches together, the median of 7 samples or more. Its rate is shown in
/// percent of the best rate of a kernel that only reads. The emulator counts in one block of 256
/// threads: additions of a warp and its accesses to shared memory, however few of its lanes take
/// part; bank conflicts, the passes through shared memory that lanes wait for because others want
/// another word of the same bank; and barriers of the block.
#[derive(clap::Args)]
pub(crate) struct Ladder {
    /// Elements of the array [default: 2^28 on a GPU, 2^16 in the emulator]. Slow rungs get fewer;
    /// the table says how many.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u64>(1..=1 << 36))]
    elements: Option<u64>,
    /// What the array holds. Only u32 has a rung with redux.sync.
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

impl Experiment for Ladder {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &<Climb<f32> as Told>::FILES;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let run = match self.dtype {
            Dtype::F32 => run::<Climb<f32>>,
            Dtype::U32 => run::<Climb<u32>>,
        };
        run(global, device, self.elements)
    }
}

impl<T: Step> Told for Climb<T> {
    const ON_A_GPU: u64 = 1 << 28;
    const IN_THE_EMULATOR: u64 = 1 << 16;
    const FILES: [&'static str; 3] = ["ladder.svg", "operations.svg", "ladder.jsonl"];
    const SUITE: &'static str = "ladder";
    const ROOF_RATE: &'static str = "reading_gb_per_s";
    const RIGHT: &'static str = "within its bound of the reference";
    const ONLY: [&'static str; 2] = ["read", "read"];
    const NOTE: &'static str = "Counted by the emulator, in one block of 256 threads: additions and \
        accesses to shared memory of a warp (however many of its lanes take part), bank conflicts, \
        barriers of the block.";
    const HEADS: &'static [&'static str] =
        &["warp additions", "shared accesses", "bank conflicts", "barriers"];

    fn left_out() -> Option<&'static str> {
        T::REDUX.is_none().then_some(NO_INTEGER_RUNG)
    }

    fn cells(rung: &Climbed<Self>) -> Vec<String> {
        rung.counted.map_or_else(Vec::new, |counted| {
            let counts = [
                counted.warp_additions(),
                counted.shared_accesses,
                counted.bank_conflicts,
                counted.barriers,
            ];
            counts.map(|times| times.to_string()).to_vec()
        })
    }

    fn json(rung: &Climbed<Self>) -> Value {
        json!({ "warp_additions": rung.counted.map(|counted| counted.warp_additions()) })
    }

    fn params(rung: &Climbed<Self>) -> Value {
        let geometry = &rung.plan;
        json!({
            "blocks": geometry.grid.volume(),
            "threads": geometry.block.volume(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::lab::ladder::tests::{leaves_charts_and_records, timed};
    use crate::cli::lab::ladder::told::rows;
    use gridsync::device::Geometry;
    use gridsync_lab::ladder::Report;
    use gridsync_lab::ladder::sums::Climb;

    fn last_block() -> Report<Climb<f32>> {
        timed(16, "last block", Geometry::new(256, 256))
    }

    #[test]
    fn a_timed_rung_shows_its_rate_next_to_a_read() {
        let rows = rows(&last_block());
        let mut lines = rows.lines();
        let is_row = |line: &&str| line.starts_with("16 ");
        let row = lines.find(is_row).expect("a row of the rung");
        let cells: Vec<&str> = row.split_whitespace().collect();
        let expected = ["16", "last", "block", "1048576", "4.0", "1048.6", "50.0", "[1]"];
        assert_eq!(cells, expected, "{rows}");
        assert!(lines.any(|line| line.starts_with("[1] too short: ")), "{rows}");
        let in_the_tables = rows.lines().filter(|line| !line.starts_with('['));
        let widest = in_the_tables.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{rows}");
    }

    #[test]
    fn a_timed_climb_writes_charts_and_records() {
        leaves_charts_and_records(&last_block(), ["16 last block", "reading only"]);
    }
}
