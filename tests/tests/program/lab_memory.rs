//! `gridsync lab memory`.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;
use std::fs;

/// The charts.
const FILES: [&str; 3] = ["memory-bandwidth.svg", "memory-latency.svg", "memory-lines.svg"];

#[test]
fn without_a_gpu_it_is_refused_in_one_line_and_writes_nothing() {
    let folder = Folder::new();
    let refused = folder.call(&["lab", "memory", "-o", "figures"], b"");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(DEVICE_FAILURE), ""));
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("lab memory needs a GPU"), "{}", refused.stderr);
    assert!(FILES.iter().all(|name| !folder.path("figures").join(name).exists()));
}

#[test]
fn the_emulator_and_unknown_arguments_are_refused() {
    let call = |args: &[&str]| without_cuda(&[&["lab", "memory"], args].concat(), b"");
    call(&["--device", "emulator"]).fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
    call(&["--bytes", "7"]).fails(WRONG_USAGE, &["--bytes"]);
}

#[test]
fn its_help_lists_the_measurements_and_the_charts() {
    let help = without_cuda(&["lab", "memory", "--help"], b"").succeeds();
    for part in ["another multiprocessor", "bytes in flight", "--output <DIR>"].iter().chain(&FILES)
    {
        assert!(help.stdout.contains(part), "{part:?}: {}", help.stdout);
    }
}

#[test]
fn on_cuda_farther_memories_are_slower_and_more_loads_in_flight_are_faster() {
    with_cuda(|cuda| {
        let folder = Folder::new();
        let shown = folder.gridsync(&["lab", "memory", "--json", "-o", "."], b"").json();
        let latencies = shown["latencies"].as_array().expect("there should be latencies");
        let cycles = |name: &str| {
            // For arrays in device memory, the size follows the name, and the smaller one comes
            // first.
            let is_it = |of: &str| of == name || of.starts_with(&format!("{name},"));
            let found = latencies.iter().find(|found| found["of"].as_str().is_some_and(is_it));
            let found = found.unwrap_or_else(|| panic!("{name}: {shown}"));
            let [min, median, max] =
                ["cycles_min", "cycles", "cycles_max"].map(|key| found[key].as_f64());
            assert!(min <= median && median <= max && found["ns"].is_number(), "{found}");
            median.expect("a number")
        };
        let (l1, l2, memory) = (cycles("L1"), cycles("L2"), cycles("device memory"));
        assert!(5.0 < cycles("shared memory") && cycles("shared memory") < l2, "{shown}");
        assert!(5.0 < l1 && l1 < 0.8 * l2 && l2 < 0.9 * memory && memory < 10_000.0, "{shown}");
        if cuda.properties().cluster {
            let other = cycles("shared memory of another SM");
            assert!(cycles("shared memory") < other && other < memory, "{shown}");
        }
        for from in ["from_one", "from_another"] {
            let seen = &shown["l2_lines"][from];
            let [p5, p50, p95] =
                ["p5_cycles", "p50_cycles", "p95_cycles"].map(|p| seen[p].as_f64());
            assert!(Some(5.0) < p5 && p5 <= p50 && p50 <= p95, "{from}: {seen}");
        }
        let rates = |memory: &str| {
            let curve = &shown[memory];
            let points = curve["points"].as_array().expect("there should be points");
            let rate = |point: &Value| point["gb_per_s"].as_f64().expect("a rate");
            let in_flight = |point: &Value| point["bytes_in_flight"].as_u64().expect("a number");
            assert!(points.iter().all(|point| rate(point) > 0.0), "{curve}");
            let least = points.iter().min_by_key(|point| in_flight(point)).expect("a point");
            let best = rate(&curve["best"]);
            assert!(best > 2.0 * rate(least), "{curve}");
            assert!(curve["bytes_in_flight_for_90_percent"].as_u64() > Some(in_flight(least)));
            best
        };
        assert!(rates("device_memory") < rates("l2"), "{shown}");
        for grid in ["one", "all"] {
            let bytes = shown["shared_memory"][grid]["bytes_per_cycle"].as_f64();
            assert!(Some(16.0) < bytes && bytes < Some(300.0), "{grid}: {shown}");
        }
        for name in FILES {
            let svg = fs::read_to_string(folder.path(name)).expect("it should be written");
            assert!(svg.starts_with("<svg"), "{name}");
        }
    });
}
