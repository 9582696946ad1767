//! Runs all tests in release mode, including the slow ones, and records the counts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use comfy_table::presets::NOTHING;

use crate::workspace::{cargo, root};

/// The record, relative to the root of the workspace.
const RECORD: &str = "target/thorough.txt";

/// All packages, for cargo.
const ALL: &str = "--workspace";

/// The counts that one test executable printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ran {
    name: String,
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs all tests of the workspace, and records the date, the commit, the counts, and the names of
/// the tests that only a thorough run includes.
pub(crate) fn run() -> Result<()> {
    // Examples in the documentation come last: `ignore` there marks examples that do not compile.
    const TESTS: [&str; 5] = ["--lib", "--bins", "--tests", "--examples", "--"];
    // In the workspace, cust holds the contexts. These tests also call the driver without it.
    const WITHOUT_CUST: [&str; 4] =
        ["--test=cuda_backend", "--test=failures", "--test=several_devices", "--test=streams"];
    let (long, listed) = cargo_test(ALL, &[&TESTS[..], &["--ignored", "--list"]].concat(), false)?;
    ensure!(listed, "cannot list the tests: {}", long.join("\n"));
    let (mut lines, passed) =
        cargo_test(ALL, &[&TESTS[..], &["--include-ignored"]].concat(), true)?;
    let (examples, compiled) = cargo_test(ALL, &["--doc"], true)?;
    lines.extend(examples);
    let (alone, passed_alone) = cargo_test("--package=gridsync", &WITHOUT_CUST, true)?;
    lines.extend(alone);
    let long: Vec<_> = long.iter().filter_map(|line| line.strip_suffix(": test")).collect();
    let summary = format!(
        "{}, commit {}\n\n{}\n",
        said_by(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?,
        said_by(Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=40"]))?,
        summary(&lines)
    );
    let record = format!(
        "{summary}\n{} tests that only a thorough run makes:\n{}\n",
        long.len(),
        long.join("\n")
    );
    let path = root().join(RECORD);
    fs::write(&path, &record).with_context(|| path.display().to_string())?;
    println!("\n{summary}({RECORD})");
    ensure!(passed && compiled && passed_alone, "tests failed: see above");
    Ok(())
}

/// Runs `cargo test` on `packages` with `args` in release mode. Returns the lines that it printed,
/// and whether it succeeded. Prints them too if `is_shown`.
fn cargo_test(packages: &str, args: &[&str], is_shown: bool) -> Result<(Vec<String>, bool)> {
    let (reader, writer) = io::pipe()?;
    let mut tests = {
        // The command holds the writing end of the pipe. The reader sees the end only after it is
        // dropped.
        let mut command = cargo();
        command
            .args(["test", packages, "--release", "--no-fail-fast"])
            .args(args)
            .stdout(writer.try_clone()?)
            .stderr(writer);
        command.spawn().context("cannot run cargo")?
    };
    let mut lines = Vec::new();
    for line in BufReader::new(reader).lines() {
        let line = line?;
        if is_shown {
            println!("{line}");
        }
        lines.push(line);
    }
    Ok((lines, tests.wait()?.success()))
}

/// The first line that a command prints.
fn said_by(command: &mut Command) -> Result<String> {
    let output = command.current_dir(root()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The counts of each test executable, their sum, and the reasons of skipped tests.
fn summary(lines: &[String]) -> String {
    let ran = counts(lines);
    let sum = |count: fn(&Ran) -> u64| ran.iter().map(count).sum();
    let all = Ran {
        name: "all".into(),
        passed: sum(|ran| ran.passed),
        failed: sum(|ran| ran.failed),
        ignored: sum(|ran| ran.ignored),
    };
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.add_row(["", "passed", "failed", "ignored"]);
    for ran in ran.iter().chain([&all]) {
        let counts = [ran.passed, ran.failed, ran.ignored].map(|count| count.to_string());
        table.add_row([&ran.name, &counts[0], &counts[1], &counts[2]]);
    }
    let skipped: BTreeSet<_> =
        lines.iter().filter(|line| line.starts_with("SKIPPED: ")).map(String::as_str).collect();
    let skipped: Vec<_> = skipped.into_iter().collect();
    format!("{table}\n\n{}", skipped.join("\n")).trim_end().to_owned()
}

/// Parses the output of `cargo test`: the line before each executable runs, and its last line.
fn counts(lines: &[String]) -> Vec<Ran> {
    let mut all = Vec::new();
    let mut running = String::new();
    for line in lines {
        let line = line.trim_start();
        if let Some(name) = name_of(line) {
            running = name;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            let count = |what: &str| {
                let mut parts = result.split(['.', ';']).map(str::trim);
                parts.find_map(|part| part.strip_suffix(what)?.trim().parse().ok())
            };
            all.push(Ran {
                name: running.clone(),
                passed: count("passed").unwrap_or(0),
                failed: count("failed").unwrap_or(0),
                ignored: count("ignored").unwrap_or(0),
            });
        }
    }
    all
}

/// The executable in `Running tests/a.rs (target/release/deps/a-0123)` or `Doc-tests a`.
fn name_of(line: &str) -> Option<String> {
    if let Some(package) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{package}, examples in the documentation"));
    }
    let (source, path) = line.strip_prefix("Running ")?.split_once(" (")?;
    let file = path.trim_end_matches(')').rsplit('/').next()?;
    let (executable, _hash) = file.rsplit_once('-')?;
    Some(format!("{executable}, {}", source.trim_start_matches("unittests ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_each_executable_are_parsed_from_cargos_output() {
        let printed = "    Finished `release` profile [optimized] target(s) in 0.19s
     Running unittests src/lib.rs (target/release/deps/gridsync-0123)

running 2 tests
test a ... ok
SKIPPED: no CUDA device (said once)
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.15s

     Running tests/conformance/main.rs (target/release/deps/conformance-4567)
test result: FAILED. 7 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9s

   Doc-tests gridsync_kernels
test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        let read = counts(&lines);
        let of = |ran: &Ran| (ran.name.clone(), ran.passed, ran.failed, ran.ignored);
        assert_eq!(
            read.iter().map(of).collect::<Vec<_>>(),
            [
                ("gridsync, src/lib.rs".into(), 2, 0, 1),
                ("conformance, tests/conformance/main.rs".into(), 7, 1, 0),
                ("gridsync_kernels, examples in the documentation".into(), 4, 0, 0),
            ]
        );
        let text = summary(&lines);
        let has = |words: &str| {
            text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == words)
        };
        assert!(has("all 13 1 1"), "{text}");
        assert!(text.ends_with("SKIPPED: no CUDA device (said once)"), "{text}");
    }
}
