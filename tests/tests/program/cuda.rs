//! `gridsync check` for CUDA C++: bugs of published code, rebuilt from their descriptions. Each is
//! found in the optimised and in the unoptimised code, and its fix passes.
//!
//! Without nvcc, the tests print SKIPPED.

use crate::call::{Call, run};
use crate::folder::Folder;
use gridsync_tests::program;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The variable with the path of nvcc, for the program too.
const NVCC: &str = "NVCC";

/// nvcc of the variable, in `PATH`, or in the workspace's `target/cuda-tools`.
fn nvcc() -> Option<PathBuf> {
    let named = env::var_os(NVCC).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let pythons = folders(&program::workspace().join("target/cuda-tools/lib"));
    let wheels = pythons.iter().flat_map(|it| folders(&it.join("site-packages/nvidia")));
    // Without the wheel of the compiler proper, nvcc is only a driver.
    let wheels = wheels.filter(|it| it.join("nvvm/bin/cicc").is_file());
    let wheels = wheels.map(|wheel| wheel.join("bin/nvcc"));
    named.into_iter().chain(installed).chain(wheels).find(|program| program.is_file())
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Checks `bug.cu` of the folder with the launches of `plan.toml`.
fn check(folder: &Folder, nvcc: impl AsRef<OsStr>, options: &[&str]) -> Call {
    let mut command = folder.command();
    command.env(NVCC, nvcc);
    run(command, &[&["check", "bug.cu", "--launch", "plan.toml"][..], options].concat(), b"")
}

/// The race between the lines marked `write` and `read` is found, and there is none with `FIXED`.
fn finds_the_race_and_passes_the_fix(source: &str, plan: &str) {
    let Some(nvcc) = nvcc() else {
        let skipped = format!("SKIPPED: no nvcc in {NVCC}, PATH or target/cuda-tools");
        writeln!(std::io::stderr(), "{skipped}").expect("stderr is open");
        return;
    };
    let folder = Folder::new().with("bug.cu", source).with("plan.toml", plan);
    for mode in [&[] as &[&str], &["--nvcc=-G"]] {
        let found = check(&folder, &nvcc, mode);
        assert_eq!(found.code, Some(1), "{mode:?}: {found:?}");
        assert!(found.stdout.contains("data race"), "{mode:?}: {found:?}");
        for mark in ["// write", "// read"] {
            let lines = source.lines().zip(1..).filter(|(line, _)| line.ends_with(mark));
            let is_named = |line: i32| found.stdout.contains(&format!("at bug.cu:{line}:"));
            assert!(lines.map(|(_, line)| line).any(is_named), "{mode:?}, {mark}: {found:?}");
        }
        let note = "the race is in the source";
        assert!(found.stdout.contains(note), "{mode:?}: {found:?}");
        let fixed = check(&folder, &nvcc, &[mode, &["--nvcc=-DFIXED"]].concat()).says_nothing();
        assert!(fixed.stdout.contains(": right under "), "{mode:?}: {fixed:?}");
    }
}

#[test]
fn a_dependent_grid_that_reads_before_its_wait_is_found() {
    let plan = "
        [arrays]
        words = 'u32[5]'
        sums = 'u32[4]'
        [[launch]]
        kernel = 'write'
        grid = [5]
        block = [1]
        args = ['words']
        [[launch]]
        kernel = 'add_neighbours'
        overlapping = true
        grid = [4]
        block = [1]
        args = ['words', 'sums']
        [expect]
        sums = '14'
    ";
    finds_the_race_and_passes_the_fix(include_str!("cuda/dependent.cu"), plan);
}

#[test]
fn a_round_that_a_replayed_graph_repeats_is_found_on_two_gpus() {
    let launch = |values: [u32; 2]| {
        let args = |gpu: usize| {
            let (peer, value) = (1 - gpu, values[gpu]);
            format!(
                "['inbox{gpu}', 'inbox{peer}', 'flag{gpu}', 'flag{peer}', 'rounds{gpu}', '1', \
                 '{value}', 'received{gpu}']"
            )
        };
        let both = format!("args_of_gpus = [{}, {}]", args(0), args(1));
        format!("[[launch]]\ngrid = [1]\nblock = [1]\n{both}\n")
    };
    let array = |name: &str, len: usize| -> String {
        (0..2).map(|gpu| format!("{name}{gpu} = 'u32[{len}] @{gpu}'\n")).collect()
    };
    let arrays =
        [array("inbox", 2), array("flag", 1), array("rounds", 1), array("received", 1)].concat();
    let plan = format!(
        "gpus = 2\n[arrays]\n{arrays}{}{}[expect]\nreceived0 = '21'\nreceived1 = '20'\n",
        launch([10, 11]),
        launch([20, 21])
    );
    finds_the_race_and_passes_the_fix(include_str!("cuda/exchange.cu"), &plan);
}
