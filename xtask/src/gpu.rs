//! `gpu`: the record of runs on a GPU, with their sources: `bench/gpu.json`.
//!
//! Tests without a GPU cannot see how the driver compiles a kernel, nor how fast it is. `gpu.sh` of
//! a bundle runs everything that a machine with a GPU can check, and writes the results to files.
//! This task adds them to the record, which is committed. `validate` compares it with the sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::outcome::Outcome;
use crate::workspace::{root, walk};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `gpu.sh` wrote: gpu-tests.json and gpu-bench.json. Without any, the record is compared with the
    /// sources
    files: Vec<PathBuf>,

    /// Print the fingerprints of the sources, as a bundle has them
    #[arg(long, conflicts_with = "files")]
    sources: bool,
}

/// Everything that affects a GPU: the kernels, the code that compiles and packs them, the images,
/// and the code that launches them.
const SOURCES: [&str; 16] = [
    "host/cudarc/src",
    "host/examples/ptx",
    "host/lab/ptx",
    "host/ptx",
    "host/python/src",
    "host/ranks/src",
    "host/src",
    "kernels/entries/src",
    "kernels/examples/src",
    "kernels/lab/src",
    "kernels/src",
    "toolchain/cuda_builder/src",
    "toolchain/cuda_std/src",
    "toolchain/cuda_std_macros/src",
    "toolchain/image/src",
    "toolchain/libcuda/src",
];

/// The parts of `gpu.sh`.
const PARTS: [&str; 2] = ["tests", "bench"];

/// The fingerprint of each of the [`SOURCES`].
type Fingerprints = BTreeMap<String, String>;

/// The results of a part of `gpu.sh`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// One of [`PARTS`].
    part: String,
    /// The name of the GPU.
    device: String,
    driver: String,
    /// The date, such as 2026-11-25.
    date: String,
    sources: Fingerprints,
    seconds: u64,
    steps: Vec<Step>,
    /// Benchmark lines that are slower than their peer, beyond the noise, and by which factor.
    #[serde(default)]
    slower_than_peer: Slower,
}

/// The output of `gridsync bench peers --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Slower {
    /// The number of lines that have a peer.
    lines: u64,
    slower: Vec<SlowerLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SlowerLine {
    line: String,
    ratio: f64,
    beyond_noise: bool,
}

/// A step of `gpu.sh`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    /// `passed`, `failed`, `out of time`, or `skipped` with the reason after it.
    verdict: String,
    seconds: u64,
}

/// The last run of each part, for each GPU.
type Record = BTreeMap<String, BTreeMap<String, Run>>;

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let sources = fingerprints()?;
    if args.sources {
        println!("{}", serde_json::to_string(&sources)?);
        return Ok(Outcome::Passed);
    }
    let mut record = read()?;
    if args.files.is_empty() {
        return Ok(verdict(&record, &sources));
    }
    for file in &args.files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let run: Run = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        add(&mut record, run, &sources).with_context(|| file.display().to_string())?;
    }
    fs::write(path(), serde_json::to_string_pretty(&record)? + "\n")?;
    Ok(verdict(&record, &sources))
}

/// The step of `validate`: whether everything has passed on a GPU with these sources.
pub(crate) fn check() -> Result<Outcome> {
    Ok(verdict(&read()?, &fingerprints()?))
}

/// The fingerprints of everything that affects a GPU, for a bundle.
pub(crate) fn fingerprints() -> Result<Fingerprints> {
    let one = |source: &str| Ok((source.to_owned(), fingerprint(&root().join(source))?));
    SOURCES.into_iter().map(one).collect()
}

/// A hash of the names and the contents of all files in `folder`.
fn fingerprint(folder: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    for file in walk(folder, &|_| true)? {
        let name = file.strip_prefix(folder)?.to_string_lossy().into_owned();
        let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn path() -> PathBuf {
    root().join("bench/gpu.json")
}

fn read() -> Result<Record> {
    if !path().exists() {
        return Ok(Record::default());
    }
    let text = fs::read_to_string(path())?;
    serde_json::from_str(&text).with_context(|| path().display().to_string())
}

/// Adds a run that passed with these sources.
fn add(record: &mut Record, run: Run, sources: &Fingerprints) -> Result<()> {
    ensure!(PARTS.contains(&run.part.as_str()), "`{}` is not a part: {PARTS:?}", run.part);
    let changed = changed(&run.sources, sources);
    ensure!(changed.is_empty(), "it ran with other sources: {} changed", changed.join(", "));
    let failed: Vec<_> = run.steps.iter().filter(|step| !step.is_good()).collect();
    if let [first, ..] = failed.as_slice() {
        bail!("{} steps failed, first {}: {}", failed.len(), first.name, first.verdict);
    }
    record.entry(run.device.clone()).or_default().insert(run.part.clone(), run);
    Ok(())
}

impl Step {
    fn is_good(&self) -> bool {
        self.verdict == "passed" || self.verdict.starts_with("skipped")
    }
}

/// The result that the record has for these sources.
fn verdict(record: &Record, sources: &Fingerprints) -> Outcome {
    let mut at_these = Vec::new();
    let mut others = Vec::new();
    for (device, parts) in record {
        let runs: Vec<_> = PARTS.iter().filter_map(|part| parts.get(*part)).collect();
        let date = runs.iter().map(|run| run.date.as_str()).min().unwrap_or_default();
        let mut changed: Vec<_> =
            runs.iter().flat_map(|run| changed(&run.sources, sources)).collect();
        changed.sort_unstable();
        changed.dedup();
        if runs.len() == PARTS.len() && changed.is_empty() {
            at_these.push(format!("an {device} on {date}"));
        } else {
            others.push((date, device, changed));
        }
    }
    if !at_these.is_empty() {
        return Outcome::PassedAs(format!(
            "all passed on {} at this source",
            at_these.join(" and ")
        ));
    }
    let how = "`cargo xtask bundle`, then `./gpu.sh` on a machine with a GPU";
    Outcome::Skipped(match others.into_iter().max() {
        None => format!("never run on a GPU: {how}"),
        Some((date, device, changed)) if changed.is_empty() => {
            format!("only a part has run, on an {device} on {date}: {how}")
        }
        Some((date, device, changed)) => format!(
            "not run on a GPU since {date} ({device}); changed since: {}",
            changed.join(", ")
        ),
    })
}

/// The sources whose fingerprints differ.
fn changed(then: &Fingerprints, now: &Fingerprints) -> Vec<String> {
    let names = now.keys().chain(then.keys().filter(|name| !now.contains_key(*name)));
    names.filter(|name| then.get(*name) != now.get(*name)).cloned().collect()
}

/// Writes the file that `gpu.sh` copies into its results.
pub(crate) fn write_fingerprints(to: &Path) -> Result<()> {
    Ok(fs::write(to, serde_json::to_string(&fingerprints()?)? + "\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(kernels: &str) -> Fingerprints {
        [("kernels", kernels), ("host/src", "1")].map(|(a, b)| (a.into(), b.into())).into()
    }

    fn run_of(part: &str, verdict: &str) -> Run {
        let step = Step { name: "conformance".into(), verdict: verdict.into(), seconds: 60 };
        Run {
            part: part.into(),
            device: "NVIDIA H200".into(),
            driver: "580".into(),
            date: "2026-11-25".into(),
            sources: sources("1"),
            seconds: 60,
            steps: vec![step],
            slower_than_peer: Slower::default(),
        }
    }

    fn of(runs: &[Run]) -> Record {
        let mut record = Record::default();
        for run in runs {
            add(&mut record, run.clone(), &sources("1")).unwrap();
        }
        record
    }

    #[test]
    fn one_changed_byte_or_file_name_changes_the_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let print = |name: &str, text: &str| {
            let folder = dir.path().join(format!("{name}{text}"));
            fs::create_dir_all(folder.join("a")).unwrap();
            fs::write(folder.join("a").join(name), text).unwrap();
            fingerprint(&folder).unwrap()
        };
        assert_eq!(print("x.ptxz", "1").len(), 64);
        assert_ne!(print("x.ptxz", "1"), print("x.ptxz", "2"));
        assert_ne!(print("x.ptxz", "1"), print("y.ptxz", "1"));
    }

    #[test]
    fn both_parts_with_these_sources_pass_with_device_and_date() {
        let both = of(&[run_of("tests", "passed"), run_of("bench", "skipped: no NCCL")]);
        let passed = verdict(&both, &sources("1"));
        let text = "all passed on an NVIDIA H200 on 2026-11-25 at this source";
        assert_eq!(passed, Outcome::PassedAs(text.into()));
    }

    #[test]
    fn a_change_a_missing_part_or_an_empty_record_does_not_pass() {
        let skipped = |record: &Record, sources: &Fingerprints| match verdict(record, sources) {
            Outcome::Skipped(why) => why,
            other => panic!("{other:?}"),
        };
        let both = of(&[run_of("tests", "passed"), run_of("bench", "passed")]);
        assert_eq!(
            skipped(&both, &sources("2")),
            "not run on a GPU since 2026-11-25 (NVIDIA H200); changed since: kernels"
        );
        let one = of(&[run_of("tests", "passed")]);
        assert!(skipped(&one, &sources("1")).starts_with("only a part has run"));
        assert!(skipped(&Record::default(), &sources("1")).starts_with("never run on a GPU"));
    }

    #[test]
    fn failed_steps_and_runs_with_other_sources_are_not_recorded() {
        let mut record = Record::default();
        for verdict in ["failed", "out of time"] {
            let error = add(&mut record, run_of("tests", verdict), &sources("1")).unwrap_err();
            assert!(error.to_string().contains("conformance"), "{error}");
        }
        let error = add(&mut record, run_of("tests", "passed"), &sources("2")).unwrap_err();
        assert!(error.to_string().contains("kernels changed"), "{error}");
        assert!(record.is_empty());
    }
}
