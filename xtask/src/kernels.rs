//! `build-kernels`: from `kernels/` to the PTX in `host/ptx`, and whether the two still agree.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::{Arch, Built, Compiler, CudaBuilder, Header, fingerprint};

use crate::outcome::Outcome;
use crate::workspace::{ptx_dir, root};

/// The sources of the kernels, whose fingerprint the header of each PTX file carries. The flags of `cuda_builder`, the
/// compiler and the `half` crate decide on the PTX too: a change of those only a build shows.
const SOURCES: [&str; 3] = ["kernels", "toolchain/cuda_std", "toolchain/cuda_std_macros"];

/// What is committed: everything since Turing, and what Hopper adds.
const TARGETS: [Arch; 2] = [Arch::Compute75, Arch::Compute90];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; compare with the committed PTX byte by byte
    #[arg(long)]
    check: bool,

    /// The targets, as compute capabilities
    #[arg(long, value_delimiter = ',', default_values_t = TARGETS, value_name = "CAPABILITY")]
    arch: Vec<Arch>,
}

impl Args {
    /// A check of everything that is committed.
    pub(crate) fn check() -> Self {
        Self {
            check: true,
            arch: TARGETS.to_vec(),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if args.check {
        return check(&args.arch);
    }
    let compiler = Compiler::find()?;
    for &arch in &args.arch {
        let built = build(arch, &compiler, &committed(arch))?;
        ensure!(
            !built.kernels.is_empty(),
            "{} holds no kernel",
            built.ptx.display()
        );
    }
    Ok(Outcome::Passed)
}

/// Builds again into `target/` and compares. Says first what can be said without a compiler: that a file is missing,
/// or that the sources have changed since it was made.
fn check(archs: &[Arch]) -> Result<Outcome> {
    for &arch in archs {
        fresh(&committed(arch))?;
    }
    let mut skipped = Vec::new();
    for &arch in archs {
        let path = committed(arch);
        let (header, text) = read(&path)?;
        let Some(compiler) = the_same_or_another(&header.compiler)? else {
            let why = Compiler::find().err().map(|error| error.to_string());
            return Ok(Outcome::Skipped(why.unwrap_or_default()));
        };
        let again = root().join("target/kernels/check").join(name(arch));
        let built = build(arch, &compiler, &again)?;
        if built.compiler == header.compiler {
            compare(&path, &text, &fs::read_to_string(&again)?)?;
            println!("{}: the same bytes", name(arch));
        } else {
            let (mut ours, mut theirs) = (built.kernels, cuda_builder::kernels(&text));
            ours.sort();
            theirs.sort();
            ensure!(
                ours == theirs,
                "{} does not hold the kernels that {} builds",
                path.display(),
                built.compiler
            );
            skipped.push(format!(
                "{} was made by {}; only {} is here, so the bytes were not compared",
                name(arch),
                header.compiler,
                built.compiler
            ));
        }
    }
    Ok(if skipped.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(skipped.join("; "))
    })
}

fn build(arch: Arch, compiler: &Compiler, to: &Path) -> Result<Built> {
    let start = Instant::now();
    let built = CudaBuilder::new(root().join("kernels"))
        .arch(arch)
        .compiler(compiler.clone())
        .build_args(&["--locked"])
        .sources(&SOURCES)
        .copy_to(to)
        .build()
        .with_context(|| format!("building kernels/ for sm_{arch}"))?;
    for warning in &built.warnings {
        eprintln!("{warning}\n");
    }
    println!(
        "{}: {} kernels, {} KiB, {:.1} s, {}",
        to.strip_prefix(root()).unwrap_or(to).display(),
        built.kernels.len(),
        fs::metadata(&built.ptx)?.len() / 1024,
        start.elapsed().as_secs_f64(),
        built.compiler
    );
    Ok(built)
}

/// The compiler of that version, else any, else none.
fn the_same_or_another(version: &str) -> Result<Option<Compiler>> {
    let candidates = Compiler::candidates();
    for candidate in &candidates {
        if candidate.version()? == version {
            return Ok(Some(candidate.clone()));
        }
    }
    Ok(candidates.into_iter().next())
}

/// An error if the file is missing or its sources have changed since it was made.
fn fresh(path: &Path) -> Result<()> {
    let (header, _) = read(path)?;
    let now = fingerprint(&root(), &SOURCES)?;
    let then = header.sources.map(|sources| sources.sha256);
    ensure!(
        then.as_ref() == Some(&now),
        "{} is stale: made from sources {}, they are now {}; run `cargo xtask build-kernels`",
        path.display(),
        then.as_deref().unwrap_or("unknown"),
        now
    );
    Ok(())
}

fn read(path: &Path) -> Result<(Header, String)> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("{}: run `cargo xtask build-kernels`", path.display()))?;
    let header =
        Header::read(&text).with_context(|| format!("{} has no header of ours", path.display()))?;
    Ok((header, text))
}

fn compare(path: &Path, committed: &str, again: &str) -> Result<()> {
    if committed == again {
        return Ok(());
    }
    let differing = committed
        .lines()
        .zip(again.lines())
        .position(|(a, b)| a != b);
    let at = differing.unwrap_or_else(|| committed.lines().count().min(again.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end of file)").to_owned();
    bail!(
        "{} differs from what its sources give, first in line {}:\n  committed: {}\n  built:     {}\nrun `cargo xtask build-kernels`",
        path.display(),
        at + 1,
        line(committed),
        line(again)
    );
}

fn name(arch: Arch) -> String {
    format!("gridsync_compute_{arch}.ptx")
}

fn committed(arch: Arch) -> PathBuf {
    ptx_dir().join(name(arch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_ptx_is_made_from_these_sources() {
        for arch in TARGETS {
            fresh(&committed(arch)).unwrap();
        }
    }

    #[test]
    fn the_first_differing_line_is_shown() {
        let error = compare(Path::new("a.ptx"), "x\ny\nz\n", "x\nw\nz\n").unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("line 2")
                && text.contains("committed: y")
                && text.contains("built:     w"),
            "{text}"
        );
    }

    #[test]
    fn a_file_cut_short_differs() {
        let error = compare(Path::new("a.ptx"), "x\n", "x\ny\n").unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
