//! `gridsync lab`: the experiments.

use super::exit::{Usage, Wrong};
use super::ladder::{Ladder, Scans};
use super::launches::Launches;
use super::progress::progress;
use super::stress::Stress;
use super::{Global, output};
use crate::images::LAB;
use crate::lab::fences::{self, Cost, STORES};
use crate::lab::spin::{self, Compiled, FORMS};
use crate::report::table;
use anyhow::Context;
use clap::Subcommand;
use gridsync::device::cuda::{Modules, PtxImage};
use serde_json::{Value, json};

/// Look closely at one thing: what a compiler makes of it, what it costs, or what breaks it
#[derive(clap::Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Spin(Spin),
    Fences(Fences),
    Ladder(Ladder),
    Scans(Scans),
    #[command(visible_alias = "mkl")]
    Launches(Launches),
    Stress(Stress),
}

impl Lab {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.experiment {
            Experiment::Spin(spin) => spin.run(global),
            Experiment::Fences(fences) => fences.run(global),
            Experiment::Ladder(ladder) => ladder.run(global),
            Experiment::Scans(scans) => scans.run(global),
            Experiment::Launches(launches) => launches.run(global),
            Experiment::Stress(stress) => stress.run(global),
        }
    }
}

/// Show what the compiler makes of four ways to wait for a word, in the built PTX
///
/// A loop around a plain load need not load again: nothing tells the compiler that another thread
/// will write the word. The volatile load, the loop in inline PTX and the acquire load each load
/// the word in every turn. Needs no device.
#[derive(clap::Args)]
struct Spin {
    /// Look at the kernels built for this compute capability: 75 or 90.
    #[arg(long, default_value_t = 75, value_name = "COMPUTE")]
    arch: u32,
}

impl Spin {
    fn run(self, global: &Global) -> anyhow::Result<()> {
        let built = LAB.iter().map(PtxImage::compute);
        let built = built.collect::<Result<Vec<_>, _>>()?;
        if !built.contains(&self.arch) {
            let built: Vec<_> = built.iter().map(u32::to_string).collect();
            let (arch, built) = (self.arch, built.join(" and "));
            return Err(Usage(format!("--arch {arch}: the kernels are built for {built}")).into());
        }
        let ptx = spin::ptx(&Modules::of(&LAB, self.arch)?)?;
        let forms = FORMS
            .map(|form| form.compiled(&ptx))
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .context("the PTX has no spin kernels: run cargo xtask build-kernels")?;
        output::result(
            global,
            || spin_text(global, self.arch, &forms),
            || spin_json(self.arch, &forms),
        )?;
        let lost = forms.iter().find(|c| c.form.must_load && !c.waits());
        match lost {
            None => Ok(()),
            Some(lost) => {
                let name = lost.form.name;
                Err(Wrong(format!("the {name} form does not load in its loop")).into())
            }
        }
    }
}

fn spin_text(global: &Global, arch: u32, forms: &[Compiled<'_>]) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        parts.push(format!(
            "Waiting until a word is 0, as built for compute_{arch}, from the first look at the word on"
        ));
    }
    for compiled in forms {
        let mut part = format!("{}: {}\n", compiled.form.name, compiled.form.looks_by);
        for line in &compiled.ptx {
            let words: Vec<_> = line.split_whitespace().collect();
            let indent = if line.ends_with(':') { 4 } else { 8 };
            part += &format!("{:indent$}{}\n", "", words.join(" "));
        }
        parts.push(part + "  " + compiled.verdict());
    }
    parts.join("\n\n")
}

fn spin_json(arch: u32, forms: &[Compiled<'_>]) -> Value {
    let forms = forms.iter().map(|compiled| {
        json!({
            "form": compiled.form.name,
            "ptx": compiled.ptx.join("\n"),
            "has_loop": compiled.has_loop,
            "loads_in_loop": compiled.loads_in_loop,
        })
    });
    json!({ "arch": arch, "forms": forms.collect::<Vec<_>>() })
}

/// Measure what fences cost, idle and with stores in flight: needs a GPU
///
/// In one thread alone, and in a warp on every multiprocessor, each with lines of its own. Cycles
/// are those of the multiprocessor's counter: the slope between 200 and 2200 rounds, the median of
/// 7, less the slope of the stores alone. Nanoseconds come from the clock, which is measured too:
/// cycles over the time between events.
#[derive(clap::Args)]
struct Fences {}

/// The costs in one grid.
struct Grid {
    what: &'static str,
    blocks: u32,
    threads: u32,
    costs: Vec<Cost>,
}

impl Fences {
    fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.gpu("lab fences")?;
        let bar = progress(global, 2 * fences::STEPS);
        let mhz = fences::clock_mhz(&device)?;
        let all = device.properties().multiprocessors;
        let measure = |what, blocks, threads| -> anyhow::Result<Grid> {
            bar.set_message(what);
            Ok(Grid {
                what,
                blocks,
                threads,
                costs: fences::costs(&device, (blocks, threads), || bar.inc(1))?,
            })
        };
        let grids =
            [measure("one thread", 1, 1)?, measure("a warp on every multiprocessor", all, 32)?];
        bar.finish_and_clear();
        let name = &device.properties().name;
        output::result(
            global,
            || fences_text(global, name, mhz, &grids),
            || fences_json(name, mhz, &grids),
        )
    }
}

/// Converts cycles to nanoseconds.
fn nanoseconds(cycles: f64, mhz: f64) -> f64 {
    cycles * 1e3 / mhz
}

fn fences_text(global: &Global, device: &str, mhz: f64, grids: &[Grid]) -> String {
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

fn fences_json(device: &str, mhz: f64, grids: &[Grid]) -> Value {
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
