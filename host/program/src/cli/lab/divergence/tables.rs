//! The tables of the page.

use super::{Results, relative};
use gridsync_lab::display::{Table, table};
use gridsync_lab::divergence::math::Times;
use gridsync_lab::divergence::ways::{Cost, Deal};

/// The branch instructions of each kernel.
pub(super) fn branches(results: &Results) -> Table {
    let mut table = table();
    table.set_header(["kernel", "100 if", "as written", "with loops"]);
    for (found, branches) in results.maths.iter().zip(&results.branches) {
        let math = found.math;
        let (written, looped) = (branches.written.to_string(), branches.looped.to_string());
        table.add_row([math.name, math.condition, &written, &looped]);
    }
    table
}

/// Counts of the emulator.
pub(super) fn counts(results: &Results) -> Table {
    let mut table = table();
    let heads = ["instructions", "branches", "diverged", "efficiency", "sectors", "least sectors"];
    table.set_header(["kernel"].into_iter().chain(heads));
    for found in &results.maths {
        let counts = found.counts;
        table.add_row([
            found.math.name.to_owned(),
            counts.instructions.to_string(),
            counts.branches.to_string(),
            counts.diverged_branches.to_string(),
            format!("{:.0} %", found.efficiency()),
            counts.sectors.to_string(),
            counts.least_sectors.to_string(),
        ]);
    }
    table
}

/// The times on a GPU.
pub(super) fn times(results: &Results) -> Table {
    let mut table = table();
    table.set_header(["kernel", "as written (µs)", "with loops (µs)"]);
    for found in &results.maths {
        if let Some(Times { written, looped }) = found.times {
            let [written, looped] = [written, looped].map(|time| format!("{:.1}", time.median));
            table.add_row([found.math.name, &written, &looped]);
        }
    }
    table
}

/// The costs of different paths: cycles per round on a GPU, and counts.
pub(super) fn ways(results: &Results) -> Table {
    let costs = |deal| results.costs.iter().filter(move |cost| cost.deal == deal);
    let to_lanes = costs(Deal::Lanes).zip(relative(&results.costs, Deal::Lanes));
    let to_warps = costs(Deal::Warps).zip(relative(&results.costs, Deal::Warps));
    let mut table = table();
    let timed = ["cycles by lanes", "paths × one", "ratio", "cycles by warps", "ratio"];
    let counted = ["loop branches by lanes", "by warps"];
    let is_timed = results.costs.iter().all(|cost| cost.cycles.is_some());
    let heads: &[_] = if is_timed { &timed } else { &[] };
    table.set_header([&["paths"], heads, &counted].concat());
    let one = costs(Deal::Lanes).next().map_or(f64::NAN, cycles);
    for ((lanes, (ways, lanes_ratio)), (warps, (_, warps_ratio))) in to_lanes.zip(to_warps) {
        let timed = [
            format!("{:.1}", cycles(lanes)),
            format!("{:.1}", f64::from(ways) * one),
            format!("{lanes_ratio:.2}"),
            format!("{:.1}", cycles(warps)),
            format!("{warps_ratio:.2}"),
        ];
        let timed: &[_] = if is_timed { &timed } else { &[] };
        let counted = [lanes.instructions, warps.instructions].map(|n| n.to_string());
        table.add_row([&[ways.to_string()], timed, &counted].concat());
    }
    table
}

/// Cycles per round. NaN in the emulator.
fn cycles(cost: &Cost) -> f64 {
    cost.cycles.map_or(f64::NAN, |cycles| cycles.median)
}
