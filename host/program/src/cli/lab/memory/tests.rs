//! The page, from made-up numbers.

use super::*;
use crate::cli::Cli;
use clap::Parser;
use gridsync_lab::fences::Cost;
use gridsync_lab::memory::bandwidth::Shared;
use gridsync_lab::memory::latencies::Latencies;
use gridsync_lab::memory::lines::Lines;

fn spread(median: f64) -> Spread {
    Spread::of(vec![median]).expect("a sample")
}

/// A device with 100 multiprocessors at 1 GHz, so that a cycle takes a nanosecond.
fn made_up() -> Measured {
    let curve = |bytes, most: f64| {
        let points = (0..8).map(|log| Point {
            threads: 32 << log,
            packs: 1,
            gb_per_s: spread(most.min(100.0 * f64::from(1 << log))),
        });
        Curve { bytes, points: points.collect() }
    };
    let lines = |odd: usize| {
        let cycles = |line: usize| if line % 2 == odd { 300.0 } else { 200.0 };
        (0..64).map(cycles).collect::<Vec<_>>()
    };
    let cost = |instruction, cycles| Cost { instruction, stores: 0, cycles: spread(cycles) };
    Measured {
        clock_mhz: 1000.0,
        multiprocessors: 100,
        l2_bytes: 50 << 20,
        peak_gb_per_s: Some(4000.0),
        latencies: Latencies {
            shuffle: spread(24.0),
            barrier: spread(40.0),
            shared: spread(25.0),
            l1: spread(30.0),
            other_shared: Some(spread(180.0)),
            l2: spread(250.0),
            device_memory: Walked { bytes: 150 << 20, cycles: spread(600.0) },
            large: Walked { bytes: 1 << 30, cycles: spread(660.0) },
            operations: vec![
                cost("fence.acq_rel.cta", -0.5),
                cost("fence.acq_rel.gpu", 500.0),
                cost("atom.relaxed.gpu.global.add.u32", 400.0),
            ],
        },
        lines: Lines::of(&[lines(0), lines(1)]).expect("there are lines"),
        device_memory: curve(1 << 30, 3000.0),
        l2: curve(16 << 20, 6000.0),
        shared: Shared { one: spread(120.0), all: spread(119.0) },
    }
}

fn found(measured: &Measured) -> Found {
    let call = Cli::try_parse_from(["gridsync", "lab"]).expect("a call");
    page("made-up", measured).expect("charts can be drawn").found(&call.global)
}

#[test]
fn the_page_fits_in_a_terminal_and_has_ratios() {
    let text = found(&made_up()).text;
    let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0], "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "1000 MHz",
        "shared memory of another SM 180.0 180.0",
        "device memory, 1 GiB 660.0 660.0",
        "8.3 times as long as one that hits the L1",
        "2.4 times as long as one that hits the L2",
        "1.10 times as long as in 150 MiB",
        "0.72 times as long as the L2: so blocks of a cluster reach each other faster",
        "1.60 times as long as a load from there",
        "about 200 cycles, and the others about 300, 1.50 times as long",
        "a correlation of -1.00",
        "3000 GB/s × 660 ns are 19.3 KiB on each multiprocessor",
        "16.0 KiB, 0.8 times that",
        "reading reaches 75.0 % of that",
        "94 % of the 128",
        "each reads as fast as one alone",
    ] {
        assert!(words.contains(part), "{part:?}: {text}");
    }
}

#[test]
fn other_numbers_have_other_meanings() {
    let mut measured = made_up();
    measured.latencies.other_shared = None;
    measured.latencies.large.cycles = spread(603.0);
    measured.peak_gb_per_s = None;
    measured.shared.all = spread(60.0);
    measured.lines = Lines::of(&[vec![200.0; 64], vec![200.0; 64]]).expect("there are lines");
    let words = found(&measured).text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "costs next to nothing",
        "All lines of the L2 are about as far",
        "The driver does not tell",
        "each is slower than one alone",
    ] {
        assert!(words.contains(part), "{part:?}: {words}");
    }
    assert!(!words.contains("another SM"), "{words}");
}

#[test]
fn the_json_has_units_in_its_names_and_charts_have_their_files() {
    let found = found(&made_up());
    let json = &found.json;
    assert_eq!(json["latencies"][0]["of"], "fence.acq_rel.cta");
    assert_eq!(json["latencies"][1]["ns"], 24.0);
    assert_eq!(json["l2_lines"]["from_one"]["slow_percent"], 50.0);
    assert_eq!(json["device_memory"]["best"]["gb_per_s"], 3000.0);
    assert_eq!(json["device_memory_percent_of_peak"], 75.0);
    assert_eq!(json["device_memory"]["bytes_in_flight_for_90_percent"], 16384);
    assert_eq!(json["l2"]["points"].as_array().map(Vec::len), Some(8));
    assert_eq!(json["shared_memory"]["all"]["gb_per_s"], 11_900.0);
    let names: Vec<_> = found.files.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, charts::NAMES);
    assert!(found.files.iter().all(|(_, svg)| svg.starts_with("<svg")));
}

#[test]
fn sizes_are_shown_in_the_largest_unit() {
    let told = [1 << 30, 150 << 20, 3 << 29, 16 << 10, 100].map(size);
    assert_eq!(told, ["1 GiB", "150 MiB", "1.5 GiB", "16 KiB", "100 bytes"]);
}
