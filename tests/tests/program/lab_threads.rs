//! `gridsync lab threads`.

use crate::call::{gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::{Value, json};

/// Checks each record of `shown` against a plain count through the block: x fastest, then y, then
/// z.
#[track_caller]
fn is_numbered(shown: &Value) {
    let extents = shown["block"].as_array().expect("a block has extents");
    let [x, y, z] = [0, 1, 2].map(|axis: usize| extents[axis].as_u64().expect("an extent"));
    let records = shown["records"].as_array().expect("there should be records");
    let mut number = 0;
    for z in 0..z {
        for y in 0..y {
            for x in 0..x {
                let (warp, lane) = (number / 32, number % 32);
                let record = json!({
                    "position": [x, y, z], "number": number, "warp": warp, "lane": lane
                });
                assert_eq!(records[number], record);
                number += 1;
            }
        }
    }
    assert_eq!(records.len(), number);
}

#[test]
fn forty_by_two_threads_take_three_warps_and_leave_16_lanes_idle() {
    let shown = without_cuda(&["lab", "threads", "--json"], b"").json();
    is_numbered(&shown);
    assert_eq!(shown["device"], "emulator");
    let counts = ["threads", "warps", "lanes", "idle_lanes"].map(|key| shown[key].as_u64());
    assert_eq!(counts, [Some(80), Some(3), Some(96), Some(16)]);
    assert_eq!(shown["registers_are_an_example"], true);
    assert_eq!(shown["idle_registers"], 16 * 32);
}

#[test]
fn the_chart_has_a_cell_for_each_lane() {
    let folder = Folder::new();
    folder.call(&["lab", "threads", "-o", "."], b"").succeeds();
    let chart = String::from_utf8(folder.read("threads.svg")).expect("a chart is text");
    assert_eq!(chart.matches(">0</text>").count(), 40 + 1, "the threads of row 0, and lane 0");
    assert_eq!(chart.matches(">1</text>").count(), 40, "the threads of row 1");
    assert!(chart.contains("a block of 40×2"), "{chart}");
}

#[test]
fn the_registers_of_idle_lanes_are_those_of_the_kernel_on_cuda() {
    with_cuda(|_cuda| {
        for block in ["40,2", "3,5,7", "1024"] {
            let shown = gridsync(&["lab", "threads", "--block", block, "--json"], b"").json();
            is_numbered(&shown);
            assert_eq!(shown["registers_are_an_example"], false);
            let number = |key: &str| shown[key].as_u64().expect("a number");
            assert!((1..=255).contains(&number("registers_per_lane")), "{shown}");
            let idle = number("idle_lanes") * number("registers_per_lane");
            assert_eq!(number("idle_registers"), idle);
        }
    });
}
