//! The charts of `gridsync lab atomics`.

use super::report::{Atomics, of_target};
use super::{Cost, TARGETS};
use crate::Chart;
use crate::display::svg::{Bars, ChartError, Estimate, Row};

/// A chart of the rates of the integers, and one of those of the floating-point numbers, because a
/// bar chart has at most three series.
pub(super) fn rates(report: &Atomics) -> Result<Vec<Chart>, ChartError> {
    let chart = |name, types: [&str; 2]| {
        let title = format!("Atomic additions of {} and {}, no result", types[0], types[1]);
        chart(report, name, types, (title, "10⁹ additions per second"), Cost::rates)
    };
    let integers = chart("atomics", ["u32", "u64"])?;
    let integers = Chart { in_report: "atomics-integers", ..integers };
    Ok(vec![integers, chart("atomics-floats", ["f32", "f64"])?])
}

/// A chart of the sectors.
pub(super) fn sectors(report: &Atomics) -> Result<Vec<Chart>, ChartError> {
    let title = "Sectors that the atomic additions of a warp touch".to_owned();
    let labels = (title, "sectors of 32 bytes for 32 additions");
    let value = |cost: &Cost| cost.counted().map(|counted| counted.sectors.into());
    Ok(vec![chart(report, "atomics", ["u32", "u64"], labels, value)?])
}

fn chart(
    report: &Atomics,
    name: &'static str,
    types: [&str; 2],
    (title, x_label): (String, &str),
    value: fn(&Cost) -> Option<Estimate>,
) -> Result<Chart, ChartError> {
    let rows = TARGETS.map(|target| {
        let of_type = |dtype| {
            let mut of_target = of_target(&report.costs, target, false);
            of_target.find(|cost| cost.dtype == dtype).and_then(value)
        };
        Row::new(target.name(), types.map(of_type))
    });
    let bars = Bars {
        title,
        x_label: x_label.to_owned(),
        note: String::new(),
        series: types.map(Into::into).to_vec(),
        rows: rows.to_vec(),
        roof: None,
    };
    let Atomics { blocks, threads, .. } = report;
    Chart::bars(name, format!("{blocks} blocks of {threads} threads, no result."), &bars)
}
