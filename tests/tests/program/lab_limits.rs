//! `gridsync lab limits`.

use crate::call::gridsync;
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

/// The elements of a field that is a list.
fn list(json: &Value, field: &str) -> Vec<Value> {
    json[field].as_array().unwrap_or_else(|| panic!("{field} in {json}")).clone()
}

#[test]
fn the_text_fits_in_a_terminal_and_the_chart_has_a_line_for_each_block() {
    let folder = Folder::new();
    let args = ["lab", "limits", "-o", ".", "--device", "emulator"];
    let text = folder.call(&args, b"").succeeds().stdout;
    for part in ["How many registers", "1024", "Each limit, tried", "units: 8 for a thread"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 82), "{text}");
    let chart = String::from_utf8(folder.read("limits.svg")).expect("SVG is text");
    for part in ["blocks of 128", "blocks of 1024", "registers of a thread"] {
        assert!(chart.contains(part), "{part}");
    }
}

#[test]
fn the_driver_agrees_with_the_computed_blocks_on_cuda() {
    with_cuda(|cuda| {
        let json = gridsync(&["lab", "limits", "--json"], b"").json();
        let rows = list(&json, "driver");
        assert_eq!(rows.len(), 32, "{json}");
        assert!(rows.iter().all(|row| row["blocks"] == row["computed"]), "{json}");
        let registers = rows.iter().filter_map(|row| row["registers"].as_u64());
        assert!(registers.max() >= Some(128), "{json}");
        let tried = list(&json, "tried");
        assert_eq!(tried.len(), if cuda.properties().cluster { 8 } else { 7 }, "{json}");
        for tried in tried {
            assert_ne!(tried["right"], false, "{tried}");
            assert!(tried["error"].is_string(), "{tried}");
        }
    });
}
