//! The numbers of the README.

use gridsync_program::records::Runs;
use gridsync_program::report::{headlines, markdown};
use gridsync_tests::program::workspace;
use std::fs;

/// Comments around the table, invisible to readers.
const MARKS: [&str; 2] = [
    "<!-- From bench/runs, by `cargo xtask readme`: -->\n",
    "<!-- End of what is from bench/runs. -->\n",
];

/// The device of the table.
const DEVICE: &str = "NVIDIA H200";

#[test]
fn the_numbers_of_the_readme_match_the_records() {
    let root = workspace();
    let runs = Runs::read(&[root.join("bench/runs")]).expect("the records can be read");
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path).expect("the README can be read");
    let [begin, end] = MARKS;
    let (before, rest) = readme.split_once(begin).expect("the README has the first mark");
    let (shown, after) = rest.split_once(end).expect("the README has the second mark");

    let lines = headlines(&runs, DEVICE);
    assert_eq!(lines.len(), 8, "each line of the table has a record: {lines:?}");
    let table = markdown(&lines, DEVICE);
    if std::env::var_os("README").is_some_and(|value| value == "overwrite") {
        fs::write(&path, format!("{before}{begin}{table}{end}{after}")).expect("it can be written");
        return;
    }
    assert_eq!(shown, table, "the README is not up to date: run cargo xtask readme");
}
