//! `gridsync lab fences`: what a fence costs.

use super::{Experiment, Found, RunsOn};
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use crate::lab::fences::{self, Cost, STORES};
use crate::report::table;
use gridsync::device::Device;
use serde_json::{Value, json};

/// Measure what fences cost, idle and with stores in flight
///
/// In one thread alone, and in a warp on every multiprocessor, each with lines of its own. Cycles
/// are those of the multiprocessor's counter: the slope between 200 and 2200 rounds, the median of
/// 7, less the slope of the stores alone. Nanoseconds come from the clock, which is measured too:
/// cycles over the time between events.
#[derive(clap::Args)]
pub(super) struct Fences {}

/// The costs in one grid.
struct Grid {
    what: &'static str,
    blocks: u32,
    threads: u32,
    costs: Vec<Cost>,
}

impl Experiment for Fences {
    const RUNS_ON: RunsOn = RunsOn::Gpu;

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
        Ok(Found {
            text: text(global, name, mhz, &grids),
            json: as_json(name, mhz, &grids),
            ..Found::default()
        })
    }
}

/// Converts cycles to nanoseconds.
fn nanoseconds(cycles: f64, mhz: f64) -> f64 {
    cycles * 1e3 / mhz
}

fn text(global: &Global, device: &str, mhz: f64, grids: &[Grid]) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        parts.push(format!(
            "Cycles (ns) beyond the stores alone on {device}, whose clock was {mhz:.0} MHz"
        ));
    }
    for grid in grids {
        let mut table = table();
        let heads = STORES.map(|stores| match stores {
            0 => "idle".to_owned(),
            1 => "after 1 store".to_owned(),
            stores => format!("after {stores} stores"),
        });
        table.set_header([grid.what.to_owned()].into_iter().chain(heads));
        for operation in fences::OPERATIONS {
            let instruction = operation.instruction;
            let of_this = grid.costs.iter().filter(|c| c.instruction == instruction);
            let cells = of_this.map(|cost| {
                let cycles = cost.cycles.median;
                format!("{cycles:.0} ({:.0})", nanoseconds(cycles, mhz))
            });
            table.add_row([instruction.to_owned()].into_iter().chain(cells));
        }
        parts.push(table.to_string());
    }
    parts.join("\n\n")
}

fn as_json(device: &str, mhz: f64, grids: &[Grid]) -> Value {
    let cost = |grid: &Grid, cost: &Cost| {
        json!({
            "instruction": cost.instruction,
            "blocks": grid.blocks,
            "threads": grid.threads,
            "stores": cost.stores,
            "cycles": output::number(cost.cycles.median),
            "min": output::number(cost.cycles.min),
            "max": output::number(cost.cycles.max),
            "samples": cost.cycles.samples,
            "ns": output::number(nanoseconds(cost.cycles.median, mhz)),
        })
    };
    let costs = grids.iter().flat_map(|grid| grid.costs.iter().map(move |c| cost(grid, c)));
    json!({ "device": device, "clock_mhz": output::number(mhz), "costs": costs.collect::<Vec<_>>() })
}
