//! `validate`: all checks for a change, in one command and one table.

use std::fmt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;
use comfy_table::Table;
use comfy_table::presets::NOTHING;

use crate::outcome::{Outcome, Say};
use crate::workspace::{cargo, run as run_command};
use crate::{arrows, audit, book, doc, gpu, kernels, package, sizes, thorough, tools, words};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave the tests out, if they ran already
    #[arg(long)]
    no_test: bool,

    /// Run the tests in release mode, with those that take long, and record the counts in
    /// target/thorough.txt
    #[arg(long, conflicts_with = "no_test")]
    thorough: bool,

    /// These steps alone
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    only: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// The code is formatted
    Fmt,
    /// Clippy gives no warning
    Clippy,
    /// The documentation builds without a warning, and its links between packages resolve
    Doc,
    /// The tests of the workspace compile
    Build,
    /// The committed PTX is the one that its sources give: of one target, and with --thorough of all
    Kernels,
    /// The PTX contains what it should and nothing else
    Audit,
    /// No Rust file is too long
    Sizes,
    /// Comments and Markdown are in plain English
    Words,
    /// Packages and modules depend on each other in one direction
    Arrows,
    /// Each package that is published can be packed, has its licences, a README and a description, and is
    /// not too large
    Package,
    /// Dependencies have licences that deny.toml allows, come from crates.io, and are there once
    Deny,
    /// The libraries break no promise of their last release
    Semver,
    /// Each listing of the book and the README is tested and as in its file, and mdbook builds the book
    Book,
    /// What reaches a GPU has passed on one
    Gpu,
    /// The tests of the workspace pass
    Test,
}

/// A finished step: its time and its result.
type Row = (Step, Duration, Result<Outcome>);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl Step {
    fn run(self, args: &Args, say: Say<'_>) -> Result<Outcome> {
        let mut command = cargo();
        match self {
            Self::Kernels => return kernels::run(&kernels::Args::check(args.thorough), say),
            Self::Audit => return audit::run(&audit::Args::check(args.thorough), say),
            Self::Sizes => return sizes::run(),
            Self::Words => return words::run(),
            Self::Arrows => return arrows::run(),
            Self::Package => return package::run(),
            Self::Deny => return tools::deny(),
            Self::Semver => return tools::semver(),
            Self::Book => return book::validate(),
            Self::Doc => return doc::run(&doc::Args { open: false }),
            Self::Gpu => return gpu::check(),
            Self::Fmt => command.args(["fmt", "--all", "--check"]),
            Self::Clippy => {
                command.args(["clippy", "--workspace", "--all-targets", "--", "-Dwarnings"])
            }
            Self::Build => command.args(["test", "--workspace", "--no-run"]),
            Self::Test if args.thorough => {
                thorough::run()?;
                return Ok(Outcome::Passed);
            }
            Self::Test => command.args(["test", "--workspace"]),
        };
        run_command(&mut command)?;
        Ok(Outcome::Passed)
    }
}

/// The steps that run in the background, those that run at the same time, and those after both.
///
/// The background has what neither builds for the host nor waits for that build. Nothing runs at
/// the same time as the tests, because some of them have time limits.
fn groups(args: &Args) -> [Vec<Step>; 3] {
    let wanted = |step: &Step| match step {
        Step::Build if args.no_test || args.thorough => false,
        Step::Test if args.no_test => false,
        step => args.only.is_empty() || args.only.contains(step),
    };
    let mut groups = [const { Vec::new() }; 3];
    for step in Step::value_variants().iter().copied().filter(wanted) {
        let group = match step {
            Step::Kernels | Step::Audit => 0,
            Step::Test => 2,
            _ => 1,
        };
        groups[group].push(step);
    }
    groups
}

/// Runs steps one at a time.
fn run_each(steps: &[Step], args: &Args, say: Say<'_>) -> Vec<Row> {
    let run = |&step: &Step| {
        say(&format!("==> {step}"));
        let start = Instant::now();
        let end = step.run(args, say);
        if let Err(error) = &end {
            say(&format!("error: {error:#}"));
        }
        (step, start.elapsed(), end)
    };
    steps.iter().map(run).collect()
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let [background, foreground, last] = groups(args);
    let print = |line: &str| println!("{line}");
    let kept = Mutex::new(String::new());
    let keep = |line: &str| {
        *kept.lock().expect("no step panics with the lock") += &format!("{line}\n");
    };
    let mut rows = thread::scope(|scope| {
        let say: Say<'_> = if foreground.is_empty() { &print } else { &keep };
        let background = scope.spawn(move || run_each(&background, args, say));
        let mut rows = run_each(&foreground, args, &print);
        rows.extend(background.join().expect("a step should not panic"));
        rows
    });
    print!("{}", kept.into_inner().expect("no step panics with the lock"));
    rows.extend(run_each(&last, args, &print));
    rows.sort_by_key(|(step, ..)| *step);
    println!("\n{}", table(&rows));
    let failed: Vec<String> = rows
        .iter()
        .filter(|(_, _, end)| end.is_err())
        .map(|(step, _, _)| step.to_string())
        .collect();
    if !failed.is_empty() {
        bail!("{} of {} steps failed: {}", failed.len(), rows.len(), failed.join(", "));
    }
    Ok(Outcome::Passed)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    for (step, time, end) in rows {
        let (word, why) = match end {
            Ok(Outcome::Passed) => ("PASSED", String::new()),
            Ok(Outcome::PassedAs(what)) => ("PASSED", what.clone()),
            Ok(Outcome::Skipped(why)) => ("SKIPPED", why.clone()),
            Err(error) => ("FAILED", error.to_string().lines().next().unwrap_or_default().into()),
        };
        table.add_row([&step.to_string(), &format!("{:.1} s", time.as_secs_f64()), word, &why]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_at_the_same_time_as_the_tests() {
        let all = Args { no_test: false, thorough: false, only: Vec::new() };
        let [background, foreground, last] = groups(&all);
        assert_eq!(background, [Step::Kernels, Step::Audit]);
        assert_eq!(last, [Step::Test]);
        assert_eq!(background.len() + foreground.len() + last.len(), Step::value_variants().len());
        let [_, foreground, last] = groups(&Args { no_test: true, ..all });
        assert!(last.is_empty() && !foreground.contains(&Step::Build));
    }

    #[test]
    fn skipped_steps_are_not_shown_as_passed() {
        let rows = [
            (Step::Fmt, Duration::from_millis(1200), Ok(Outcome::Passed)),
            (Step::Audit, Duration::ZERO, Ok(Outcome::Skipped("no ptxas".into()))),
            (Step::Doc, Duration::ZERO, Err(anyhow::anyhow!("`cargo doc` failed"))),
            (Step::Gpu, Duration::ZERO, Ok(Outcome::PassedAs("all passed on a GPU".into()))),
        ];
        let text = table(&rows).to_string();
        let line = |n: usize| {
            text.lines().nth(n).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line(0), "fmt 1.2 s PASSED");
        assert_eq!(line(1), "audit 0.0 s SKIPPED no ptxas");
        assert_eq!(line(2), "doc 0.0 s FAILED `cargo doc` failed");
        assert_eq!(line(3), "gpu 0.0 s PASSED all passed on a GPU");
    }
}
