//! With `--part`, the program writes the same files and prints the same numbers as for the whole
//! array at once.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use gridsync_program::verify::{Ties, runs};
use gridsync_tests::{npy, program};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Elements of the arrays: an odd number, so that the last part is shorter.
const LEN: usize = 3003;

/// A folder with two arrays and ranges.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let write = |name, bytes| {
        fs::write(folder.path().join(name), bytes).expect("the folder should be there")
    };
    let (x, y) = Ties::Many.sample::<f32>(LEN, 1);
    let named = "the type has a name";
    write("x.npy", npy::of(&x).expect(named));
    write("y.npy", npy::of(&y).expect(named));
    write("runs.npy", npy::of(&runs::<i32>(LEN, 2)).expect(named));
    let ranges: Vec<u64> = (0..100).flat_map(|i| [i * i / 4, 30 * i]).collect();
    let header = npy::header("<u8", false, "(100, 2)");
    write("ranges.npy", npy::raw(&header, bytemuck::cast_slice(&ranges)));
    folder
}

/// Calls the program on files of `folder`, on the emulator.
fn call(folder: &Path, args: &[&str], more: &[&str]) -> Call {
    let args: Vec<String> = args
        .iter()
        .map(|arg| match arg.ends_with(".npy") {
            true => folder.join(arg).to_str().expect("UTF-8").to_owned(),
            false => (*arg).to_owned(),
        })
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let more = [more, &["--device", "emulator", "--json"]].concat();
    without_cuda(&[args, more].concat(), b"")
}

/// Checks that `outputs`, and everything printed except times, are the same in parts as at once.
/// Runs with `--check` and without it, since some commands go from file to file only without it.
///
/// `taken` is how many elements a part had in the end; none if all were taken at once.
fn in_parts(args: &[&str], outputs: &[&str], part: usize, taken: Option<usize>) {
    in_parts_with(args, outputs, (part, taken), &["--check"]);
    in_parts_with(args, outputs, (part, taken), &[]);
}

fn in_parts_with(
    args: &[&str],
    outputs: &[&str],
    (part, taken): (usize, Option<usize>),
    more: &[&str],
) {
    let folder = folder();
    let args = [args, more].concat();
    let run = |more: &[&str]| {
        let mut json = call(folder.path(), &args, more).json();
        let part = json["part"].take();
        for time in ["median_us", "total_us", "gb_per_s"] {
            json[time].take();
        }
        let files = outputs.iter().map(|name| folder.path().join(name));
        let files: Vec<_> =
            files.map(|path| fs::read(path).expect("the output should be there")).collect();
        (json, part, files)
    };
    let whole = run(&[]);
    let parts = run(&["--part", &part.to_string()]);
    assert!(whole.1.is_null(), "{}", whole.1);
    assert_eq!(parts.1, Value::from(taken));
    assert_eq!(parts.0, whole.0, "{args:?} by {part}");
    assert!(parts.2 == whole.2, "{args:?} by {part}: other files");
}

#[test]
fn a_scan_of_less_than_a_part_is_one_at_once() {
    in_parts(&["scan", "x.npy", "--op", "sum", "-o", "out.npy"], &["out.npy"], 700, None);
}

#[test]
fn a_scan_goes_in_whole_parts_which_is_said_to_the_bytes_of_one_at_once() {
    // Parts of f32 are multiples of 32 MiB. The array is a little longer.
    const PART: usize = 1 << 23;
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let (x, _) = Ties::Few.sample::<f32>(PART + 4097, 1);
    let file = npy::of(&x).expect("f32 has a name");
    fs::write(folder.path().join("x.npy"), file).expect("the folder should be there");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (x, out) = (at("x.npy"), at("out.npy"));
    let scan = |more: &[&str]| {
        let args = ["scan", &x, "--op", "sum", "-o", &out, "--device", "cpu"];
        let call = without_cuda(&[&args, more].concat(), b"");
        (call, fs::read(&out).expect("it should be written"))
    };
    let (call, whole) = scan(&["--part", "2^24", "--json"]);
    assert!(call.json()["part"].is_null());
    for asked in ["1000", "2^23", "10000000"] {
        let (call, in_parts) = scan(&["--part", asked, "--json"]);
        assert_eq!(call.json()["part"], PART, "{asked}");
        assert!(in_parts == whole, "{asked}: other bytes");
    }
    let (call, _) = scan(&["--part", "1000"]);
    assert!(call.stderr.contains("--part 1000: parts are of 8388608 elements"), "{call:?}");
}

#[test]
fn an_array_that_is_cut_short_on_its_way_leaves_no_output() {
    let folder = folder();
    let mut bytes = fs::read(folder.path().join("x.npy")).expect("it was written");
    let out = folder.path().join("cut.npy");
    let by = [&["scan", "--op", "sum"][..], &["select", "--where", "> 0"]];
    let run = |bytes: &[u8], found: usize| {
        for by in by {
            let out = out.to_str().expect("UTF-8");
            let more = ["-", "-o", out, "--device", "emulator", "--part", "700", "-q"];
            let parts = ["standard input", &found.to_string(), &(4 * LEN).to_string()];
            without_cuda(&[by, &more].concat(), bytes).fails(WRONG_USAGE, &parts);
        }
    };
    bytes.push(0);
    run(&bytes, 4 * LEN + 1);
    bytes.truncate(bytes.len() - 2);
    run(&bytes, 4 * LEN - 1);
    let names = fs::read_dir(folder.path()).expect("the folder should be there");
    assert_eq!(names.count(), 4, "the inputs alone");
}

#[test]
fn a_selection_in_parts_writes_what_one_at_once_writes() {
    let select = ["select", "runs.npy", "-o", "out.npy"];
    for part in [1, 1000, LEN] {
        let by = ["--where", "> 0", "--partition", "rest.npy"];
        in_parts(
            &[select, by].concat(),
            &["out.npy", "rest.npy"],
            part,
            Some(part).filter(|&part| part < LEN),
        );
    }
    let by = ["--unique", "--counts", "counts.npy"];
    in_parts(&[&select[..], &by[..]].concat(), &["out.npy", "counts.npy"], 1000, Some(1000));
}

#[test]
fn a_selection_in_parts_goes_to_a_pipe_too() {
    let folder = folder();
    let select = |more: &[&str]| {
        let x = folder.path().join("x.npy");
        let x = x.to_str().expect("UTF-8");
        let args = ["select", x, "--where", "> 0", "--device", "emulator"];
        assert_cmd::Command::new(program::path())
            .args([&args[..], more].concat())
            .output()
            .expect("it should run")
            .stdout
    };
    let out = folder.path().join("out.npy");
    select(&["-o", out.to_str().expect("UTF-8"), "--part", "700"]);
    let file = fs::read(&out).expect("it was written");
    assert!(file == select(&["-o", "-", "--part", "700"]), "by parts");
    assert!(file == select(&["-o", "-"]), "at once");
}

#[test]
fn range_sums_in_parts_are_those_at_once() {
    let args = ["range-sum", "x.npy", "ranges.npy", "-o", "out.npy"];
    in_parts(&args, &["out.npy"], 700, None);
}

#[test]
fn a_rank_correlation_in_parts_is_that_at_once() {
    in_parts(&["kendall", "x.npy", "y.npy"], &[], 1000, Some(1000));
}

#[test]
fn a_part_of_nothing_is_refused() {
    let folder = folder();
    let args = ["kendall", "x.npy", "y.npy"];
    call(folder.path(), &args, &["--part", "0"]).fails(WRONG_USAGE, &["--part", "0"]);
}
