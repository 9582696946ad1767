//! `gridsync select`: what it writes, its JSON, its check, and what it refuses.

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE, without_cuda};
use gridsync_program::verify::{Sample, runs};
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Elements of the inputs: an odd number, for several blocks of most types.
const LEN: usize = 3003;

/// A folder, and the path of an output in it, which does not exist yet.
fn output() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let path = folder.path().join("out.npy");
    (folder, path)
}

/// Selects from `input`, raw on standard input, to `to`.
fn raw<T: Plain>(input: &[T], to: &Path, more: &[&str]) -> Call {
    let to = to.to_str().expect("its path should be UTF-8");
    let args = ["select", "-", "--dtype", T::NAME, "-o", to];
    without_cuda(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// Checks that the file holds these values and no others.
#[track_caller]
fn holds<A: Plain>(path: &Path, values: &[A]) {
    let file = fs::read(path).expect("the output should be there");
    let expected = npy::of(values).expect("the type has a name");
    assert_eq!(file, expected, "{}", path.display());
}

/// Checks all outputs of a condition, on the CPU and on the emulator; `keeps` is the same condition
/// in Rust.
fn where_everywhere<T: Plain + Sample>(condition: &str, keeps: fn(T) -> bool) {
    let input = runs::<T>(LEN, 42);
    let (kept, rest): (Vec<T>, Vec<T>) = input.iter().copied().partition(|&x| keeps(x));
    let positions = (0u64..).zip(&input).filter(|(_, x)| keeps(**x));
    let positions: Vec<u64> = positions.map(|(index, _)| index).collect();
    for device in ["cpu", "emulator"] {
        let (folder, path) = output();
        let others = ["rest.npy", "positions.npy"].map(|name| folder.path().join(name));
        let [to_rest, to_positions] = others.each_ref().map(|path| path.to_str().expect("UTF-8"));
        let args = ["--partition", to_rest, "--positions", to_positions];
        let more = ["--where", condition, "--check", "--json", "--device", device];
        let json = raw(&input, &path, &[&args[..], &more[..]].concat()).json();
        assert_eq!(json["check"]["ok"], true, "{json}");
        assert_eq!(json["kept"], kept.len());
        assert_eq!(json["device"], device);
        holds(&path, &kept);
        holds(&others[0], &rest);
        holds(&others[1], &positions);
    }
}

#[test]
fn elements_that_meet_a_condition_are_written_and_all_others_too() {
    where_everywhere::<f32>("> 0.5", |x| x > 0.5);
    where_everywhere::<f64>("<= -1", |x| x <= -1.0);
    where_everywhere::<i32>("nonzero", |x| x != 0);
    where_everywhere::<u32>("< 1000000000", |x| x < 1_000_000_000);
    where_everywhere::<i64>(">= 0", |x| x >= 0);
    where_everywhere::<u64>("== 0", |x| x == 0);
}

#[test]
fn values_and_counts_of_runs_are_the_array() {
    let input = runs::<f32>(LEN, 7);
    for device in ["cpu", "emulator"] {
        let (folder, path) = output();
        let to_counts = folder.path().join("counts.npy");
        let counts = to_counts.to_str().expect("UTF-8");
        let args = ["--unique", "--counts", counts, "--check", "--device", device, "-q"];
        raw(&input, &path, &args).succeeds();
        let (mut values, mut counts): (Vec<f32>, Vec<u64>) = (Vec::new(), Vec::new());
        for run in input.chunk_by(|a, b| a == b) {
            values.push(run[0]);
            counts.push(run.len() as u64);
        }
        holds(&path, &values);
        holds(&to_counts, &counts);
    }
}

#[test]
fn an_array_of_any_rank_is_taken_as_flat_and_an_empty_one_gives_an_empty_one() {
    for (shape, n) in [("()", 1), ("(2, 3)", 6), ("(0, 5)", 0)] {
        let input: Vec<i64> = (1..=n).collect();
        let header = npy::header("<i8", false, shape);
        let file = npy::raw(&header, bytemuck::cast_slice(&input));
        for device in ["cpu", "emulator"] {
            let (_folder, path) = output();
            let to = path.to_str().expect("its path should be UTF-8");
            let args = ["select", "-", "--where", "!= 2", "-o", to, "-q", "--device", device];
            without_cuda(&args, &file).succeeds();
            let kept: Vec<i64> = (1..=n).filter(|&x| x != 2).collect();
            holds(&path, &kept);
        }
    }
}

#[test]
fn the_text_says_what_was_kept_and_written() {
    let (_folder, path) = output();
    let call = raw(&[4i32, -9], &path, &["--where", "> 0", "--check"]).says(&[
        "1 of 2 i32 elements, > 0,",
        "right",
        "out.npy: 1 elements of i32",
    ]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (_folder, path) = output();
    let refused = |more: &[&str], parts: &[&str]| {
        raw(&[1i32], &path, more).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--where"]);
    refused(&["--where", "0.5"], &["a condition"]);
    refused(&["--where", "> half"], &["half is not a number"]);
    refused(&["--where", "> 0", "--unique"], &["--unique"]);
    refused(&["--where", "> 0", "--counts", "c.npy"], &["--counts"]);
    let to = path.to_str().expect("its path should be UTF-8");
    refused(&["--unique", "--counts", to], &["--counts", "out.npy"]);
    raw(&[1i32], Path::new("-"), &["--unique", "--json"]).fails(WRONG_USAGE, &["-o"]);
    raw(&[1i32], &path, &["--unique", "--device", "cuda"]).fails(DEVICE_FAILURE, &["CUDA"]);
    assert!(!path.exists());
}
