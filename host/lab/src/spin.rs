//! `gridsync lab spin`: the spin loop that the compiler deletes.
//!
//! The answer is in the built PTX, so no device is needed.

use super::ptx::{Body, is_load};
use crate::display::Page;
use crate::images::LAB;
use crate::{Experiment, ExperimentError, RunsOn};
use cuda_std::launch::Kernel;
use gridsync::device::cuda::{ImageError, Modules, PtxImage};
use gridsync::device::{Device, DeviceError};
use gridsync_lab_kernels::spin::{spin_acquire, spin_asm, spin_naive, spin_volatile};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

/// Show what the compiler makes of four ways to wait for a word, in the built PTX
///
/// A loop around a plain load need not load again: nothing tells the compiler that another thread
/// will write the word. The volatile load, the loop in inline PTX and the acquire load each load
/// the word in every turn. Needs no device.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Look at the kernels built for this compute capability: 75 or 90.
    #[arg(long, default_value_t = 75, value_name = "COMPUTE")]
    arch: u32,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Nothing;

    type Report = Report;

    fn run(&self, _device: &Device, _bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let Self { arch } = *self;
        let built = LAB.iter().map(PtxImage::compute).collect::<Result<Vec<_>, _>>();
        let built = built.map_err(DeviceError::from)?;
        if !built.contains(&arch) {
            let built: Vec<_> = built.iter().map(u32::to_string).collect();
            let built = built.join(" and ");
            return Err(ExperimentError::Usage(format!(
                "--arch {arch}: the kernels are built for {built}"
            )));
        }
        let modules = Modules::of(&LAB, arch).map_err(DeviceError::from)?;
        let compiled = |form: Form| {
            let missing = DeviceError::UnknownKernel { name: form.kernel(), image: arch };
            form.compiled(&modules)?.ok_or(missing)
        };
        let forms = Form::ALL.into_iter().map(compiled).collect::<Result<_, _>>()?;
        Ok(Report { arch, forms })
    }
}

/// A way to wait until a word is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Form {
    /// A plain load, which need not be repeated.
    Naive,
    /// A volatile load.
    Volatile,
    /// A relaxed load, in inline PTX.
    Asm,
    /// An acquire load.
    Acquire,
}

/// The result of `gridsync lab spin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Report {
    /// The compute capability for which the PTX was built: 10 · major + minor.
    pub arch: u32,
    /// The four forms.
    pub forms: Vec<Compiled>,
}

/// Compiler output for a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Compiled {
    /// The form.
    pub form: Form,
    /// The labels and instructions from the first load of the word to the end of the kernel, one a
    /// line.
    pub ptx: String,
    /// Whether any instruction is in a loop.
    pub has_loop: bool,
    /// Number of load instructions in a loop.
    pub loads_in_loop: usize,
}

impl Form {
    /// The four forms.
    pub const ALL: [Self; 4] = [Self::Naive, Self::Volatile, Self::Asm, Self::Acquire];

    const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Volatile => "volatile",
            Self::Asm => "asm",
            Self::Acquire => "acquire",
        }
    }

    const fn kernel(self) -> &'static str {
        match self {
            Self::Naive => spin_naive::NAME,
            Self::Volatile => spin_volatile::NAME,
            Self::Asm => spin_asm::NAME,
            Self::Acquire => spin_acquire::NAME,
        }
    }

    /// How it polls the word.
    const fn polls_by(self) -> &'static str {
        match self {
            Self::Naive => "a plain load",
            Self::Volatile => "a volatile load",
            Self::Asm => "a relaxed load, the whole loop one block of inline PTX",
            Self::Acquire => "an acquire load of the device's scope",
        }
    }

    /// Compiler output for the form. `None` if its kernel is missing.
    fn compiled(self, modules: &Modules<'_>) -> Result<Option<Compiled>, ImageError> {
        let body = Body::of(modules, self.kernel())?;
        Ok(body.map(|body| {
            let all = body.instructions();
            let first = (0..all.len()).find(|&at| body.is_looped(at) || is_load(&all[at]));
            Compiled {
                form: self,
                ptx: body.listing(first.unwrap_or(0)),
                has_loop: body.looped().next().is_some(),
                loads_in_loop: body.looped().filter(|instruction| is_load(instruction)).count(),
            }
        }))
    }
}

impl Compiled {
    /// Whether every iteration of the loop loads the word.
    const fn waits(&self) -> bool {
        self.loads_in_loop > 0
    }

    /// What happened to the loop, in one line.
    const fn verdict(&self) -> &'static str {
        match (self.waits(), self.has_loop) {
            (true, _) => "The loop is there, and each turn loads the word anew.",
            (false, true) => {
                "The load has left the loop: a word that is not 0 at first is waited for forever."
            }
            (false, false) => "The loop is gone: nothing is waited for.",
        }
    }
}

impl crate::Report for Report {
    fn page(&self) -> Page {
        let mut page = Page::new(format!(
            "Does a loop that waits until a word is 0 look at the word again? As built for \
             compute_{}, from the first look at the word on.",
            self.arch
        ));
        for compiled in &self.forms {
            let form = compiled.form;
            let mut lines = String::new();
            for line in compiled.ptx.lines() {
                let words: Vec<_> = line.split_whitespace().collect();
                let indent = if line.ends_with(':') { 4 } else { 8 };
                lines += &format!("{:indent$}{}\n", "", words.join(" "));
            }
            let title = format!("{}: {}", form.name(), form.polls_by());
            page.drawing(&title, &format!("{lines}  {}", compiled.verdict()));
            if form != Form::Naive && !compiled.waits() {
                page.wrong(format!("the {} form does not load in its loop", form.name()));
            }
        }
        page.means(
            "The compiler may assume that nobody else writes what a plain load reads. So it loads \
             once, and what is left is a loop that never ends, or none. A volatile load is one \
             that may not be left out. But it orders nothing else: to read what another thread has \
             written before it changed the word, take the acquire load (PTX ISA, \"Memory \
             Consistency Model\").",
        );
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_naive_form_loses_its_load() {
        for compute in [75, 90] {
            let modules = Modules::of(&LAB, compute).expect("whole images");
            for form in Form::ALL {
                let compiled = form.compiled(&modules).expect("whole images");
                let compiled = compiled.expect("the kernel is built");
                assert_eq!(compiled.waits(), form != Form::Naive, "{compiled:?}");
                let is_load = |line: &str| line.starts_with("ld.") && line.contains(".global");
                assert!(compiled.ptx.lines().any(is_load), "{compiled:?}");
                assert_eq!(compiled.ptx.lines().last(), Some("ret;"), "{compiled:?}");
            }
        }
    }

    #[test]
    fn a_missing_kernel_is_not_a_lost_loop() {
        let modules = Modules::of(&[], 75).expect("nothing is damaged");
        assert_eq!(Form::Naive.compiled(&modules), Ok(None));
    }
}
