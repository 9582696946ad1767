//! `gridsync lab threads`: how the threads of a block are numbered and split into warps.

mod block;
mod drawing;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::Global;
use block::Block;
use gridsync::device::Device;
use gridsync_lab::display::svg::Cells;
use gridsync_lab::display::table;
use gridsync_lab::threads::{LANES, Numbered, Record, numbered};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Registers of each lane if no compiler reports them.
const EXAMPLE_REGISTERS: u32 = 32;

/// Draw how the threads of a block are numbered and cut into warps, and count the idle lanes
///
/// Each thread of the block reports its position, its linear number, its lane, and the number of
/// the thread that is lane 0 of its warp. All of it is compared with the formula.
#[derive(clap::Args)]
pub(super) struct Threads {
    /// The shape of the block: its threads along x, y and z.
    #[arg(long, default_value = "40,2", value_name = "X[,Y[,Z]]")]
    block: Block,
    /// Write threads.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Threads {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["threads.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let numbered = numbered(device, self.block.0)?;
        let mut page = page(&device.properties().name, &numbered);
        page.file("threads.svg", chart(&numbered).svg())?;
        Ok(page.found(global))
    }
}

fn page(device: &str, numbered: &Numbered) -> Page {
    let Numbered { block, registers, .. } = *numbered;
    let (threads, warps, idle) = (numbered.threads(), numbered.warps(), numbered.idle());
    let lanes = warps * LANES;
    let idle_share = 100.0 * f64::from(idle) / f64::from(lanes);
    let each = registers.unwrap_or(EXAMPLE_REGISTERS);
    let mut page = Page::new(
        device,
        format!(
            "How are the {threads} threads of a block of {block} numbered and cut into warps on \
             {device}? Each of them reports its own numbers."
        ),
    );
    page.drawing(
        "The warp of each thread (0 to 9, then a to v); x goes right, y goes down",
        &drawing::planes(block),
    );
    page.drawing(
        "The lanes of each warp: the row of each thread (y + z·Y); · is an idle lane",
        &drawing::warps(block),
    );
    let mut table = table();
    let heads = ["threads", "warps", "lanes", "idle lanes", "idle share", "their registers"];
    table.set_header(heads);
    table.add_row([
        threads.to_string(),
        warps.to_string(),
        lanes.to_string(),
        idle.to_string(),
        format!("{idle_share:.1} %"),
        (idle * each).to_string(),
    ]);
    page.table("What the block takes", &table);

    page.means(
        "The linear number of a thread is x + y·X + z·X·Y, in a block of X by Y by Z threads. Its \
         warp is this number / 32, and its lane is the rest. The rows of the block do not matter: \
         a warp takes 32 consecutive numbers, even if it starts in the middle of one row and ends \
         in the next.",
    );
    page.means(idle_lanes(numbered, each));
    page.means(match registers {
        Some(each) => format!("The kernel of this experiment has {each} registers for each lane."),
        None => format!(
            "The emulator has no registers, so {EXAMPLE_REGISTERS} for each lane are an example."
        ),
    });
    if let Some(wrong) = numbered.wrong() {
        page.wrong(format!("a thread reported {wrong:?}, which is not what the formula gives"));
    }

    page.json("block", [block.x, block.y, block.z].as_slice());
    page.json("threads", threads);
    page.json("warps", warps);
    page.json("lanes", lanes);
    page.json("idle_lanes", idle);
    page.json("idle_percent", idle_share);
    page.json("registers_per_lane", each);
    page.json("registers_are_an_example", registers.is_none());
    page.json("idle_registers", idle * each);
    page.json("records", records(numbered));
    page
}

/// The lanes of each warp, as a chart.
fn chart(numbered: &Numbered) -> Cells {
    let block = numbered.block;
    Cells {
        title: format!("The lanes of each warp of a block of {block}"),
        x_label: "lane".into(),
        note: "the number is the row of the thread, y + z·Y; pale: an idle lane".into(),
        rows: drawing::rows(block),
    }
}

/// Cost of the idle lanes.
fn idle_lanes(numbered: &Numbered, each: u32) -> String {
    let (threads, warps, idle) = (numbered.threads(), numbered.warps(), numbered.idle());
    match idle {
        0 => format!("All lanes of the {warps} warps have a thread: nothing is idle."),
        _ => format!(
            "A block gets whole warps: {threads} threads take {warps} warps, and {idle} lanes of \
             the last warp are idle. Each instruction of that warp takes as long as with 32 \
             threads. Registers are allocated for whole warps too: the idle lanes hold {idle}·{each} \
             = {} registers. A block with a multiple of 32 threads has no idle lanes.",
            idle * each
        ),
    }
}

/// Reports of the threads.
fn records(numbered: &Numbered) -> Value {
    let record = |record: &Record| {
        json!({
            "position": [record.position.x, record.position.y, record.position.z],
            "number": record.number,
            "warp": record.first / LANES,
            "lane": record.lane,
        })
    };
    numbered.records.iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::Dim3;
    use gridsync_lab::threads::expected;

    /// The text on one line.
    fn shown(registers: Option<u32>) -> String {
        let block = Dim3::new(40, 2, 1);
        let records = (0..80).map(|number| expected(block, number)).collect();
        let page = page("a GPU", &Numbered { block, records, registers });
        let global = Global {
            device: "auto".parse().expect("a device"),
            json: false,
            quiet: false,
            verbose: false,
        };
        let text = page.found(&global).text;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_registers_are_those_of_the_compiled_kernel() {
        let shown = shown(Some(10));
        assert!(shown.contains("16·10 = 160 registers"), "{shown}");
        assert!(shown.contains("has 10 registers for each lane"), "{shown}");
        assert!(!shown.contains("example"), "{shown}");
    }

    #[test]
    fn the_registers_are_an_example_in_the_emulator() {
        let shown = shown(None);
        assert!(shown.contains("16·32 = 512 registers"), "{shown}");
        assert!(shown.contains("are an example"), "{shown}");
    }
}
