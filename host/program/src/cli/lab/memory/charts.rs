//! Charts.

use super::{Page, curves, waits};
use gridsync_lab::display::svg::{Bars, ChartError, Estimate, Lines, Row, Series};
use gridsync_lab::memory::Measured;
use gridsync_lab::memory::bandwidth::Point;
use gridsync_lab::memory::lines::Seen;

/// File names.
pub(super) const NAMES: [&str; 3] =
    ["memory-latency.svg", "memory-lines.svg", "memory-bandwidth.svg"];

/// Maximum number of bars of the histogram.
const BINS: f64 = 60.0;

/// The fraction of the lines at either end that the histogram leaves out: a single disturbed line
/// would squeeze the rest.
const LEFT_OUT: f64 = 0.005;

/// Adds the charts to the page.
pub(super) fn draw(page: &mut Page, device: &str, measured: &Measured) -> Result<(), ChartError> {
    let [latency, lines, bandwidth] = NAMES;
    page.file(latency, latencies(device, measured).svg())?;
    page.file(lines, histogram(device, measured).svg())?;
    page.file(bandwidth, rates(device, measured).svg())
}

fn latencies(device: &str, measured: &Measured) -> Bars {
    // The measured cost of an operation in a loop may be negative.
    let ns = |cycles: f64| measured.ns(cycles).max(0.0);
    let row = |(name, cycles): (String, gridsync_lab::bench::Spread)| {
        let cycles = Estimate::between(cycles.median, cycles.min, cycles.max);
        Row::new(name, [Some(cycles.map(ns))])
    };
    Bars {
        title: format!("Latencies on {device}"),
        x_label: "ns".into(),
        note: "one operation after the other, nothing else at work".into(),
        series: vec!["latency".into()],
        rows: waits(measured).into_iter().map(row).collect(),
        roof: None,
    }
}

fn histogram(device: &str, measured: &Measured) -> Lines {
    let (first, other) = (&measured.lines.first, &measured.lines.other);
    let mut all: Vec<f64> = [first, other].iter().flat_map(|seen| seen.cycles.clone()).collect();
    all.sort_by(f64::total_cmp);
    let quantile = |part: f64| all[(part * (all.len() - 1) as f64).round() as usize];
    let (from, to) = (quantile(LEFT_OUT).floor(), quantile(1.0 - LEFT_OUT));
    let width = ((to - from) / BINS).ceil().max(1.0);
    let bins = ((to - from) / width).floor() as usize + 1;
    let series = |name: &str, seen: &Seen| {
        let mut counts = vec![0u32; bins];
        for &cycles in seen.cycles.iter().filter(|cycles| (from..=to).contains(cycles)) {
            counts[((cycles - from) / width) as usize] += 1;
        }
        let points = counts.iter().enumerate();
        let points =
            points.map(|(bin, &count)| (from + (bin as f64 + 0.5) * width, f64::from(count)));
        Series::new(name, points)
    };
    Lines {
        title: format!("Lines of the L2 on {device}"),
        x_label: format!("cycles of a load, in steps of {width}"),
        y_label: "lines".into(),
        log2_x: false,
        series: vec![series("from one SM", first), series("from the SM least like it", other)],
    }
}

fn rates(device: &str, measured: &Measured) -> Lines {
    let series = curves(measured).map(|(name, curve, _)| {
        let point = |point: &Point| {
            let rate = &point.gb_per_s;
            (point.in_flight() as f64, Estimate::between(rate.median, rate.min, rate.max))
        };
        Series::new(name, curve.envelope().into_iter().map(point))
    });
    Lines {
        title: format!("Reading on {device}"),
        x_label: "bytes in flight on each SM".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series: series.into(),
    }
}
