//! `--json` prints the fields that the README describes, and no others.

use crate::call::without_cuda;
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::program::workspace;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The head of the README's table of fields.
const HEAD: &str = "| field | in | what it is |";

/// A row of that table: fields, and the calls that print them.
pub(crate) struct Row {
    pub(crate) fields: Vec<String>,
    calls: Vec<String>,
}

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<String> {
    let parts = cell.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// The rows of that table.
pub(crate) fn rows() -> Vec<Row> {
    let readme = workspace().join("host/program/README.md");
    let readme = fs::read_to_string(readme).expect("the README should be there");
    let (_, table) = readme.split_once(HEAD).expect("the README should have the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1);
        let mut cell = || quoted(cells.next().expect("three cells"));
        Row { fields: cell(), calls: cell() }
    })
    .collect()
}

/// Whether these arguments match the `call` of the table: they contain all of its words, but none
/// of those after `without`. `OP,OP` stands for any operations.
fn is_one(call: &str, args: &[&str]) -> bool {
    let (with, without) = call.split_once(" without ").unwrap_or((call, "-"));
    let are_several = args.iter().any(|arg| arg.contains(','));
    let is_there = |word: &str| args.contains(&word) || word == "OP,OP" && are_several;
    with.split(' ').all(is_there) && !without.split(" or ").any(is_there)
}

/// The fields of an object.
fn fields(object: &Value) -> BTreeSet<String> {
    let object = object.as_object().expect("it should be an object");
    object.keys().cloned().collect()
}

#[test]
fn the_fields_are_those_that_the_readme_describes() {
    let rows = rows();
    assert!(rows.len() > 10, "the table should be read");
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(2, 3)", &[1.0f32, 2.0, 3.0, 3.0, 5.0, 4.0]))
        .with("s.npy", npy::of(&[0i64, 2, 2, 6]))
        .with("q.npy", npy::shaped("(1, 2)", &[0i32, 4]));
    for args in [
        &["reduce", "x.npy", "--op", "sum"][..],
        &["reduce", "x.npy", "--op", "argmin"],
        &["reduce", "x.npy", "--op", "argmax"],
        &["reduce", "x.npy", "--op", "sum,argmin"],
        &["reduce", "x.npy", "--op", "max", "--rows"],
        &["reduce", "x.npy", "--op", "max", "--rows", "--output", "o.npy"],
        &["reduce", "x.npy", "--op", "max", "--axis", "0"],
        &["reduce", "x.npy", "--op", "sum", "--axis", "0"],
        &["scan", "x.npy", "--op", "sum", "--output", "o.npy"],
        &["scan", "x.npy", "--op", "sum", "--rows", "--output", "o.npy"],
        &["select", "x.npy", "--where", "> 1", "--output", "o.npy", "--partition", "p.npy"],
        &["select", "x.npy", "--where", "> 1", "--output", "o.npy", "--positions", "p.npy"],
        &["select", "x.npy", "--unique", "--output", "o.npy", "--counts", "p.npy"],
        &["segments", "x.npy", "s.npy"],
        &["segments", "x.npy", "s.npy", "--output", "o.npy"],
        &["group", "x.npy", "x.npy"],
        &["group", "x.npy", "x.npy", "--adjacent"],
        &["group", "x.npy", "x.npy", "--output", "o.npy"],
        &["group", "x.npy", "x.npy", "--keys", "k.npy"],
        &["group", "x.npy", "x.npy", "--counts", "c.npy"],
        &["sort", "x.npy", "--output", "o.npy"],
        &["sort", "x.npy", "--argsort", "--output", "o.npy"],
        &["unique", "x.npy"],
        &["unique", "x.npy", "--output", "o.npy"],
        &["unique", "x.npy", "--counts", "c.npy", "--indices", "p.npy"],
        &["top", "x.npy", "-k", "2"],
        &["top", "x.npy", "-k", "2", "--output", "o.npy"],
        &["top", "x.npy", "-k", "2", "--indices", "p.npy"],
        &["quantile", "x.npy"],
        &["quantile", "x.npy", "--rows", "--output", "o.npy"],
        &["histogram", "x.npy"],
        &["histogram", "x.npy", "--output", "o.npy"],
        &["histogram", "x.npy", "--weights", "x.npy"],
        &["describe", "x.npy"],
        &["range-sum", "x.npy", "q.npy", "--output", "o.npy"],
        &["kendall", "x.npy", "x.npy"],
    ] {
        let expected = rows.iter().filter(|row| {
            let mut calls = row.calls.iter();
            row.calls.is_empty() || calls.any(|call| is_one(call, args))
        });
        let expected: BTreeSet<_> = expected.flat_map(|row| row.fields.clone()).collect();
        for device in ["cpu", "emulator"] {
            let more = ["--json", "--check", "--device", device];
            let json = folder.call(&[args, &more].concat(), b"").json();
            assert_eq!(fields(&json), expected, "{args:?} on {device}");
            assert_eq!(json["check"]["ok"], true, "{json}");
            assert!(json["part"].is_null(), "{json}");
            assert!(json["total_us"].as_f64() >= json["median_us"].as_f64(), "{json}");
        }
    }
}

#[test]
fn the_check_of_one_result_of_many_and_of_rows_has_its_fields() {
    let array = npy::of(&[1i32, 2, 3]);
    let check = |args: &[&str]| {
        let json = without_cuda(&[args, &["--check", "--json"]].concat(), &array).json();
        fields(&json["check"])
    };
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    let one = ["reference", "abs_err", "bound", "ok"];
    assert_eq!(check(&["reduce", "-", "--op", "sum"]), set(&one));
    let many = [&one[..], &["at"]].concat();
    assert_eq!(check(&["scan", "-", "--op", "sum", "-o", "/dev/null"]), set(&many));
    let rows = check(&["reduce", "-", "--op", "sum", "--rows"]);
    assert_eq!(rows, set(&["wrong_rows", "abs_err", "ok"]));
}
