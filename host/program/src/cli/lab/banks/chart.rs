//! The charts of `gridsync lab banks`.

use crate::cli::lab::Page;
use gridsync_lab::banks::{Load, Tile, WARPS, WIDTHS};
use gridsync_lab::report::svg::{Bars, ChartError, Lines, Row, Series};

/// Adds a chart of all strides: cycles on a GPU, and otherwise passes.
pub(super) fn loads(page: &mut Page, loads: &[Load]) -> Result<(), ChartError> {
    let timed = loads.iter().any(|load| load.timed.is_some());
    let value = |load: &Load| load.timed.map_or(load.counted as f64, |timed| timed.together.median);
    let series = WIDTHS.iter().map(|width| {
        let of_width = loads.iter().filter(|load| load.bytes == width.bytes);
        let points = of_width.map(|load| (f64::from(load.stride), value(load)));
        Series::new(format!("{} bytes", width.bytes), points)
    });
    let chart = Lines {
        title: "Loads from shared memory at a stride".to_owned(),
        x_label: "stride, elements from lane to lane".to_owned(),
        y_label: match timed {
            true => format!("cycles per load of a warp, {WARPS} warps"),
            false => "passes per load of a warp".to_owned(),
        },
        log2_x: false,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    };
    page.file("banks.svg", chart.svg())
}

/// Adds a chart of the tiles: passes, and cycles on a GPU.
pub(super) fn tiles(page: &mut Page, tiles: &[Tile]) -> Result<(), ChartError> {
    let timed = tiles.iter().any(|tile| tile.cycles.is_some());
    let row = |tile: &Tile| {
        let cycles = tile.cycles.map(|cycles| Some(cycles.median));
        Row::new(tile.layout.name, [Some(tile.counted as f64)].into_iter().chain(cycles))
    };
    let series = ["passes"].into_iter().chain(timed.then_some("cycles"));
    let chart = Bars {
        title: "Transposing a tile of 32 × 32 f32 in shared memory".to_owned(),
        x_label: if timed { "passes and cycles of a tile" } else { "passes of a tile" }.to_owned(),
        note: String::new(),
        series: series.map(Into::into).collect(),
        rows: tiles.iter().map(row).collect(),
        roof: None,
    };
    page.file("banks-tile.svg", chart.svg())
}
