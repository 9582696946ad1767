//! `gridsync lab fences`: cost of a fence.

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use gridsync::device::Device;
use gridsync_lab::display::svg::{Bars, Row};
use gridsync_lab::display::table;
use gridsync_lab::fences::{self, Cost, STORES};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Measure what fences cost, idle and with stores in flight
///
/// In one thread alone, and in a warp on every multiprocessor, each with lines of its own. Cycles
/// are those of the multiprocessor's counter: the slope between 200 and 2200 rounds, the median of
/// 7, less the slope of the stores alone. Nanoseconds come from the clock, which is measured too:
/// cycles over the time between events.
#[derive(clap::Args)]
pub(super) struct Fences {
    /// Write fences.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The costs in one grid.
struct Grid {
    what: &'static str,
    blocks: u32,
    threads: u32,
    costs: Vec<Cost>,
}

impl Experiment for Fences {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] = &["fences.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let bar = progress(global, 2 * fences::STEPS);
        let mhz = fences::clock_mhz(device)?;
        let all = device.properties().multiprocessors;
        let measure = |what, blocks, threads| -> anyhow::Result<Grid> {
            bar.set_message(what);
            Ok(Grid {
                what,
                blocks,
                threads,
                costs: fences::costs(device, (blocks, threads), || bar.inc(1))?,
            })
        };
        let grids =
            [measure("one thread", 1, 1)?, measure("a warp on every multiprocessor", all, 32)?];
        bar.finish_and_clear();
        let name = &device.properties().name;
        let mut page = page(name, mhz, &grids);
        page.file("fences.svg", grids[1].chart(name).svg())?;
        Ok(page.found(global))
    }
}

/// Converts cycles to nanoseconds.
fn nanoseconds(cycles: f64, mhz: f64) -> f64 {
    cycles * 1e3 / mhz
}

fn page(device: &str, mhz: f64, grids: &[Grid; 2]) -> Page {
    let mut page = Page::new(
        device,
        format!(
            "What does a fence cost on {device}, and what do the other steps of a barrier cost? \
             Cycles (ns) beyond the stores alone; the clock was {mhz:.0} MHz."
        ),
    );
    for grid in grids {
        let mut table = table();
        table.set_header(["".to_owned()].into_iter().chain(STORES.map(after)));
        for operation in fences::OPERATIONS {
            let costs = STORES.map(|stores| {
                let cycles = grid.cycles(operation.instruction, stores);
                format!("{cycles:.0} ({:.0})", nanoseconds(cycles, mhz))
            });
            table.add_row([operation.instruction.to_owned()].into_iter().chain(costs));
        }
        page.table(&format!("In {}", grid.what), &table);
    }
    meaning(&mut page, &grids[1]);
    page.json("clock_mhz", output::number(mhz));
    let costs = grids.iter().flat_map(|grid| grid.costs.iter().map(|cost| grid.json(cost, mhz)));
    page.json("costs", costs.collect::<Vec<_>>());
    page
}

/// The number of stores before the operation, in words.
fn after(stores: u32) -> String {
    match stores {
        0 => "idle".to_owned(),
        1 => "after 1 store".to_owned(),
        stores => format!("after {stores} stores"),
    }
}

/// Explains the numbers of `grid`.
fn meaning(page: &mut Page, grid: &Grid) {
    let most = STORES[2];
    let [idle, behind] = [0, most].map(|stores| grid.cycles("fence.acq_rel.gpu", stores));
    page.means(format!(
        "A fence of the device's scope waits until the stores before it can be seen by the whole \
         device: {idle:.0} cycles with none in flight, {behind:.0} after {most}. A fence of the block's \
         scope took {:.0}: threads of a block share the L1.",
        grid.cycles("fence.acq_rel.cta", most),
    ));
    let strong = grid.cycles("fence.sc.gpu", most);
    page.means(match (strong - behind).abs() < 0.05 * behind {
        true => "fence.sc cost no more than fence.acq_rel.".to_owned(),
        false => format!("fence.sc.gpu took {strong:.0} cycles, fence.acq_rel.gpu {behind:.0}."),
    });
    page.means(format!(
        "Across the system's scope, where the CPU and other GPUs look, a fence took {:.0} cycles. \
         A release is such a fence and then the operation: red.release took {:.0} cycles, and \
         red.relaxed {:.0}, because nobody waits for it.",
        grid.cycles("fence.acq_rel.sys", most),
        grid.cycles("red.release.gpu.global.add.u32", most),
        grid.cycles("red.relaxed.gpu.global.add.u32", most).max(0.0),
    ));
}

impl Grid {
    /// The cycles of `instruction` after this many stores.
    fn cycles(&self, instruction: &str, stores: u32) -> f64 {
        let is_it = |cost: &&Cost| cost.instruction == instruction && cost.stores == stores;
        self.costs.iter().find(is_it).map_or(f64::NAN, |cost| cost.cycles.median)
    }

    fn chart(&self, device: &str) -> Bars {
        let row = |instruction: &str| {
            // A slope can be a little less than that of the stores alone.
            let cycles = |stores| Some(self.cycles(instruction, stores).max(0.0));
            Row::new(instruction, STORES.map(cycles))
        };
        Bars {
            title: format!("What fences cost on {device}, {}", self.what),
            x_label: "cycles beyond the stores alone".into(),
            note: String::new(),
            series: STORES.map(|stores| after(stores).into()).into(),
            rows: fences::OPERATIONS.iter().map(|operation| row(operation.instruction)).collect(),
            roof: None,
        }
    }

    fn json(&self, cost: &Cost, mhz: f64) -> Value {
        json!({
            "instruction": cost.instruction,
            "blocks": self.blocks,
            "threads": self.threads,
            "stores": cost.stores,
            "cycles": output::number(cost.cycles.median),
            "min": output::number(cost.cycles.min),
            "max": output::number(cost.cycles.max),
            "samples": cost.cycles.samples,
            "ns": output::number(nanoseconds(cost.cycles.median, mhz)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::bench::Spread;

    /// A grid in which each operation costs 100 cycles and 10 more for each store.
    fn grid(what: &'static str) -> Grid {
        let cost = |instruction, stores| {
            let cycles = Spread::of(vec![100.0 + 10.0 * f64::from(stores)]).expect("a sample");
            Cost { instruction, stores, cycles }
        };
        let costs = fences::OPERATIONS
            .iter()
            .flat_map(|operation| STORES.map(|stores| cost(operation.instruction, stores)));
        Grid { what, blocks: 1, threads: 1, costs: costs.collect() }
    }

    #[test]
    fn the_page_has_each_cost_in_both_units_and_its_meaning() {
        let found = page("a GPU", 2000.0, &[grid("one thread"), grid("all")]).without_flags();
        let text = found.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "100 (50) 110 (55) 180 (90)",
            "In one thread",
            "100 cycles with none in flight, 180 after 8",
            "fence.sc cost no more",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
        assert_eq!(found.json["costs"].as_array().map(Vec::len), Some(2 * 3 * 10));
        assert!(grid("all").chart("a GPU").svg().is_ok());
    }
}
