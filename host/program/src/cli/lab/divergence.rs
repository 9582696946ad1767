//! `gridsync lab divergence`: divergent branches within a warp, and their cost.

mod json;
mod tables;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::Global;
use crate::cli::progress::progress;
use anyhow::Context;
use gridsync::device::Device;
use gridsync::device::cuda::Modules;
use gridsync_lab::count::within;
use gridsync_lab::display::svg::{ChartError, Lines, Role, Series};
use gridsync_lab::divergence::math::{self, Branches, MATH, Setup, Times};
use gridsync_lab::divergence::ways::{self, Cost, Deal, WAYS};
use gridsync_lab::images::LAB;
use std::path::{Path, PathBuf};

/// Count the branches on which the lanes of a warp part, and measure what different paths cost
///
/// Short kernels write 100 or 200 for each thread, by a condition of their own. The page shows
/// which of them have a branch at all, how many of their branches diverge, and how long they take.
/// Then the lanes of a warp take up to 32 different paths. The emulator counts. On a GPU the warps
/// count too, and everything is timed.
#[derive(clap::Args)]
pub(super) struct Divergence {
    /// Threads of a block.
    #[arg(long, default_value = "64", value_name = "B", value_parser = within::<u32>(1..=1024))]
    block: u32,
    /// Elements that each short kernel writes, rounded up to whole blocks.
    #[arg(long, default_value = "2^16", value_name = "N", value_parser = within::<u32>(1..=1 << 20))]
    size: u32,
    /// Write divergence.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// All results.
struct Results {
    device: String,
    setup: Setup,
    /// The compute capability for which the PTX was built.
    compute: u32,
    branches: Vec<Branches>,
    maths: Vec<math::Found>,
    /// Microseconds of the first launch, and of a later one.
    warm_up: Option<(f64, f64)>,
    costs: Vec<Cost>,
}

impl Experiment for Divergence {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["divergence.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let results = results(global, device, Setup::of(self.block, self.size))?;
        let mut page = page(&results);
        page.file("divergence.svg", chart(&results))?;
        Ok(page.found(global))
    }
}

fn results(global: &Global, device: &Device, setup: Setup) -> anyhow::Result<Results> {
    let properties = device.properties();
    // The emulator has no compute capability: show the PTX for the oldest GPUs.
    let modules = Modules::of(&LAB, properties.compute.max(75))?;
    let branches = MATH.iter().map(|math| math.branches(&modules));
    let branches = branches
        .collect::<Result<Option<Vec<_>>, _>>()?
        .context("the PTX has no divergence kernels: run cargo xtask build-kernels")?;

    let bar = progress(global, MATH.len() + 2 * WAYS.len());
    let warm_up = match properties.is_emulated() {
        true => None,
        false => Some(math::warm_up(device, setup)?),
    };
    bar.set_message("branches");
    let mut maths = Vec::new();
    for math in MATH {
        maths.push(math.find(device, setup)?);
        bar.inc(1);
    }
    bar.set_message("different paths");
    let costs = ways::costs(device, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(Results {
        device: properties.name.clone(),
        setup,
        compute: if properties.compute < 90 { 75 } else { 90 },
        branches,
        maths,
        warm_up: warm_up.map(|(first, later)| (first, later.median)),
        costs,
    })
}

fn page(results: &Results) -> Page {
    let Results { device, setup: Setup { block, blocks }, compute, .. } = results;
    let threads = results.setup.threads();
    let mut page = Page::new(
        device,
        format!(
            "What happens if the lanes of a warp take different branches? {threads} threads write \
             100 if a condition holds and else 200, in {blocks} blocks of {block} on {device}. In a \
             second form of each kernel the two values are computed by loops."
        ),
    );
    page.table(
        &format!("Branch instructions in the PTX for compute_{compute}"),
        &tables::branches(results),
    );
    page.table(
        "Counted by the emulator: instructions of a warp, and 32-byte sectors",
        &tables::counts(results),
    );
    if results.warm_up.is_some() {
        let what = format!("Times of a launch, with {} multiply-adds in each loop", Times::STEPS);
        page.table(&what, &tables::times(results));
    }
    page.table(
        &format!("The cost of different paths in a block of {} threads", ways::THREADS),
        &tables::ways(results),
    );
    for paragraph in meaning(results) {
        page.means(paragraph);
    }
    if let Some(wrong) = wrong(results) {
        page.wrong(wrong);
    }
    json::fill(&mut page, results);
    page
}

fn meaning(results: &Results) -> Vec<String> {
    let mut meaning = vec![
        "Predication: as written, no kernel has a branch. Each arm is one value, so the compiler \
         lets every lane select one of the two (selp). Code without a branch cannot diverge, so \
         a profiler tells 100 % for it. With loops in the arms the branch stays, and each loop has \
         one more."
            .to_owned(),
        "Branch efficiency is 100·(branches − diverged) / branches. Here the branches are those of \
         the ifs in the source. A profiler also counts the branches of loops and other branches \
         that do not diverge, so it tells more than 0 % for math1."
            .to_owned(),
        "Two ifs: an if/else is one branch of a warp. Two ifs are two branches, and both diverge: \
         twice as many diverged branches for the same result."
            .to_owned(),
        "math4: C reads tid >> 5 & 1 == 0 as (tid >> 5) & (1 == 0), because == binds tighter than \
         & there. That is always false: every element gets 200, and no branch is left to diverge. \
         In Rust == binds weaker than & and >>, so the same text means ((tid >> 5) & 1) == 0."
            .to_owned(),
        "A warp that diverges runs the paths of its lanes one after the other: w paths of the same \
         length take w times as long as one. The same paths cost hardly more than one if all \
         lanes of a warp take the same one. So divergence costs where both arms are long. Then it helps to \
         branch on something that is the same for 32 neighbours, or to sort the work by its path."
            .to_owned(),
    ];
    let math2 = results.maths.iter().find(|found| found.math.name == "math2");
    if math2.is_some_and(|found| found.counts.diverged_branches > 0) {
        meaning.push(format!(
            "Blocks of {} threads are no whole warps: each block begins with a new warp, so tid / 32 \
             is not the number of a warp. That is why math2 and math4 diverge here.",
            results.setup.block
        ));
    }
    if let Some((first, later)) = results.warm_up {
        meaning.push(format!(
            "The first launch of this process took {first:.0} µs, and the same launch later \
             {later:.1} µs: the driver compiles a kernel when it is first needed. So each kernel is \
             launched before it is timed."
        ));
    }
    meaning
}

/// The first error.
fn wrong(results: &Results) -> Option<String> {
    for (found, branches) in results.maths.iter().zip(&results.branches) {
        let name = found.math.name;
        if found.wrong > 0 {
            return Some(format!("{name} wrote {} wrong elements", found.wrong));
        }
        if !found.agrees() {
            let [branches, diverged] = found.counted;
            return Some(format!(
                "the warps of {name} counted {branches} branches, {diverged} of them diverged, and \
                 the emulator counted {} and {}",
                found.counts.branches, found.counts.diverged_branches
            ));
        }
        if branches.written > 0 || branches.looped == 0 {
            return Some(format!(
                "{name} should have branch instructions in its second form only, and has {} and {}",
                branches.written, branches.looped
            ));
        }
    }
    let cost = results.costs.iter().find(|cost| cost.wrong > 0)?;
    Some(format!("{} threads got a wrong result on {} paths", cost.wrong, cost.ways))
}

/// The cost of each number of ways, relative to that of one way: cycles, or counts of the emulator.
fn relative(costs: &[Cost], deal: Deal) -> Vec<(u32, f64)> {
    let measured = |cost: &Cost| cost.cycles.map_or(cost.instructions, |cycles| cycles.median);
    let costs: Vec<_> = costs.iter().filter(|cost| cost.deal == deal).collect();
    let one = costs.first().map_or(f64::NAN, |cost| measured(cost));
    costs.into_iter().map(|cost| (cost.ways, measured(cost) / one)).collect()
}

fn chart(results: &Results) -> Result<String, ChartError> {
    let is_timed = results.costs.iter().all(|cost| cost.cycles.is_some());
    let what = if is_timed { "cycles" } else { "instructions of a warp" };
    let series = |name: &str, deal| {
        let points = relative(&results.costs, deal);
        Series::new(name, points.into_iter().map(|(x, y)| (f64::from(x), y)))
    };
    let linear = WAYS.map(|ways| (f64::from(ways), f64::from(ways)));
    Lines {
        title: format!("Different paths on {}", results.device),
        x_label: "different paths".into(),
        y_label: format!("{what}, relative to one path"),
        log2_x: true,
        series: vec![
            // The measured points are drawn over the expected line.
            Series::new(Role::Roof.named("paths × one path"), linear),
            series("dealt to lanes", Deal::Lanes),
            series("dealt to warps", Deal::Warps),
        ],
    }
    .svg()
}

#[cfg(test)]
mod tests;
