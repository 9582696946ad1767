//! Charts as SVG, written out by hand: [`HeatMap`], [`Lines`] over a numeric axis, and [`Bars`] of
//! what has names.
//!
//! A chart is one self-contained file without scripts or fonts. It has its own light background, so
//! that it reads on a dark page too, and tells what it shows in `<title>` and `<desc>`. Colours are
//! those of Okabe and Ito ("Color Universal Design", 2008), which people with any form of colour
//! blindness tell apart; nothing is told by colour alone.

mod axis;
mod bars;
mod canvas;
mod colour;
mod heatmap;
mod lines;

pub use bars::{Bars, Row};
pub use heatmap::{Axis, HeatMap};
pub use lines::{Lines, Series};

/// Why there is no chart.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    /// There is nothing to show.
    #[error("the chart {title:?} has no values: give it one at least")]
    Empty {
        /// The title of the chart.
        title: String,
    },
    /// A value is NaN or infinite.
    #[error("the chart {title:?} has {value} at {place}: leave out what was not measured")]
    NotFinite {
        /// The title of the chart.
        title: String,
        /// Where the value is.
        place: String,
        /// The value.
        value: f64,
    },
    /// A place on a logarithmic axis that has none there.
    #[error("the chart {title:?} has x = {x} at {place}: a log2 axis begins above 0")]
    NotPositive {
        /// The title of the chart.
        title: String,
        /// Where it is.
        place: String,
        /// The place on the axis.
        x: f64,
    },
    /// A bar of less than nothing.
    #[error(
        "the chart {title:?} has {value} at {place}: bars on a logarithmic axis have none below 0"
    )]
    Negative {
        /// The title of the chart.
        title: String,
        /// The row.
        place: String,
        /// The value.
        value: f64,
    },
    /// More series than there are colours.
    #[error(
        "the chart {title:?} has {found} series and there are {most} colours: make charts of at most {most}"
    )]
    TooManySeries {
        /// The title of the chart.
        title: String,
        /// Series that are there.
        found: usize,
        /// Series that a chart of this kind tells apart.
        most: usize,
    },
    /// The values do not fill the axes.
    #[error(
        "the chart {title:?} has {found} values where its axes have {expected} ticks, in {place}: give one each"
    )]
    Ragged {
        /// The title of the chart.
        title: String,
        /// The row or the axis.
        place: String,
        /// Values that are there.
        found: usize,
        /// Ticks of the axis.
        expected: usize,
    },
}

#[cfg(test)]
mod tests;
