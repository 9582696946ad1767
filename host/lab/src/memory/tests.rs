//! The page and the charts, from made-up numbers and from a committed result.

use super::latencies::{BARRIER_THREADS, Latency};
use super::lines::Lines;
use super::{Args, Curve, Point, Rate, Report as Memory, Shared};
use crate::bench::Spread;
use crate::experiment::committed;
use crate::{Chart, Experiment, Report};

/// A device with 100 multiprocessors at 1 GHz, so that a cycle takes a nanosecond.
fn made_up() -> Memory {
    let spread = |median| Spread::of(vec![median]).expect("a sample");
    let curve = |bytes, most: f64, ns| {
        let points = (0..8)
            .map(|log| Point::new(32 << log, 1, spread(most.min(100.0 * f64::from(1 << log)))));
        Curve::of(bytes, points.collect(), ns, 100)
    };
    let lines = |odd: usize| {
        let cycles = |line: usize| if line % 2 == odd { 300.0 } else { 200.0 };
        (0..64).map(cycles).collect::<Vec<_>>()
    };
    let barrier = format!("barrier of {BARRIER_THREADS} threads");
    let latency = |(of, cycles): (&str, f64)| Latency::new(of, spread(cycles), 1000.0);
    let array = |bytes, cycles| Latency::of_array(bytes, spread(cycles), 1000.0);
    let mut latencies = [
        ("fence.acq_rel.cta", -0.5),
        ("warp shuffle", 24.0),
        ("shared memory", 25.0),
        ("L1", 30.0),
        (&*barrier, 40.0),
        ("shared memory of another SM", 180.0),
        ("L2", 250.0),
        ("atom.relaxed.gpu.global.add.u32", 400.0),
        ("fence.acq_rel.gpu", 500.0),
    ]
    .map(latency)
    .to_vec();
    latencies.extend([array(150 << 20, 600.0), array(1 << 30, 660.0)]);
    Memory {
        device: "made-up".into(),
        clock_mhz: 1000.0,
        multiprocessors: 100,
        l2_bytes: 50 << 20,
        peak_gb_per_s: Some(4000.0),
        device_memory_percent_of_peak: Some(75.0),
        latencies,
        l2_lines: Lines::of(&[lines(0), lines(1)]).expect("there are lines"),
        device_memory: curve(1 << 30, 3000.0, 660.0),
        l2: curve(16 << 20, 6000.0, 250.0),
        shared_memory: Shared {
            one: Rate::of(120.0, 1000.0, 1),
            all: Rate::of(119.0, 1000.0, 100),
        },
    }
}

#[test]
fn the_page_fits_in_a_terminal_and_has_ratios() {
    let text = made_up().page().text(false);
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
    let mut report = made_up();
    report.latencies.retain(|latency| !latency.of.contains("another SM"));
    report.latencies.last_mut().expect("the large array").cycles = 603.0;
    report.peak_gb_per_s = None;
    report.shared_memory.all = Rate::of(60.0, 1000.0, 100);
    report.l2_lines = Lines::of(&[vec![200.0; 64], vec![200.0; 64]]).expect("there are lines");
    let words = report.page().text(false).split_whitespace().collect::<Vec<_>>().join(" ");
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
fn a_committed_result_keeps_its_json_and_is_drawn() {
    let report: Memory = committed("2026-11-23-nvidia-h200/lab-memory.json");
    let charts = report.charts().expect("the charts are complete");
    assert!(charts.iter().map(Chart::file).eq(Args::FILES.iter().copied()));
    // A negative latency is drawn as 0, with its range.
    assert!(
        charts[0].csv.contains("red.relaxed.gpu.global.add.u32,latency,0,0,0"),
        "{}",
        charts[0].csv
    );
    let Curve { bytes, points, .. } = report.l2.clone();
    let ns = report.latency("L2").expect("it is measured").ns;
    assert_eq!(Curve::of(bytes, points, ns, report.multiprocessors), report.l2);
}
