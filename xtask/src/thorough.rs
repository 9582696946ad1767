//! The tests of a thorough run: in release mode, with those that take long, and a record of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use comfy_table::presets::NOTHING;

use crate::workspace::{cargo, root};

/// Where the record goes, below the root of the workspace.
const RECORD: &str = "target/thorough.txt";

/// What one test executable said at its end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ran {
    name: String,
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs all tests of the workspace, and writes down the date, the commit and the counts.
pub(crate) fn run() -> Result<()> {
    let (reader, writer) = io::pipe()?;
    let mut tests = {
        // The command holds the pipe's other end: it has to go before the reader can see the end.
        let mut command = cargo();
        command
            .args(["test", "--workspace", "--release", "--no-fail-fast"])
            .env("GRIDSYNC_THOROUGH", "1")
            .stdout(writer.try_clone()?)
            .stderr(writer);
        command.spawn().context("cannot run cargo")?
    };
    let mut lines = Vec::new();
    for line in BufReader::new(reader).lines() {
        let line = line?;
        println!("{line}");
        lines.push(line);
    }
    let status = tests.wait()?;
    let record = format!(
        "{}, commit {}, {status}\n\n{}\n",
        said_by(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?,
        said_by(Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=40"]))?,
        summary(&lines)
    );
    let path = root().join(RECORD);
    fs::write(&path, &record).with_context(|| path.display().to_string())?;
    println!("\n{record}({RECORD})");
    ensure!(status.success(), "tests failed: see above");
    Ok(())
}

/// The first line of what a command prints.
fn said_by(command: &mut Command) -> Result<String> {
    let output = command.current_dir(root()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The counts of each test executable, their sum, and what was skipped for which reason.
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

/// Reads what `cargo test` prints: the line before each executable runs, and the last one of it.
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

/// Of `Running tests/a.rs (target/release/deps/a-0123)` and `Doc-tests a`, what is about to run.
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
    fn the_counts_of_each_executable_are_read_from_what_cargo_prints() {
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
