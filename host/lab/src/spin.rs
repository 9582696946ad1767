//! The spin loop that the compiler deletes: its output for four ways to wait for a word.
//!
//! The answer is in the built PTX, so no device is needed.

use super::ptx::{Body, is_load};
use cuda_std::launch::Kernel;
use gridsync::device::cuda::{ImageError, Modules};
use gridsync_lab_kernels::spin::{spin_acquire, spin_asm, spin_naive, spin_volatile};

/// A way to wait until a word is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Name.
    pub name: &'static str,
    /// How it polls the word.
    pub looks_by: &'static str,
    /// Whether each iteration has to load the word again. The naive form does not require that.
    pub must_load: bool,
    kernel: &'static str,
}

/// The four forms.
pub const FORMS: [Form; 4] = [
    Form { name: "naive", looks_by: "a plain load", must_load: false, kernel: spin_naive::NAME },
    Form {
        name: "volatile",
        looks_by: "a volatile load",
        must_load: true,
        kernel: spin_volatile::NAME,
    },
    Form {
        name: "asm",
        looks_by: "a relaxed load, the whole loop one block of inline PTX",
        must_load: true,
        kernel: spin_asm::NAME,
    },
    Form {
        name: "acquire",
        looks_by: "an acquire load of the device's scope",
        must_load: true,
        kernel: spin_acquire::NAME,
    },
];

/// Compiler output for a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled<'a> {
    /// The form.
    pub form: Form,
    /// The labels and instructions from the first load of the word to the end of the kernel.
    pub ptx: Vec<&'a str>,
    /// Whether any instruction is in a loop.
    pub has_loop: bool,
    /// Number of load instructions in a loop.
    pub loads_in_loop: usize,
}

/// The PTX of the modules that have kernels of the forms, concatenated.
///
/// # Errors
/// If an image cannot be read.
pub fn ptx(modules: &Modules<'_>) -> Result<String, ImageError> {
    let mut text = String::new();
    for form in FORMS {
        let module = modules.module(form.kernel)?;
        text += &module.map_or_else(String::new, |module| module.text);
    }
    Ok(text)
}

impl Form {
    /// Compiler output for the form, from the kernels in `ptx`. `None` if its kernel is missing.
    #[must_use]
    pub fn compiled(self, ptx: &str) -> Option<Compiled<'_>> {
        let body = Body::of(ptx, self.kernel)?;
        let lines = body.lines();
        let looped: Vec<bool> = (0..lines.len()).map(|at| body.is_looped(at)).collect();
        let first = (0..lines.len()).find(|&at| looped[at] || is_load(lines[at]));
        Some(Compiled {
            form: self,
            ptx: lines[first.unwrap_or(0)..].to_vec(),
            has_loop: looped.contains(&true),
            loads_in_loop: body.looped().filter(|line| is_load(line)).count(),
        })
    }
}

impl Compiled<'_> {
    /// Whether every iteration of the loop loads the word.
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.loads_in_loop > 0
    }

    /// What happened to the loop, in one line.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match (self.waits(), self.has_loop) {
            (true, _) => "The loop is there, and each turn loads the word anew.",
            (false, true) => {
                "The load has left the loop: a word that is not 0 at first is waited for forever."
            }
            (false, false) => "The loop is gone: nothing is waited for.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::LAB;

    #[test]
    fn only_the_naive_form_loses_its_load() {
        for compute in [75, 90] {
            let modules = Modules::of(&LAB, compute).expect("whole images");
            let ptx = ptx(&modules).expect("whole images");
            for form in FORMS {
                let compiled = form.compiled(&ptx).expect("the kernel is built");
                assert_eq!(compiled.waits(), form.must_load, "{compiled:?}");
                assert!(compiled.ptx.iter().any(|line| is_load(line)), "{compiled:?}");
                assert_eq!(compiled.ptx.last(), Some(&"ret;"), "{compiled:?}");
            }
        }
    }

    #[test]
    fn a_missing_kernel_is_not_a_lost_loop() {
        assert_eq!(FORMS[0].compiled(".version 7.4\n"), None);
    }
}
