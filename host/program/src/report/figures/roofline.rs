//! The roofline: the rates of all primitives by their bytes.

use super::throughputs::in_a_row;
use super::{Figure, rate};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{ChartError, Lines, Role, Series};

/// The default design of each suite: the suite, the operation, the variant, the name in the figure.
const SHOWN: [[&str; 4]; 5] = [
    ["reduce", "sum", "tiles", "sums"],
    ["scan", "sum", "auto", "inclusive sums"],
    ["select", "select", "kept 50 %", "selection of half"],
    ["partition", "partition", "kept 50 %", "partition into halves"],
    ["unique", "unique", "kept 50 %", "half are unique"],
];

/// The rate of each primitive of f32 by its bytes. The roof comes from the least time of a call and
/// the best rate of only reading.
pub(super) fn of_all(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let of_f32 = |suite: &str, op: &str, variant: &str| {
        let mut records = of.suite(suite);
        records.retain(|record| {
            record.word("dtype") == Some("f32")
                && record.word("op") == Some(op)
                && record.variant == variant
        });
        in_a_row(records.into_iter())
    };
    let read = of_f32("reduce", "read", "read");
    let peak = read.iter().filter_map(|record| record.gb_per_s()).fold(0.0, f64::max);
    let shown = SHOWN.map(|[suite, op, variant, name]| (name, of_f32(suite, op, variant)));
    let calls = || read.iter().chain(shown.iter().flat_map(|(_, records)| records)).copied();
    let least_us = calls().map(|record| record.median).fold(f64::INFINITY, f64::min);
    let bytes = |record: &Sourced<Record>| record.bytes.map(|bytes| bytes as f64);
    let [least, most] = [f64::min, f64::max]
        .map(|choose: fn(f64, f64) -> f64| calls().filter_map(bytes).reduce(choose).unwrap_or(0.0));
    // GB/s times µs is thousands of bytes.
    let knee = peak * least_us * 1e3;
    let points = shown.iter().map(|(name, records)| {
        let point = |record: &&Sourced<Record>| Some((bytes(record)?, rate(record)?));
        Series::new(*name, records.iter().filter_map(point))
    });
    let points: Vec<_> = points.filter(|series| !series.points.is_empty()).collect();
    if read.is_empty() || points.is_empty() || !(least < knee && knee < most) {
        return Ok(Vec::new());
    }
    let roof = [least, knee, most].map(|bytes| (bytes, (bytes / least_us / 1e3).min(peak)));
    let longest = |series: &Series| {
        let (_, rate) = series.points.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!("{} {:.0} %", series.key.name, 100.0 * rate.value / peak))
    };
    let parts: Vec<_> = points.iter().filter_map(longest).collect();
    let caption = format!(
        "f32, many calls in a row. The roof is the least time of any call here, {least_us:.2} µs, and the \
         best rate of only reading, {peak:.0} GB/s. Percentage of that rate with the most elements: {}.",
        parts.join(", ")
    );
    let roof = Series::bound(Role::Roof.named("roof"), roof);
    let chart = Lines {
        title: "All primitives below one roof".into(),
        x_label: "bytes that have to move".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series: [roof].into_iter().chain(points).collect(),
    };
    let chart = (chart.svg()?, chart.csv());
    Ok(vec![of.figure("roofline", chart, caption, calls())])
}
