//! Charts as SVG, written without a library: [`HeatMap`], [`Lines`] over a numeric axis or points
//! below one, [`Bars`] with names, [`Columns`] of a histogram, [`Cells`] with a word each, [`Layers`]
//! of a graph, and [`Timelines`] of runs.
//!
//! A chart is one self-contained file without scripts or fonts. It has a light background, so that
//! it is also readable on a dark page, and describes its contents in `<title>` and `<desc>`. A page
//! that embeds the chart can give `.paper`, `.ink`, `.grey`, `.pale` and `.black` other colours.
//!
//! Most colours are from Okabe and Ito ("Color Universal Design", 2008), and distinguishable with
//! any form of colour blindness. A colour means the same in all charts ([`Role`]): blue is
//! gridsync, or where it is faster; vermillion is its peer, or where gridsync is slower. Colour is
//! never the only mark.
//!
//! A measured value is an [`Estimate`]: the range of its samples is drawn as an error bar. Charts of
//! measured values can also be written as CSV.

mod axis;
mod bars;
mod canvas;
mod cells;
mod colour;
mod columns;
mod csv;
mod estimate;
mod frame;
mod heatmap;
mod layers;
mod legend;
mod lines;
mod role;
mod timelines;

pub use axis::{superscript, three_digits};
pub use bars::{Bars, Row};
pub use cells::{CellRow, Cells};
pub use columns::{Columns, Labels};
pub use csv::csv;
pub use estimate::Estimate;
pub use heatmap::{Axis, Faster, HeatMap};
pub use layers::{Layers, Vertex};
pub use lines::{Lines, Series};
pub use role::{Key, Role};
pub use timelines::{Bar, Run, Timelines};

/// The reason why a chart cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The chart has no values.
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
        /// Position of the value.
        place: String,
        /// The value.
        value: f64,
    },
    /// A value on a logarithmic axis is 0 or less.
    #[error("the chart {title:?} has {value} at {place}: a logarithmic axis begins above 0")]
    NotPositive {
        /// The title of the chart.
        title: String,
        /// Position of the value.
        place: String,
        /// The value.
        value: f64,
    },
    /// The value of a bar or a column is negative.
    #[error("the chart {title:?} has {value} at {place}: bars have no length below 0")]
    Negative {
        /// The title of the chart.
        title: String,
        /// The row.
        place: String,
        /// The value.
        value: f64,
    },
    /// The chart has more lines than colours.
    #[error(
        "the chart {title:?} has {found} series of one kind and there are {most} colours for it: make charts of at most {most}"
    )]
    TooManySeries {
        /// The title of the chart.
        title: String,
        /// Series of that kind in the chart.
        found: usize,
        /// Colours for that kind.
        most: usize,
    },
}

#[cfg(test)]
mod tests;
