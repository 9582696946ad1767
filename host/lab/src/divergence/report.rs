//! The result of `gridsync lab divergence`.

use super::math::TIMED_STEPS;
use super::ways::THREADS;
use super::{Dealt, Kernel, Paths, chart, meaning, tables};
use crate::display::Page;
use crate::display::svg::{ChartError, Estimate};
use crate::{Chart, Report, Samples};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab divergence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Divergence {
    /// The name of the device.
    pub device: String,
    /// Threads of a block.
    pub block: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// The compute capability for which the PTX was built: 10 × major + minor.
    pub compute: u32,
    /// Microseconds of the first launch of the process. Null in the emulator.
    pub first_launch_us: Option<f64>,
    /// The short kernels.
    pub kernels: Vec<Kernel>,
    /// The cost of each number of paths, dealt to lanes and to warps.
    pub paths: Vec<Paths>,
    /// Microseconds of the same launch later.
    #[serde(skip)]
    pub later_launch_us: Option<f64>,
}

impl Divergence {
    /// Whether the paths were timed.
    pub(super) fn is_timed(&self) -> bool {
        self.paths.iter().all(|paths| paths.cycles.is_some())
    }

    /// The first error.
    fn wrong(&self) -> Option<String> {
        for kernel in &self.kernels {
            let Kernel { kernel: name, branches, diverged, wrong, .. } = kernel;
            if *wrong > 0 {
                return Some(format!("{name} wrote {wrong} wrong elements"));
            }
            if !kernel.agrees() {
                let counted = kernel.counted_by_warps;
                return Some(format!(
                    "the warps of {name} counted {} branches, {} of them diverged, and the emulator \
                     counted {branches} and {diverged}",
                    counted.branches, counted.diverged
                ));
            }
            let (written, looped) = (kernel.ptx_branches, kernel.ptx_branches_with_loops);
            if written > 0 || looped == 0 {
                return Some(format!(
                    "{name} should have branch instructions in its second form only, and has \
                     {written} and {looped}"
                ));
            }
        }
        let paths = self.paths.iter().find(|paths| paths.wrong > 0)?;
        Some(format!("{} threads got a wrong result on {} paths", paths.wrong, paths.paths))
    }
}

impl Report for Divergence {
    fn page(&self) -> Page {
        let Self { device, block, blocks, compute, .. } = self;
        let threads = block * blocks;
        let mut page = Page::new(format!(
            "What happens if the lanes of a warp take different branches? {threads} threads write \
             100 if a condition holds and else 200, in {blocks} blocks of {block} on {device}. In a \
             second form of each kernel the two values are computed by loops."
        ));
        page.table(
            &format!("Branch instructions in the PTX for compute_{compute}"),
            &tables::branches(&self.kernels),
        );
        page.table(
            "Counted by the emulator: instructions of a warp, and 32-byte sectors",
            &tables::counts(&self.kernels),
        );
        if self.first_launch_us.is_some() {
            let what = format!("Times of a launch, with {TIMED_STEPS} multiply-adds in each loop");
            page.table(&what, &tables::times(&self.kernels));
        }
        page.table(
            &format!("The cost of different paths in a block of {THREADS} threads"),
            &tables::ways(self),
        );
        for paragraph in meaning::paragraphs(self) {
            page.means(paragraph);
        }
        if let Some(wrong) = self.wrong() {
            page.wrong(wrong);
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        Ok(vec![chart::paths(self)?])
    }
}

/// The cost of each number of paths, relative to that of one path: cycles, or counts of the
/// emulator.
pub(super) fn relative(paths: &[Paths], dealt_to: Dealt) -> Vec<(u32, Estimate)> {
    let cost = |paths: &Paths| match &paths.cycles {
        Some(cycles) => Samples::estimate(cycles),
        None => paths.loop_branches.into(),
    };
    let costs: Vec<_> = paths.iter().filter(|paths| paths.dealt_to == dealt_to).collect();
    let one = costs.first().map_or(f64::NAN, |paths| cost(paths).value);
    costs.into_iter().map(|paths| (paths.paths, cost(paths).map(|cost| cost / one))).collect()
}
