//! The legend of a chart: entries side by side, in as many rows as needed.

use super::canvas::{TEXT, width};

/// The positions of the entries of a legend. An entry is a sample, with its name to the right.
pub(super) struct Legend {
    /// The left end and the vertical middle of each entry, relative to the upper left corner of the
    /// legend.
    pub(super) places: Vec<(f64, f64)>,
    /// The offered width, or the width of the widest entry if that is larger.
    pub(super) width: f64,
    /// The height of all rows.
    pub(super) height: f64,
}

/// The height of a row.
const ROW: f64 = 20.0;
/// The distance from a sample to its name.
const GAP: f64 = 6.0;
/// The distance between two entries.
const APART: f64 = 18.0;

impl Legend {
    /// The legend of these names, with samples `sample` px wide, in a width of `offered` px.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>, sample: f64, offered: f64) -> Self {
        let widths: Vec<f64> =
            names.map(|name| Self::name_after(sample) + width(name, TEXT)).collect();
        let most = widths.iter().copied().fold(offered, f64::max);
        let (mut x, mut row) = (0.0, 0.0);
        let places = widths.iter().map(|width| {
            if x > 0.0 && x + width > most {
                (x, row) = (0.0, row + 1.0);
            }
            let place = (x, (row + 0.5) * ROW);
            x += width + APART;
            place
        });
        let places: Vec<_> = places.collect();
        let rows = if places.is_empty() { 0.0 } else { row + 1.0 };
        Self { places, width: most, height: rows * ROW }
    }

    /// The distance from the left end of an entry to its name.
    pub(super) fn name_after(sample: f64) -> f64 {
        sample + GAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_do_not_fit_start_a_new_row() {
        let legend = Legend::new(["split", "phase", "grid.sync()"].into_iter(), 30.0, 200.0);
        let rows: Vec<_> = legend.places.iter().map(|(_, y)| *y).collect();
        assert_eq!(rows, [10.0, 10.0, 30.0]);
        assert_eq!((legend.width, legend.height), (200.0, 40.0));
        let wide = Legend::new(["a name that is wider than all"].into_iter(), 30.0, 100.0);
        assert!(wide.width > 100.0 && wide.places == [(0.0, 10.0)]);
    }
}
