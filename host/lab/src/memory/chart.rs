//! The charts of `gridsync lab memory`.

use super::Report as Memory;
use super::latencies::Latency;
use super::lines::Seen;
use crate::Chart;
use crate::display::svg::{Bars, ChartError, Estimate, Lines, Row, Series};

/// Maximum number of bars of the histogram.
const BINS: f64 = 60.0;

/// The fraction of the lines at either end that the histogram leaves out: a single disturbed line
/// would squeeze the rest.
const LEFT_OUT: f64 = 0.005;

/// All latencies.
pub(super) fn latencies(report: &Memory) -> Result<Chart, ChartError> {
    // The measured cost of an operation in a loop may be negative.
    let ns = |cycles: f64| (cycles * 1e3 / report.clock_mhz).max(0.0);
    let row = |latency: &Latency| Row::new(&latency.of, [Some(latency.estimate().map(ns))]);
    let bars = Bars {
        title: format!("Latencies on {}", report.device),
        x_label: "ns".into(),
        note: "one operation after the other, nothing else at work".into(),
        series: vec!["latency".into()],
        rows: report.latencies.iter().map(row).collect(),
        roof: None,
    };
    Chart::bars("memory-latency", "", &bars)
}

/// A histogram of the lines of the L2.
pub(super) fn lines(report: &Memory) -> Result<Chart, ChartError> {
    let (first, other) = (&report.l2_lines.from_one, &report.l2_lines.from_another);
    let mut all: Vec<f64> =
        [first, other].iter().flat_map(|seen| seen.cycles_of_lines.clone()).collect();
    all.sort_by(f64::total_cmp);
    let quantile = |part: f64| all[(part * (all.len() - 1) as f64).round() as usize];
    let (from, to) = (quantile(LEFT_OUT).floor(), quantile(1.0 - LEFT_OUT));
    let width = ((to - from) / BINS).ceil().max(1.0);
    let bins = ((to - from) / width).floor() as usize + 1;
    let series = |name: &str, seen: &Seen| {
        let mut counts = vec![0u32; bins];
        for &cycles in seen.cycles_of_lines.iter().filter(|cycles| (from..=to).contains(cycles)) {
            counts[((cycles - from) / width) as usize] += 1;
        }
        let points = counts.iter().enumerate();
        let points =
            points.map(|(bin, &count)| (from + (bin as f64 + 0.5) * width, f64::from(count)));
        Series::new(name, points)
    };
    let chart = Lines {
        title: format!("Lines of the L2 on {}", report.device),
        x_label: format!("cycles of a load, in steps of {width}"),
        y_label: "lines".into(),
        log2_x: false,
        series: vec![series("from one SM", first), series("from the SM least like it", other)],
    };
    Chart::lines("memory-lines", "", &chart)
}

/// The rate of reading by the bytes in flight.
pub(super) fn rates(report: &Memory) -> Result<Chart, ChartError> {
    let series = report.curves().map(|(name, curve, _)| {
        let points = curve.envelope().into_iter().map(|point| {
            let rate = Estimate::between(point.gb_per_s, point.gb_per_s_min, point.gb_per_s_max);
            (point.bytes_in_flight as f64, rate)
        });
        Series::new(name, points)
    });
    let chart = Lines {
        title: format!("Reading on {}", report.device),
        x_label: "bytes in flight on each SM".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series: series.into(),
    };
    Chart::lines("memory-bandwidth", "", &chart)
}
