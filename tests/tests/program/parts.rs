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
fn a_sort_in_parts_writes_the_same_as_one_at_once() {
    for more in [&[][..], &["--descending"], &["--argsort"], &["--total-order", "--argsort"]] {
        for (name, part, taken) in [("x.npy", 1000, Some(1000)), ("few.npy", 1, Some(11))] {
            in_parts(&[&["sort", name, "-o", "out.npy"], more].concat(), &["out.npy"], part, taken);
        }
    }
    let folder = folder();
    let call = call(&folder, &["sort", "few.npy", "-o", "out.npy"], &["--part", "1"]);
    assert_eq!(call.json()["part"], 11);
    let args = ["sort", "few.npy", "-o", "out.npy", "--part", "1", "--device", "cpu"];
    let said = folder.call(&args, b"").stderr;
    assert!(said.contains("--part 1: parts are of 11 elements"), "{said}");
}

#[test]
fn a_sort_in_parts_can_be_piped_and_leaves_no_other_file() {
    let folder = folder();
    let sort = |more: &[&str]| {
        let args = ["sort", "x.npy", "--device", "cpu", "-q"];
        folder.command().args(args).args(more).output().expect("it should run").stdout
    };
    sort(&["-o", "out.npy", "--part", "700"]);
    let file = folder.read("out.npy");
    assert!(file == sort(&["-o", "-", "--part", "700"]), "by parts");
    assert!(file == sort(&["-o", "-"]), "at once");
    assert_eq!(folder.names().len(), 6, "the inputs and the output");
}

#[test]
fn narrow_integers_are_sorted_in_parts_without_widening() {
    let bytes: Vec<u8> = (0..LEN as u32).map(|i| ((i * 40_503) >> 7) as u8).collect();
    let header = npy::header("|i1", false, &format!("({LEN},)"));
    let folder = Folder::new().with("bytes.npy", npy::raw(&header, &bytes));
    for command in ["sort", "unique"] {
        for device in ["cpu", "emulator"] {
            let run = |more: &[&str]| {
                let args = [command, "bytes.npy", "-o", "out.npy", "--device", device, "--check"];
                let json = folder.call(&[&args[..], &["--json"], more].concat(), b"").json();
                assert_eq!((&json["dtype"], &json["check"]["ok"]), (&"i8".into(), &true.into()));
                (json["part"].clone(), folder.read("out.npy"))
            };
            let (whole, parts) = (run(&[]), run(&["--part", "1000"]));
            assert_eq!((whole.0, parts.0), (Value::Null, 1000.into()), "{command} on {device}");
            assert!(whole.1 == parts.1, "{command} on {device}");
        }
    }
}

#[test]
fn selections_by_rank_in_parts_are_those_at_once() {
    for (name, part) in [("x.npy", 1000), ("few.npy", 50)] {
        for more in [&[][..], &["--smallest"], &["--by-index"]] {
            let top = [&["top", name, "-k", "60"], more].concat();
            in_parts(&top, &[], part, Some(part));
        }
        let files = ["-o", "out.npy", "--indices", "at.npy"];
        let top = [&["top", name, "-k", "70"], &files[..]].concat();
        in_parts(&top, &["out.npy", "at.npy"], part, Some(part));
        in_parts(&["quantile", name, "0", "0.3", "0.5", "0.77", "1"], &[], part, Some(part));
        in_parts(&["unique", name], &[], part, Some(part));
        in_parts(&["histogram", name, "--bins", "37"], &[], part, Some(part));
    }
    in_parts(&["histogram", "few.npy", "--numbers", "-5..900"], &[], 50, Some(50));
}

#[test]
fn rows_are_processed_in_parts_of_whole_rows() {
    let x = Ties::Many.sample::<f32>(LEN, 1).0;
    let folder = Folder::new().with("m.npy", npy::shaped("(77, 3, 13)", &x));
    for (args, outputs) in [
        (&["sort", "m.npy", "-o", "out.npy"][..], &["out.npy"][..]),
        (&["sort", "m.npy", "-o", "out.npy", "--argsort"], &["out.npy"]),
        (
            &["top", "m.npy", "-k", "5", "-o", "out.npy", "--indices", "at.npy"],
            &["out.npy", "at.npy"],
        ),
        (&["quantile", "m.npy", "0.1", "0.5", "-o", "out.npy"], &["out.npy"]),
    ] {
        for device in ["cpu", "emulator"] {
            let run = |more: &[&str]| {
                let args = [args, more, &["--check", "--json", "--device", device]].concat();
                let json = folder.call(&args, b"").json();
                assert_eq!(json["check"]["ok"], true, "{args:?}");
                let files: Vec<_> = outputs.iter().map(|name| folder.read(name)).collect();
                (json["part"].clone(), files)
            };
            let (whole, parts) = (run(&["--rows"]), run(&["--rows", "--part", "100"]));
            assert_eq!((&whole.0, &parts.0), (&Value::Null, &91.into()), "{args:?}");
            assert!(whole.1 == parts.1, "{args:?} on {device}");
            let refused = [args, &["--axis", "0", "--part", "100", "--device", device]].concat();
            folder
                .call(&refused, b"")
                .fails(WRONG_USAGE, &["--axis needs the whole array", "--part"]);
        }
    }
}

#[test]
fn bins_by_the_elements_need_an_input_that_can_be_read_twice() {
    let folder = folder();
    let args = ["histogram", "-", "--part", "100", "--device", "cpu"];
    let file = folder.read("x.npy");
    folder.call(&args, &file).fails(WRONG_USAGE, &["standard input", "once", "--range"]);
    let with_range = [&args[..], &["--range", "0", "1", "--json"]].concat();
    assert_eq!(folder.call(&with_range, &file).json()["part"], 100);
}

#[test]
fn an_empty_part_is_refused() {
    let folder = folder();
    let args = ["kendall", "x.npy", "y.npy"];
    call(&folder, &args, &["--part", "0"]).fails(WRONG_USAGE, &["--part", "0"]);
}
