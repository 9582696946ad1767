//! With `--part`, the program writes the same files and prints the same numbers as for the whole
//! array at once.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_verify::{Ties, runs};
use serde_json::Value;

/// Elements of the arrays: an odd number, so the last part is shorter.
const LEN: usize = 3003;

/// A folder with four arrays and ranges.
fn folder() -> Folder {
    let (x, y) = Ties::Many.sample::<f32>(LEN, 1);
    let ranges: Vec<u64> = (0..100).flat_map(|i| [i * i / 4, 30 * i]).collect();
    Folder::new()
        .with("x.npy", npy::of(&x))
        .with("y.npy", npy::of(&y))
        .with("runs.npy", npy::of(&runs::<i32>(LEN, 2)))
        .with("few.npy", npy::of(&runs::<i32>(101, 2)))
        .with("ranges.npy", npy::shaped("(100, 2)", &ranges))
}

/// Calls the program in `folder`, on the emulator.
fn call(folder: &Folder, args: &[&str], more: &[&str]) -> Call {
    folder.call(&[args, more, &["--device", "emulator", "--json"]].concat(), b"")
}

/// Checks that `outputs`, and everything printed except times, are the same in parts as at once.
/// Runs with `--check` and without it, because some commands stream from file to file only without
/// it.
///
/// `taken` is the final number of elements per part, or `None` if the whole array was processed at
/// once.
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
        let mut json = call(&folder, &args, more).json();
        let part = json["part"].take();
        for time in ["median_us", "total_us", "gb_per_s"] {
            json[time].take();
        }
        let files: Vec<_> = outputs.iter().map(|name| folder.read(name)).collect();
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
fn a_scan_of_less_than_a_part_is_done_at_once() {
    in_parts(&["scan", "x.npy", "--op", "sum", "-o", "out.npy"], &["out.npy"], 700, None);
}

#[test]
fn a_scan_rounds_and_reports_its_parts_and_writes_the_same_bytes() {
    // On the CPU, parts are multiples of the tile of 8192 f32. Two groups of tiles have 32 MiB each.
    let (x, _) = Ties::Few.sample::<f32>((1 << 24) + 4097, 1);
    let folder = Folder::new().with("x.npy", npy::of(&x));
    let scan = |more: &[&str]| {
        let args = ["scan", "x.npy", "--op", "sum", "-o", "out.npy", "--device", "cpu"];
        let call = folder.call(&[&args, more].concat(), b"");
        (call, folder.read("out.npy"))
    };
    let (call, whole) = scan(&["--part", "2^25", "--json"]);
    assert!(call.json()["part"].is_null());
    for (asked, part) in [("100000", 98304), ("2^23", 1 << 23), ("10000000", 9_994_240)] {
        let (call, in_parts) = scan(&["--part", asked, "--json"]);
        assert_eq!(call.json()["part"], part, "{asked}");
        assert!(in_parts == whole, "{asked}: other bytes");
    }
    let (call, _) = scan(&["--part", "1000"]);
    assert!(call.stderr.contains("--part 1000: parts are of 8192 elements"), "{call:?}");
}

#[test]
fn an_array_that_is_truncated_while_read_leaves_no_output() {
    let folder = folder();
    let mut bytes = folder.read("x.npy");
    let by = [&["scan", "--op", "sum"][..], &["select", "--where", "> 0"]];
    let run = |bytes: &[u8], found: usize| {
        for by in by {
            let more = ["-", "-o", "cut.npy", "--device", "emulator", "--part", "700", "-q"];
            let parts = ["standard input", &found.to_string(), &(4 * LEN).to_string()];
            folder.call(&[by, &more].concat(), bytes).fails(WRONG_USAGE, &parts);
        }
    };
    bytes.push(0);
    run(&bytes, 4 * LEN + 1);
    bytes.truncate(bytes.len() - 2);
    run(&bytes, 4 * LEN - 1);
    assert_eq!(folder.names().len(), 5, "the inputs alone");
}

#[test]
fn a_selection_in_parts_writes_the_same_as_one_at_once() {
    for (name, part, taken) in
        [("few.npy", 1, Some(1)), ("runs.npy", 1000, Some(1000)), ("runs.npy", LEN, None)]
    {
        let by = ["--where", "> 0", "--partition", "rest.npy"];
        let select = [&["select", name, "-o", "out.npy"], &by[..]].concat();
        in_parts(&select, &["out.npy", "rest.npy"], part, taken);
    }
    let by = ["--unique", "--counts", "counts.npy"];
    let select = [&["select", "runs.npy", "-o", "out.npy"], &by[..]].concat();
    in_parts(&select, &["out.npy", "counts.npy"], 1000, Some(1000));
}

#[test]
fn a_selection_in_parts_can_be_piped() {
    let folder = folder();
    let select = |more: &[&str]| {
        let args = ["select", "x.npy", "--where", "> 0", "--device", "emulator"];
        folder.command().args(args).args(more).output().expect("it should run").stdout
    };
    select(&["-o", "out.npy", "--part", "700"]);
    let file = folder.read("out.npy");
    assert!(file == select(&["-o", "-", "--part", "700"]), "by parts");
    assert!(file == select(&["-o", "-"]), "at once");
}

#[test]
fn range_sums_in_parts_equal_those_at_once() {
    let args = ["range-sum", "x.npy", "ranges.npy", "-o", "out.npy"];
    in_parts(&args, &["out.npy"], 700, None);
}

#[test]
fn a_rank_correlation_in_parts_equals_the_one_at_once() {
    in_parts(&["kendall", "x.npy", "y.npy"], &[], 1000, Some(1000));
}

#[test]
fn an_empty_part_is_refused() {
    let folder = folder();
    let args = ["kendall", "x.npy", "y.npy"];
    call(&folder, &args, &["--part", "0"]).fails(WRONG_USAGE, &["--part", "0"]);
}
