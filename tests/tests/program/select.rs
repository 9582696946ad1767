//! `gridsync select`: its output, its JSON, its check, and its refusals.

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::{Sample, runs};
use half::bf16;

/// Elements of the inputs: an odd number, for several blocks of most types.
const LEN: usize = 3003;

/// Selects from `input`, raw on standard input, to `to` in `folder`.
fn raw<T: Plain>(folder: &Folder, input: &[T], to: &str, more: &[&str]) -> Call {
    let args = ["select", "-", "--dtype", T::NAME, "-o", to];
    folder.call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// Checks all outputs of a condition, on the CPU and on the emulator; `keeps` is the same condition
/// in Rust.
fn where_everywhere<T: Plain + Sample>(condition: &str, keeps: fn(T) -> bool) {
    let input = runs::<T>(LEN, 42);
    let (kept, rest): (Vec<T>, Vec<T>) = input.iter().copied().partition(|&x| keeps(x));
    let positions = (0u64..).zip(&input).filter(|(_, x)| keeps(**x));
    let positions: Vec<u64> = positions.map(|(index, _)| index).collect();
    for device in ["cpu", "emulator"] {
        let folder = Folder::new();
        let args = ["--partition", "rest.npy", "--positions", "positions.npy"];
        let more = ["--where", condition, "--check", "--json", "--device", device];
        let json = raw(&folder, &input, "out.npy", &[&args[..], &more].concat()).json();
        assert_eq!(json["check"]["ok"], true, "{json}");
        assert_eq!(json["kept"], kept.len());
        assert_eq!(json["device"], device);
        assert_eq!(folder.read("out.npy"), npy::of(&kept), "out.npy");
        assert_eq!(folder.read("rest.npy"), npy::of(&rest), "rest.npy");
        assert_eq!(folder.read("positions.npy"), npy::of(&positions), "positions.npy");
    }
}

#[test]
fn bf16_is_selected_and_written_as_f32() {
    let input: Vec<bf16> = [1.5, -2.0, 0.25, 3.0].map(bf16::from_f32).to_vec();
    for device in ["cpu", "emulator"] {
        let folder = Folder::new();
        let args = ["select", "-", "--dtype", "bf16", "--where", "> 1", "-o", "out.npy"];
        let args = [&args[..], &["--check", "--json", "--device", device]].concat();
        let json = folder.call(&args, bytemuck::cast_slice(&input)).json();
        assert_eq!((&json["stored"], &json["dtype"]), (&"bf16".into(), &"f32".into()), "{json}");
        assert_eq!(folder.read("out.npy"), npy::of(&[1.5f32, 3.0]), "{device}");
    }
}

#[test]
fn elements_that_meet_a_condition_and_all_others_are_written() {
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
        let folder = Folder::new();
        let args = ["--unique", "--counts", "counts.npy", "--check", "--device", device, "-q"];
        raw(&folder, &input, "out.npy", &args).succeeds();
        let (mut values, mut counts): (Vec<f32>, Vec<u64>) = (Vec::new(), Vec::new());
        for run in input.chunk_by(|a, b| a == b) {
            values.push(run[0]);
            counts.push(run.len() as u64);
        }
        assert_eq!(folder.read("out.npy"), npy::of(&values), "out.npy");
        assert_eq!(folder.read("counts.npy"), npy::of(&counts), "counts.npy");
    }
}

#[test]
fn an_array_of_any_rank_is_selected_from_flat_and_an_empty_one_stays_empty() {
    for (shape, n) in [("()", 1), ("(2, 3)", 6), ("(0, 5)", 0)] {
        let input: Vec<i64> = (1..=n).collect();
        for device in ["cpu", "emulator"] {
            let folder = Folder::new();
            let args = ["select", "-", "--where", "!= 2", "-o", "out.npy", "-q"];
            let args = [&args[..], &["--device", device]].concat();
            folder.call(&args, &npy::shaped(shape, &input)).succeeds();
            let kept: Vec<i64> = (1..=n).filter(|&x| x != 2).collect();
            assert_eq!(folder.read("out.npy"), npy::of(&kept), "{shape}");
        }
    }
}

#[test]
fn the_text_shows_the_number_kept_and_the_files() {
    let folder = Folder::new();
    let call = raw(&folder, &[4i32, -9], "out.npy", &["--where", "> 0", "--check"]).says(&[
        "1 of 2 i32 elements, > 0,",
        "right",
        "out.npy: 1 elements of i32",
    ]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |more: &[&str], parts: &[&str]| {
        raw(&folder, &[1i32], "out.npy", more).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--where"]);
    refused(&["--where", "0.5"], &["a condition"]);
    refused(&["--where", "> half"], &["half is not a number"]);
    refused(&["--where", "> 0", "--unique"], &["--unique"]);
    refused(&["--where", "> 0", "--counts", "c.npy"], &["--counts"]);
    refused(&["--unique", "--counts", "out.npy"], &["--counts", "out.npy"]);
    raw(&folder, &[1i32], "-", &["--unique", "--json"]).fails(WRONG_USAGE, &["-o"]);
    let call = raw(&folder, &[1i32], "out.npy", &["--unique", "--device", "cuda"]);
    call.fails(DEVICE_FAILURE, &["CUDA"]);
    assert!(!folder.path("out.npy").exists());
}
