//! `build-kernels`: builds the packed PTX images of the kernel crates, or checks the committed
//! ones.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::{Arch, Built, Compiler, CudaBuilder, Header, fingerprint};
use ptx_image::{PtxImage, pack};

use crate::outcome::{Outcome, Say};
use crate::sets::{KernelSet, SETS, TARGETS, modules, own, whole};
use crate::workspace::root;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; compare with the committed images: their heads, and their text line by line
    #[arg(long)]
    check: bool,

    /// The targets, as compute capabilities
    #[arg(long, value_delimiter = ',', default_values_t = TARGETS, value_name = "CAPABILITY")]
    arch: Vec<Arch>,

    /// The sets of kernels: all without this option
    #[arg(long, value_delimiter = ',', value_name = "SET", value_parser = SETS.map(|set| set.name))]
    sets: Vec<String>,
}

impl Args {
    /// Checks all committed images. All are built again if `thorough`. Otherwise only the smallest is:
    /// its text shows changes of the compiler, its flags and other crates. A fingerprint shows changes
    /// of the sources.
    pub(crate) fn check(thorough: bool) -> Self {
        if thorough {
            return Self { check: true, arch: TARGETS.to_vec(), sets: Vec::new() };
        }
        let ([.., set], [.., arch]) = (SETS, TARGETS);
        Self { check: true, arch: vec![arch], sets: vec![set.name.into()] }
    }

    /// The sets of kernels that are built.
    fn built(&self) -> impl Iterator<Item = &'static KernelSet> {
        let wanted = |set: &&KernelSet| {
            self.sets.is_empty() || self.sets.iter().any(|name| name == set.name)
        };
        SETS.iter().filter(wanted)
    }
}

pub(crate) fn run(args: &Args, say: Say<'_>) -> Result<Outcome> {
    if args.check {
        return check(args, say);
    }
    let compiler = Compiler::find()?;
    for set in args.built() {
        let built = at_once(&args.arch, |arch| build(set, arch, &compiler, say));
        for (&arch, built) in args.arch.iter().zip(built) {
            let (built, text) = built?;
            ensure!(!built.kernels.is_empty(), "{} has no kernel", built.ptx.display());
            write(&set.image(arch), &pack(&text)?)?;
        }
    }
    Ok(Outcome::Passed)
}

/// Rebuilds and compares. Before that, it checks everything that does not need a compiler: that
/// each file exists and that its sources have not changed since.
///
/// It compares the unpacked text. Another version of the compression library changes the bytes of
/// an image, but nothing that matters.
fn check(args: &Args, say: Say<'_>) -> Result<Outcome> {
    for set in &SETS {
        for arch in TARGETS {
            fresh(set, arch)?;
        }
    }
    if let Err(why) = Compiler::find() {
        return Ok(Outcome::Skipped(why.to_string()));
    }
    let mut skipped = Vec::new();
    let mut compared = Vec::new();
    for set in args.built() {
        let committed = set.read()?;
        let rebuilt = at_once(&args.arch, |arch| rebuild(set, arch, &committed, say));
        for (&arch, outcome) in args.arch.iter().zip(rebuilt) {
            match outcome? {
                Outcome::Skipped(why) => skipped.push(why),
                Outcome::Passed | Outcome::PassedAs(_) => {
                    let name = set.image_name(arch);
                    say(&format!("{name}: the same text"));
                    compared.push(name);
                }
            }
        }
    }
    if !skipped.is_empty() {
        return Ok(Outcome::Skipped(skipped.join("; ")));
    }
    Ok(if compared.len() == SETS.len() * TARGETS.len() {
        Outcome::Passed
    } else {
        let which = compared.join(", ");
        Outcome::PassedAs(format!(
            "only {which} was built again, and the sources of all images were compared; --thorough builds all"
        ))
    })
}

/// Runs `each` for all targets at the same time: the kernel compiler uses one core.
fn at_once<T: Send>(archs: &[Arch], each: impl Fn(Arch) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = archs.iter().map(|&arch| scope.spawn(move || each(arch))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a build should not panic")).collect()
    })
}

/// Rebuilds an image and compares it with the one in `committed`.
fn rebuild(set: &KernelSet, arch: Arch, committed: &[Vec<u8>], say: Say<'_>) -> Result<Outcome> {
    let path = set.image(arch);
    let header = header(&fs::read(&path)?, &path)?;
    let (built, text) = build(set, arch, &the_same_or_another(&header.compiler)?, say)?;
    let again = [pack(&text)?];
    let compute = arch.capability();
    if built.compiler == header.compiler {
        let now = self::header(&again[0], &built.ptx)?;
        ensure!(header == now, "the head of {} should be\n{now}and is\n{header}", path.display());
        let texts = [committed, &again].map(|images| whole(images, compute));
        let [committed, built] = texts;
        compare(&path, &committed?, &built?)?;
        return Ok(Outcome::Passed);
    }
    let [ours, theirs] = [&again, committed].map(|images| {
        let modules = modules(images, compute)?;
        Ok::<_, anyhow::Error>(own(&modules).map(String::from).collect::<Vec<_>>())
    });
    ensure!(
        ours? == theirs?,
        "{} does not contain the kernels that {} builds",
        path.display(),
        built.compiler
    );
    Ok(Outcome::Skipped(format!(
        "{} was made by {}; only {} is here, so the text was not compared",
        set.image_name(arch),
        header.compiler,
        built.compiler
    )))
}

/// The entry points have a lower level for the emulator: see the root's `Cargo.toml`.
const FULL_LEVEL: &str = "profile.release.package.gridsync-entries.opt-level=3";

/// Builds a set and returns the text, which is also in `target/`.
fn build(
    set: &KernelSet,
    arch: Arch,
    compiler: &Compiler,
    say: Say<'_>,
) -> Result<(Built, String)> {
    let start = Instant::now();
    let to = root().join(format!("target/kernels/{}.ptx", set.image_name(arch)));
    let built = CudaBuilder::new(root().join(set.folder))
        .arch(arch)
        .compiler(compiler.clone())
        .build_args(&["--locked", "--config", FULL_LEVEL])
        .sources(set.sources)
        .copy_to(&to)
        .build()
        .with_context(|| format!("building {}/ for sm_{arch}", set.folder))?;
    for warning in &built.warnings {
        say(&format!("{warning}\n"));
    }
    let text = fs::read_to_string(&to).with_context(|| to.display().to_string())?;
    say(&format!(
        "{}: {} kernels, {} KiB, {:.1} s, {}",
        shown(&to),
        built.kernels.len(),
        text.len() / 1024,
        start.elapsed().as_secs_f64(),
        built.compiler
    ));
    Ok((built, text))
}

/// Writes the image atomically.
fn write(path: &Path, image: &[u8]) -> Result<()> {
    let partial = path.with_extension("ptxz.partial");
    let context = || path.display().to_string();
    fs::create_dir_all(path.parent().unwrap_or(path)).with_context(context)?;
    fs::write(&partial, image).with_context(context)?;
    fs::rename(&partial, path).with_context(context)?;
    println!("{}: {} KiB", shown(path), image.len() / 1024);
    Ok(())
}

/// A path relative to the workspace.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

/// The compiler of that version if it is installed, otherwise the preferred one.
fn the_same_or_another(version: &str) -> Result<Compiler> {
    for candidate in Compiler::candidates() {
        if candidate.version()? == version {
            return Ok(candidate);
        }
    }
    Ok(Compiler::find()?)
}

/// Fails if an image is missing or its sources have changed since it was built.
fn fresh(set: &KernelSet, arch: Arch) -> Result<()> {
    let path = set.image(arch);
    let image = fs::read(&path)
        .with_context(|| format!("{}: run `cargo xtask build-kernels`", path.display()))?;
    let header = header(&image, &path)?;
    let now = fingerprint(&root(), set.sources)?;
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

fn header(image: &[u8], path: &Path) -> Result<Header> {
    let head = PtxImage::packed(image).head();
    let head = head.with_context(|| path.display().to_string())?;
    Header::read(head).with_context(|| format!("{} has no header of ours", path.display()))
}

fn compare(path: &Path, committed: &str, again: &str) -> Result<()> {
    if committed == again {
        return Ok(());
    }
    let differing = committed.lines().zip(again.lines()).position(|(a, b)| a != b);
    let at = differing.unwrap_or_else(|| committed.lines().count().min(again.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end of file)").to_owned();
    bail!(
        "{} differs from what its sources produce, first in line {}:\n  committed: {}\n  built:     {}\nrun `cargo xtask build-kernels`",
        path.display(),
        at + 1,
        line(committed),
        line(again)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_images_match_these_sources() {
        for set in &SETS {
            for arch in TARGETS {
                fresh(set, arch).unwrap();
            }
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
    fn a_truncated_file_differs() {
        let error = compare(Path::new("a.ptx"), "x\n", "x\ny\n").unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
