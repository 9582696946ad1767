//! `gridsync lab banks`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

fn list<'a>(shown: &'a Value, key: &str) -> &'a [Value] {
    shown[key].as_array().expect("there should be a list")
}

#[test]
fn the_emulator_counts_match_the_rule_at_every_stride_and_width() {
    let shown = without_cuda(&["lab", "banks", "--json"], b"").json();
    assert_eq!(shown["device"], "emulator");
    let loads = list(&shown, "loads");
    assert_eq!(loads.len(), 3 * 34);
    for load in loads {
        assert_eq!((&load["counted"], &load["right"]), (&load["rule"], &true.into()), "{load}");
        assert!(load["cycles"].is_null() && load["alone"].is_null(), "{load}");
        let [bytes, stride, passes] = ["bytes", "stride", "rule"].map(|key| load[key].as_u64());
        match (bytes.expect("bytes"), stride.expect("a stride")) {
            (bytes, 32) => assert_eq!(passes, Some(32), "{bytes}: {load}"),
            (bytes, stride) if stride % 2 == 1 => assert_eq!(passes, Some(bytes / 4), "{load}"),
            _ => {}
        }
    }
}

#[test]
fn a_single_width_can_be_selected() {
    for (bytes, number) in [("4", 4), ("8", 8), ("16", 16)] {
        let shown = without_cuda(&["lab", "banks", "--bytes", bytes, "--json"], b"").json();
        let loads = list(&shown, "loads");
        assert_eq!(loads.len(), 34);
        assert!(loads.iter().all(|load| load["bytes"] == number), "{shown}");
    }
    without_cuda(&["lab", "banks", "--bytes", "2"], b"").fails(WRONG_USAGE, &["--bytes", "'2'"]);
}

#[test]
fn the_page_has_the_question_the_passes_an_explanation_and_a_chart() {
    let folder = Folder::new();
    let shown = folder.call(&["lab", "banks", "-o", "."], b"").succeeds().stdout;
    for part in [
        "Which loads of a warp",
        "4 bytes: 32 passes at stride 32, 1 at all odd strides; 8 bytes",
        "16 bytes: 32 passes at stride 8, 16, 24 and 32, 4 at all odd strides.",
        "swizzled",
        "1056",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&shown).contains(part), "{part:?}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let mut names = folder.names();
    names.sort();
    assert_eq!(names, ["banks-tile.svg", "banks.svg"]);
    let quiet = without_cuda(&["lab", "banks", "--quiet"], b"").succeeds().stdout;
    assert!(!quiet.contains("Which loads") && quiet.contains("padded"), "{quiet}");
}

#[test]
fn conflicts_cost_a_gpu_cycles_and_padding_saves_them_on_cuda() {
    with_cuda(|_cuda| {
        let shown = gridsync(&["lab", "banks", "--json"], b"").json();
        let cycles = |bytes: u64, stride: u64| {
            let loads = list(&shown, "loads").iter();
            let mut loads = loads.filter(|load| load["bytes"] == bytes && load["stride"] == stride);
            let load = loads.next().expect("the load should be there");
            assert_eq!(load["right"], true, "{load}");
            load["cycles"].as_f64().expect("cycles")
        };
        for bytes in [4, 8, 16] {
            assert!(cycles(bytes, 32) > 3.0 * cycles(bytes, 1), "{bytes}: {shown}");
            assert!(cycles(bytes, 33) < 2.0 * cycles(bytes, 1), "{bytes}: {shown}");
        }
        let [plain, padded, swizzled] = list(&shown, "tiles") else { panic!("{shown}") };
        for better in [padded, swizzled] {
            assert!(plain["cycles"].as_f64() > better["cycles"].as_f64(), "{shown}");
        }
        let text = gridsync(&["lab", "banks"], b"").succeeds().stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    });
}
