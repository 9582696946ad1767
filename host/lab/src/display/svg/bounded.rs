//! Points, and a line that they should stay below.

use super::axis::Scale;
use super::lines::YAxis;
use super::{ChartError, Lines, Series};
use std::slice;

/// Points over the powers of two, and a line that they should stay below. Both axes are logarithmic.
///
/// ```
/// use gridsync_lab::display::svg::{Bounded, Series};
///
/// let chart = Bounded {
///     title: "Sums of f32".into(),
///     x_label: "elements".into(),
///     y_label: "error".into(),
///     bound: Series::new("bound", [(1024.0, 1e-6), (4096.0, 2e-6)]),
///     points: vec![Series::new("uniform", [(1024.0, 1e-8)])],
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded {
    /// Title.
    pub title: String,
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// The line.
    pub bound: Series,
    /// The points, in at most 6 series.
    pub points: Vec<Series>,
}

impl Bounded {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`], [`ChartError::NotPositive`],
    /// [`ChartError::TooManySeries`].
    pub fn svg(&self) -> Result<String, ChartError> {
        let lines = self.lines();
        let checked = lines.checked()?;
        for series in &lines.series {
            for (at, (_, estimate)) in series.points.iter().enumerate() {
                if let Some(value) = estimate.numbers().find(|y| *y <= 0.0) {
                    let place = format!("point {at} of {}", series.key.name);
                    return Err(ChartError::NotPositive {
                        title: self.title.clone(),
                        place,
                        value,
                    });
                }
            }
        }
        let short = |value: f64| format!("{value:.1e}");
        let scale = Scale::log10(checked.points.iter().map(|&(_, y)| y));
        Ok(lines.drawn(&checked, &YAxis { scale, tip: short, end: short }, 1))
    }

    /// The points as CSV, a row for each.
    #[must_use]
    pub fn csv(&self) -> String {
        self.lines().csv()
    }

    fn lines(&self) -> Lines {
        Lines {
            title: self.title.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            log2_x: true,
            series: [slice::from_ref(&self.bound), &self.points].concat(),
        }
    }
}
