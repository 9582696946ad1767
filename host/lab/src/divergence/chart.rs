//! The chart of `gridsync lab divergence`.

use super::report::{Divergence, relative};
use super::{Dealt, WAYS};
use crate::Chart;
use crate::display::svg::{ChartError, Lines, Role, Series};

/// The cost of different paths, relative to one path: cycles on a GPU, else counts.
pub(super) fn paths(report: &Divergence) -> Result<Chart, ChartError> {
    let what = if report.is_timed() { "cycles" } else { "instructions of a warp" };
    let series = |name: &str, dealt_to| {
        let points = relative(&report.paths, dealt_to);
        Series::new(name, points.into_iter().map(|(x, y)| (f64::from(x), y)))
    };
    let linear = WAYS.map(|ways| (f64::from(ways), f64::from(ways)));
    let chart = Lines {
        title: format!("Different paths on {}", report.device),
        x_label: "different paths".into(),
        y_label: format!("{what}, relative to one path"),
        log2_x: true,
        series: vec![
            // The measured points are drawn over the expected line.
            Series::new(Role::Roof.named("paths × one path"), linear),
            series("dealt to lanes", Dealt::Lanes),
            series("dealt to warps", Dealt::Warps),
        ],
    };
    Chart::lines("divergence", "", &chart)
}
