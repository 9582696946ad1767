//! The charts of `gridsync lab atomics`.

use super::of_target;
use crate::cli::lab::Page;
use gridsync_lab::atomics::{Cost, TARGETS};
use gridsync_lab::display::svg::{Bars, ChartError, Row};

/// Adds a chart of the rates of the integers, and one of those of the floating-point numbers,
/// because a bar chart has at most three series.
pub(super) fn rates(page: &mut Page, costs: &[Cost]) -> Result<(), ChartError> {
    for (file, types) in [("atomics.svg", ["u32", "u64"]), ("atomics-floats.svg", ["f32", "f64"])] {
        let chart = bars(
            costs,
            types,
            format!("Atomic additions of {} and {}, no result", types[0], types[1]),
            "10⁹ additions per second",
            Cost::rate,
        );
        page.file(file, chart.svg())?;
    }
    Ok(())
}

/// Adds a chart of the sectors.
pub(super) fn sectors(page: &mut Page, costs: &[Cost]) -> Result<(), ChartError> {
    let chart = bars(
        costs,
        ["u32", "u64"],
        "Sectors that the atomic additions of a warp touch".to_owned(),
        "sectors of 32 bytes for 32 additions",
        |cost| cost.counted().map(|counted| counted.sectors),
    );
    page.file("atomics.svg", chart.svg())
}

fn bars(
    costs: &[Cost],
    types: [&str; 2],
    title: String,
    x_label: &str,
    value: fn(&Cost) -> Option<f64>,
) -> Bars {
    let rows = TARGETS.map(|target| {
        let of_target = of_target(costs, target, false);
        let of_these = of_target.into_iter().filter(|cost| types.contains(&cost.ty.name));
        Row::new(target.name(), of_these.map(value))
    });
    Bars {
        title,
        x_label: x_label.to_owned(),
        note: String::new(),
        series: types.map(Into::into).to_vec(),
        rows: rows.to_vec(),
        roof: None,
    }
}
