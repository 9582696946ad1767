//! `show-ptx`: the PTX of one kernel as passed to the driver, or its machine code from ptxas.

use std::fs;
use std::io::{self, Write as _};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use ptx_image::Modules;

use crate::audit::ptxas;
use crate::outcome::Outcome;
use crate::sets::{TARGETS, modules, read_all};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel
    kernel: String,

    /// The compute capability of the device
    #[arg(long, default_value_t = TARGETS[TARGETS.len() - 1].capability())]
    compute: u32,

    /// The machine code for that device instead, by ptxas and nvdisasm
    #[arg(long)]
    sass: bool,
}

/// The number of similar names that are suggested for an unknown kernel.
const OFFERED: usize = 3;

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let text = show(args)?;
    match io::stdout().write_all(text.as_bytes()) {
        // The reader closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        done => done?,
    }
    Ok(Outcome::Passed)
}

fn show(args: &Args) -> Result<String> {
    let images = read_all()?;
    let modules = modules(&images, args.compute)?;
    let Some(module) = modules.module(&args.kernel)? else {
        bail!("{}", missing(&args.kernel, args.compute, &modules));
    };
    if args.sass { machine_code(&module.text, args.compute) } else { Ok(module.text) }
}

/// The error for an unknown kernel.
fn missing(kernel: &str, compute: u32, modules: &Modules<'_>) -> String {
    let mut names: Vec<&str> = modules.kernels().collect();
    names.sort_by_key(|name| distance(kernel, name));
    names.truncate(OFFERED);
    match names.as_slice() {
        [] => format!("no image runs on compute capability {compute}"),
        names => format!(
            "there is no kernel `{kernel}` for compute capability {compute}; the nearest names are {}",
            names.join(", ")
        ),
    }
}

/// The number of letters to add, remove or replace to turn one word into the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    // The distances from the part of `one` read so far to each prefix of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

fn machine_code(ptx: &str, gpu: u32) -> Result<String> {
    let tools = ptxas::find().map(|ptxas| (ptxas.with_file_name("nvdisasm"), ptxas));
    let Some((nvdisasm, ptxas)) = tools.filter(|(nvdisasm, _)| nvdisasm.is_file()) else {
        bail!(
            "no ptxas with an nvdisasm next to it. Get both: `python3 -m venv target/cuda-tools && \
             target/cuda-tools/bin/pip install --no-deps nvidia-cuda-nvcc nvidia-cuda-nvdisasm`, \
             or set PTXAS to the program or GRIDSYNC_CUDA_TOOLS to such a venv"
        );
    };
    let dir = tempfile::tempdir()?;
    let [source, cubin] = ["kernel.ptx", "kernel.cubin"].map(|name| dir.path().join(name));
    fs::write(&source, ptx)?;
    let arch = format!("-arch=sm_{gpu}");
    let option = ptxas::to_be_linked(ptx);
    said(Command::new(&ptxas).args(option).args([&arch, "-o"]).args([&cubin, &source]))?;
    said(Command::new(&nvdisasm).arg("-c").arg(&cubin))
}

/// The output of a tool. If it fails, the error quotes it.
fn said(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", errors.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kernel: &str, compute: u32, sass: bool) -> Result<String> {
        let kernel = kernel.into();
        show(&Args { kernel, compute, sass })
    }

    #[test]
    fn the_module_is_from_the_newest_image_that_the_device_runs() {
        for (compute, target) in [(75, 75), (89, 75), (90, 90), (120, 90)] {
            let text = shown("reduce_sum_f32", compute, false).unwrap();
            assert!(text.contains(&format!(".target sm_{target}\n")), "{compute}");
            assert!(text.contains(".visible .entry reduce_sum_f32("));
            assert_eq!(text.matches(".entry ").count(), 1);
        }
    }

    #[test]
    fn the_machine_code_is_for_the_given_device() {
        let said = shown("barrier_only", 90, true);
        match said {
            Ok(text) => {
                assert!(text.contains(".text.barrier_only:") && text.contains("EXIT"), "{text}")
            }
            Err(error) if error.to_string().starts_with("no ptxas") => {
                writeln!(io::stderr(), "SKIPPED: {error}").unwrap();
            }
            Err(error) => panic!("{error:#}"),
        }
    }

    #[test]
    fn an_unknown_kernel_suggests_the_nearest_names() {
        let error = shown("reduce_sum_f23", 90, false).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1);
        assert!(error.contains("`reduce_sum_f23`") && error.contains("reduce_sum_f32"), "{error}");
        let error = shown("barrier_only", 70, false).unwrap_err().to_string();
        assert_eq!(error, "no image runs on compute capability 70");
    }

    #[test]
    fn the_distance_counts_changed_letters() {
        for (one, other, letters) in [
            ("", "", 0),
            ("", "ab", 2),
            ("sum", "sums", 1),
            ("min", "max", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
            assert_eq!(distance(other, one), letters, "{other} {one}");
        }
    }
}
