//! The JSON of the page.

use super::Results;
use crate::cli::lab::Page;
use crate::cli::output::number;
use gridsync_lab::bench::Spread;
use gridsync_lab::divergence::math::{Branches, Found};
use gridsync_lab::divergence::ways::{Cost, Deal};
use serde_json::{Value, json};

/// Adds the fields.
pub(super) fn fill(page: &mut Page, results: &Results) {
    page.json("block", results.setup.block);
    page.json("blocks", results.setup.blocks);
    page.json("compute", results.compute);
    page.json("first_launch_us", results.warm_up.map(|(first, _)| number(first)));
    let kernels = results.maths.iter().zip(&results.branches);
    page.json(
        "kernels",
        kernels.map(|(found, branches)| kernel(found, branches)).collect::<Value>(),
    );
    page.json("paths", results.costs.iter().map(paths).collect::<Value>());
}

fn kernel(found: &Found, branches: &Branches) -> Value {
    let counts = found.counts;
    json!({
        "kernel": found.math.name,
        "condition": found.math.condition,
        "ptx_branches": branches.written,
        "ptx_branches_with_loops": branches.looped,
        "instructions": counts.instructions,
        "branches": counts.branches,
        "diverged": counts.diverged_branches,
        "efficiency": number(found.efficiency()),
        "sectors": counts.sectors,
        "least_sectors": counts.least_sectors,
        "counted_by_warps": { "branches": found.counted[0], "diverged": found.counted[1] },
        "us": found.times.map(|times| spread(&times.written)),
        "us_with_loops": found.times.map(|times| spread(&times.looped)),
    })
}

fn paths(cost: &Cost) -> Value {
    json!({
        "paths": cost.ways,
        "dealt_to": match cost.deal {
            Deal::Lanes => "lanes",
            Deal::Warps => "warps",
        },
        "loop_branches": number(cost.instructions),
        "cycles": cost.cycles.as_ref().map(spread),
    })
}

fn spread(spread: &Spread) -> Value {
    json!({
        "median": number(spread.median),
        "min": number(spread.min),
        "max": number(spread.max),
        "samples": spread.samples,
    })
}
