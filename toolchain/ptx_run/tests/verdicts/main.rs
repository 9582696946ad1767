//! Kernels in CUDA C++ with known errors, each next to its correction, as nvcc compiles them with and
//! without optimisation: every verdict is right, and every fault names its lines.
//!
//! Without nvcc the tests print SKIPPED. With `--nocapture` they print by how many schedules each
//! error was found.

mod check;
#[path = "../nvcc/mod.rs"]
mod compiler;
mod problem;
mod source;
mod speed;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use ptx_run::Excuse;

use crate::problem::Verdict;
use crate::source::Source;

/// Checks all kernels of a file.
fn assert_verdicts(file: &str) {
    let found = table::FILES.iter().find(|(name, _)| *name == file);
    let (_, problems) = found.expect("it is in the table");
    let source = Source::read(file);
    let mut contradictions = String::new();
    for options in compiler::MODES {
        let Some(module) = compiler::compile(&source.path, "sm_80", options) else { return };
        for problem in *problems {
            for &(name, verdict) in problem.kernels {
                let expected = source.expected(name, verdict);
                let line = match check::check(&module, problem, (name, verdict), &expected) {
                    Ok(_) if verdict == Verdict::Right => continue,
                    Ok(tally) if tally.found > 0 => {
                        // Called without optimisation, a compare-and-swap is not recognised.
                        let begins_swaps = name == "cas_loop_of_weak_load" && options[0] == "-O3";
                        let excuse = begins_swaps.then_some(Excuse::CompareAndSwap);
                        let as_expected = tally.excuses.iter().all(|it| *it == excuse);
                        assert!(as_expected, "{name} {}: {:?}", options[0], tally.excuses);
                        println!("{file} {name} {}: {verdict:?} by {tally}", options[0]);
                        continue;
                    }
                    Ok(tally) => format!("{verdict:?} not found: {tally}"),
                    Err(contradiction) => contradiction,
                };
                writeln!(contradictions, "{name} {}: {line}", options[0]).expect("a string");
            }
        }
    }
    assert!(contradictions.is_empty(), "{file}:\n{contradictions}");
}

#[test]
fn verdicts_on_scopes_are_right() {
    assert_verdicts("scopes.cu");
}

#[test]
fn verdicts_on_locks_are_right() {
    assert_verdicts("locks.cu");
}

#[test]
fn verdicts_on_barriers_are_right() {
    assert_verdicts("barriers.cu");
}

#[test]
fn verdicts_on_queues_are_right() {
    assert_verdicts("queues.cu");
}

#[test]
fn verdicts_on_graphs_are_right() {
    assert_verdicts("graphs.cu");
}

#[test]
fn verdicts_on_blocks_are_right() {
    assert_verdicts("blocks.cu");
}

#[test]
fn verdicts_on_tiles_are_right() {
    assert_verdicts("tiles.cu");
}

#[test]
fn verdicts_on_published_errors_are_right() {
    assert_verdicts("reports.cu");
}

#[test]
fn every_kernel_has_a_verdict_and_every_problem_a_right_and_a_faulty_solution() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda");
    let files = std::fs::read_dir(folder).expect("it is there").flatten();
    let files = files.filter_map(|file| file.file_name().into_string().ok());
    let files: BTreeSet<String> = files.filter(|name| name.ends_with(".cu")).collect();
    assert_eq!(files, table::FILES.map(|(file, _)| file.to_owned()).into());
    for (file, problems) in table::FILES {
        let source = Source::read(file);
        let listed = || problems.iter().flat_map(|problem| problem.kernels);
        let names: BTreeSet<&str> = listed().map(|&(name, _)| name).collect();
        assert_eq!(names, source.kernels(), "{file}");
        for &(name, verdict) in listed() {
            let is_marked = !source.expected(name, verdict).lines.is_empty();
            let needs = !matches!(verdict, Verdict::Right | Verdict::Wrong);
            assert_eq!(is_marked, needs, "{file}: {name}");
        }
        for problem in problems {
            let right = problem.kernels.iter().filter(|(_, it)| *it == Verdict::Right).count();
            assert!((1..problem.kernels.len()).contains(&right), "{file}: {problem:?}");
        }
    }
}
