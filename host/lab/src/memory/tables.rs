//! The tables of `gridsync lab memory`.

use super::Report as Memory;
use super::latencies::Latency;
use super::lines::{Lines, Seen};
use super::sizes::size;
use crate::display::{Table, table};
use std::collections::BTreeMap;

/// All latencies.
pub(super) fn latencies(latencies: &[Latency]) -> Table {
    let mut table = table();
    table.set_header(["", "cycles", "ns"]);
    for Latency { of, cycles, ns, .. } in latencies {
        table.add_row([of, &format!("{cycles:.1}"), &format!("{ns:.1}")]);
    }
    table
}

/// Lines of the L2, from two multiprocessors.
pub(super) fn lines(lines: &Lines) -> Table {
    let mut table = table();
    table.set_header(["from", "5 %", "50 %", "95 %", "fast lines", "slow lines", "of these, %"]);
    let rows = [("one SM", &lines.from_one), ("the SM least like it", &lines.from_another)];
    for (name, seen) in rows {
        let Seen { p5_cycles, p50_cycles, p95_cycles, fast_cycles, slow_cycles, .. } = seen;
        let numbers =
            [p5_cycles, p50_cycles, p95_cycles, fast_cycles, slow_cycles, &seen.slow_percent];
        let numbers = numbers.map(|number| format!("{number:.0}"));
        table.add_row([name.to_owned()].into_iter().chain(numbers));
    }
    table
}

/// The two curves, for each number of bytes in flight.
pub(super) fn rates(report: &Memory) -> Table {
    let mut table = table();
    table.set_header(["KiB in flight on each SM", "device memory, GB/s", "L2, GB/s"]);
    let mut rows = BTreeMap::<usize, [String; 2]>::new();
    for (column, curve) in [&report.device_memory, &report.l2].into_iter().enumerate() {
        for point in curve.envelope() {
            let cell = &mut rows.entry(point.bytes_in_flight).or_default()[column];
            *cell = format!("{:.0}", point.gb_per_s);
        }
    }
    for (in_flight, rates) in rows {
        table.add_row([kib(in_flight as f64)].into_iter().chain(rates));
    }
    table
}

/// The best rate of each curve.
pub(super) fn best(report: &Memory) -> Table {
    let mut table = table();
    let heads = ["", "GB/s", "threads × loads", "KiB there", "KiB for 90 %", "KiB by law"];
    table.set_header(heads);
    for (name, curve, _) in report.curves() {
        let best = &curve.best;
        table.add_row([
            format!("{name}, {}", size(curve.bytes)),
            format!("{:.0}", best.gb_per_s),
            format!("{} × {}", best.threads, best.packs_of_16_bytes),
            kib(best.bytes_in_flight as f64),
            kib(curve.bytes_in_flight_for_90_percent as f64),
            kib(curve.bytes_in_flight_by_littles_law),
        ]);
    }
    table
}

/// Shared memory of one and of all multiprocessors.
pub(super) fn shared(report: &Memory) -> Table {
    let mut table = table();
    table.set_header(["at work", "bytes per cycle of each", "GB/s of all"]);
    let rows = [
        ("one SM".to_owned(), report.shared_memory.one),
        (format!("{} SMs", report.multiprocessors), report.shared_memory.all),
    ];
    for (name, rate) in rows {
        let (each, all) = (rate.bytes_per_cycle, rate.gb_per_s);
        table.add_row([name, format!("{each:.1}"), format!("{all:.0}")]);
    }
    table
}

/// Converts bytes to KiB.
pub(super) fn kib(bytes: f64) -> String {
    format!("{:.1}", bytes / 1024.0)
}
