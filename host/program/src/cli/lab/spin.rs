//! `gridsync lab spin`: what the compiler makes of a spin loop.

use super::found::wrapped;
use super::{Experiment, Found, RunsOn};
use crate::cli::Global;
use crate::cli::exit::Usage;
use anyhow::Context;
use gridsync::device::Device;
use gridsync::device::cuda::{Modules, PtxImage};
use gridsync_lab::images::LAB;
use gridsync_lab::spin::{self, Compiled, FORMS};
use serde_json::{Value, json};

/// Show what the compiler makes of four ways to wait for a word, in the built PTX
///
/// A loop around a plain load need not load again: nothing tells the compiler that another thread
/// will write the word. The volatile load, the loop in inline PTX and the acquire load each load
/// the word in every turn. Needs no device.
#[derive(clap::Args)]
pub(super) struct Spin {
    /// Look at the kernels built for this compute capability: 75 or 90.
    #[arg(long, default_value_t = 75, value_name = "COMPUTE")]
    arch: u32,
}

impl Experiment for Spin {
    const RUNS_ON: RunsOn = RunsOn::Nothing;

    fn find(&self, global: &Global, _device: &Device) -> anyhow::Result<Found> {
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
        let lost = forms.iter().find(|form| form.form.must_load && !form.waits());
        Ok(Found {
            text: text(global, self.arch, &forms),
            json: as_json(self.arch, &forms),
            wrong: lost
                .map(|lost| format!("the {} form does not load in its loop", lost.form.name)),
            ..Found::default()
        })
    }
}

fn text(global: &Global, arch: u32, forms: &[Compiled<'_>]) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        parts.push(wrapped(&format!(
            "Does a loop that waits until a word is 0 look at the word again? As built for \
             compute_{arch}, from the first look at the word on."
        )));
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
    if !global.quiet {
        parts.push(wrapped(
            "The compiler may assume that nobody else writes what a plain load reads. So it loads \
             once, and what is left is a loop that never ends, or none. A volatile load is one that \
             may not be left out. But it orders nothing else: to read what another thread has \
             written before it changed the word, take the acquire load (PTX ISA, \"Memory \
             Consistency Model\").",
        ));
    }
    parts.join("\n\n")
}

fn as_json(arch: u32, forms: &[Compiled<'_>]) -> Value {
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
