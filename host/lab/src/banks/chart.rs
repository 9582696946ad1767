//! The charts of `gridsync lab banks`: cycles on a GPU, passes in the emulator.

use super::{Load, Tile, WARPS, WIDTHS};
use crate::Chart;
use crate::display::svg::{Bars, ChartError, Lines, Row, Series};

/// All strides.
pub(super) fn loads(loads: &[Load]) -> Result<Chart, ChartError> {
    let timed = loads.iter().any(|load| load.together.cycles.is_some());
    let value = |load: &Load| load.together.estimate().unwrap_or((load.counted as f64).into());
    let series = WIDTHS.iter().map(|width| {
        let of_width = loads.iter().filter(|load| load.bytes == width.bytes);
        let points = of_width.map(|load| (f64::from(load.stride), value(load)));
        Series::new(format!("{} bytes", width.bytes), points)
    });
    let y_label = if timed {
        format!("cycles per load of a warp, {WARPS} warps")
    } else {
        "passes per load of a warp".to_owned()
    };
    let chart = Lines {
        title: "Loads from shared memory at a stride".to_owned(),
        x_label: "stride, elements from lane to lane".to_owned(),
        y_label,
        log2_x: false,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    };
    Chart::lines("banks", "", &chart)
}

/// The tiles.
pub(super) fn tiles(tiles: &[Tile]) -> Result<Chart, ChartError> {
    let timed = tiles.iter().any(|tile| tile.cycles.cycles.is_some());
    let row = |tile: &Tile| {
        let passes = Some((tile.counted as f64).into());
        let cycles = timed.then(|| tile.cycles.estimate());
        Row::new(&tile.layout, [passes].into_iter().chain(cycles))
    };
    let series = ["passes"].into_iter().chain(timed.then_some("cycles"));
    let chart = Bars {
        title: "Transposing 32 × 32 f32 in shared memory".to_owned(),
        x_label: if timed { "passes and cycles of a tile" } else { "passes of a tile" }.to_owned(),
        note: String::new(),
        series: series.map(Into::into).collect(),
        rows: tiles.iter().map(row).collect(),
        roof: None,
    };
    Chart::bars("banks-tile", "The emulator counts passes, the GPU cycles.", &chart)
}
