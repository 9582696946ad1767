//! The tables of the page.

use super::report::{Divergence, relative};
use super::{Dealt, Kernel, Paths};
use crate::display::{Table, table};

/// The branch instructions of each kernel.
pub(super) fn branches(kernels: &[Kernel]) -> Table {
    let mut table = table();
    table.set_header(["kernel", "100 if", "as written", "with loops"]);
    for Kernel { kernel, condition, ptx_branches, ptx_branches_with_loops, .. } in kernels {
        let [written, looped] = [ptx_branches, ptx_branches_with_loops].map(usize::to_string);
        table.add_row([kernel, condition, &written, &looped]);
    }
    table
}

/// Counts of the emulator.
pub(super) fn counts(kernels: &[Kernel]) -> Table {
    let mut table = table();
    let heads = ["instructions", "branches", "diverged", "efficiency", "sectors", "least sectors"];
    table.set_header(["kernel"].into_iter().chain(heads));
    for kernel in kernels {
        table.add_row([
            kernel.kernel.clone(),
            kernel.instructions.to_string(),
            kernel.branches.to_string(),
            kernel.diverged.to_string(),
            format!("{:.0} %", kernel.efficiency),
            kernel.sectors.to_string(),
            kernel.least_sectors.to_string(),
        ]);
    }
    table
}

/// The times on a GPU.
pub(super) fn times(kernels: &[Kernel]) -> Table {
    let mut table = table();
    table.set_header(["kernel", "as written (µs)", "with loops (µs)"]);
    for Kernel { kernel, us, us_with_loops, .. } in kernels {
        if let Some((written, looped)) = us.zip(*us_with_loops) {
            let [written, looped] = [written, looped].map(|time| format!("{:.1}", time.median));
            table.add_row([kernel, &written, &looped]);
        }
    }
    table
}

/// The costs of different paths: cycles per round on a GPU, and counts.
pub(super) fn ways(report: &Divergence) -> Table {
    let costs = |dealt_to| report.paths.iter().filter(move |paths| paths.dealt_to == dealt_to);
    let to_lanes = costs(Dealt::Lanes).zip(relative(&report.paths, Dealt::Lanes));
    let to_warps = costs(Dealt::Warps).zip(relative(&report.paths, Dealt::Warps));
    let mut table = table();
    let timed = ["cycles by lanes", "paths × one", "ratio", "cycles by warps", "ratio"];
    let counted = ["loop branches by lanes", "by warps"];
    let is_timed = report.is_timed();
    let heads: &[_] = if is_timed { &timed } else { &[] };
    table.set_header([&["paths"], heads, &counted].concat());
    let one = costs(Dealt::Lanes).next().map_or(f64::NAN, cycles);
    for ((lanes, (ways, lanes_ratio)), (warps, (_, warps_ratio))) in to_lanes.zip(to_warps) {
        let timed = [
            format!("{:.1}", cycles(lanes)),
            format!("{:.1}", f64::from(ways) * one),
            format!("{:.2}", lanes_ratio.value),
            format!("{:.1}", cycles(warps)),
            format!("{:.2}", warps_ratio.value),
        ];
        let timed: &[_] = if is_timed { &timed } else { &[] };
        let counted = [lanes.loop_branches, warps.loop_branches].map(|n| n.to_string());
        table.add_row([&[ways.to_string()], timed, &counted].concat());
    }
    table
}

/// Cycles per round. NaN in the emulator.
fn cycles(paths: &Paths) -> f64 {
    paths.cycles.map_or(f64::NAN, |cycles| cycles.median)
}
