//! Lines over a numeric axis.

use super::ChartError;
use super::axis::{Scale, plain};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{Colour, INK, TooMany, of_series};
use super::csv::csv;
use super::estimate::{Estimate, MARKERS, draw_point};
use super::frame::{ABOVE, BELOW, Frame, GAP, left_of, widest};
use super::legend::Legend;
use super::role::Key;

/// Lines over a numeric axis. Each series has a colour and a marker. The y axis is linear and
/// includes 0. If a series is a [bound](Series::bound), the y axis is logarithmic, and the other
/// series are points that are not joined.
///
/// ```
/// use gridsync_lab::display::svg::{Lines, Series};
///
/// let chart = Lines {
///     title: "Crossing a grid barrier".into(),
///     x_label: "blocks".into(),
///     y_label: "µs".into(),
///     log2_x: true,
///     series: vec![Series::new("split", [(33.0, 0.8), (528.0, 0.902)])],
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Title.
    pub title: String,
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// Whether the x axis is logarithmic. A linear one includes 0 unless all points are far from
    /// it.
    pub log2_x: bool,
    /// The series, in the order of the legend: at most 7 without a special role, and two peers. A
    /// series without points appears only in the legend.
    pub series: Vec<Series>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name and its role.
    pub key: Key,
    /// Its points, x and y, in any order; they are joined from left to right.
    pub points: Vec<(f64, Estimate)>,
    /// Whether it is a line that the points of the other series should stay below.
    pub is_bound: bool,
}

/// The points and colours of a valid chart.
struct Checked {
    /// All points, and the ends of their ranges as points.
    points: Vec<(f64, f64)>,
    /// The colour of each series.
    colours: Vec<Colour>,
}

/// Formats a value.
type Format = fn(f64) -> String;

/// The least width of the plot.
const PLOT_WIDTH: f64 = 400.0;
/// The least height of the plot.
const PLOT_HEIGHT: f64 = 280.0;
/// The distance from the legend to the plot.
const BETWEEN: f64 = 10.0;
/// The length of a line in the legend.
const SAMPLE: f64 = 30.0;

impl Series {
    /// A series of these points. A plain name has no special role.
    pub fn new<Y: Into<Estimate>>(
        key: impl Into<Key>,
        points: impl IntoIterator<Item = (f64, Y)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, y.into())).collect();
        Self { key: key.into(), points, is_bound: false }
    }

    /// A line that the points of the other series should stay below.
    ///
    /// ```
    /// use gridsync_lab::display::svg::{Lines, Series};
    ///
    /// let chart = Lines {
    ///     title: "Sums of f32".into(),
    ///     x_label: "elements".into(),
    ///     y_label: "error".into(),
    ///     log2_x: true,
    ///     series: vec![
    ///         Series::bound("bound", [(1024.0, 1e-6), (4096.0, 2e-6)]),
    ///         Series::new("uniform", [(1024.0, 1e-8)]),
    ///     ],
    /// };
    /// assert!(chart.svg()?.starts_with("<svg"));
    /// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
    /// ```
    pub fn bound<Y: Into<Estimate>>(
        key: impl Into<Key>,
        points: impl IntoIterator<Item = (f64, Y)>,
    ) -> Self {
        Self { is_bound: true, ..Self::new(key, points) }
    }
}

impl Lines {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`], [`ChartError::NotPositive`],
    /// [`ChartError::TooManySeries`].
    pub fn svg(&self) -> Result<String, ChartError> {
        let Checked { points, colours } = self.checked()?;
        let ys = points.iter().map(|&(_, y)| y);
        // How the value of a point is formatted, and the least and the greatest value.
        let (y_scale, tip_of, end): (_, Format, Format) = if self.has_bound() {
            (Scale::log10(ys), short, short)
        } else {
            (Scale::linear(ys), |y| y.to_string(), to_three_decimals)
        };
        let xs = points.iter().map(|&(x, _)| x);
        let x_scale = if self.log2_x { Scale::log2(xs) } else { Scale::linear_near(xs) };

        let left = left_of(&y_scale);
        let names = self.series.iter().map(|series| series.key.name.as_str());
        let legend = Legend::new(names, SAMPLE, PLOT_WIDTH);
        // Half of the last tick's label is to the right of the plot.
        let beyond = widest(x_scale.ticks.iter().map(|(_, text)| text)) / 2.0 + GAP;
        let frame = Frame {
            left,
            top: ABOVE + legend.height + BETWEEN,
            width: legend
                .width
                .max(width(&self.x_label, TEXT))
                .max(width(&self.title, TITLE) + 2.0 * GAP - left - beyond),
            height: PLOT_HEIGHT.max(width(&self.y_label, TEXT)),
        };
        let mut canvas = Canvas::new(
            left + frame.width + beyond,
            frame.bottom() + BELOW,
            &self.title,
            &self.description(&points, end),
        );

        let across = |x: f64| left + frame.width * x_scale.place(x);
        let down = |y: f64| frame.down(&y_scale, y);
        frame.y_axis(&mut canvas, &y_scale);
        frame.x_axis(&mut canvas, x_scale.ticks.iter().map(|(x, text)| (across(*x), text)));
        frame.labels(&mut canvas, &self.x_label, &self.y_label);

        for (number, (series, (at, below))) in self.series.iter().zip(&legend.places).enumerate() {
            let name = &series.key.name;
            let mark = (MARKERS[number % MARKERS.len()], colours[number]);
            let (marker, colour) = mark;
            let mut points = series.points.clone();
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let is_joined = series.is_bound || !self.has_bound();
            if is_joined && points.len() > 1 {
                let places: Vec<_> =
                    points.iter().map(|(x, estimate)| (across(*x), down(estimate.value))).collect();
                canvas.line(&places, 2.0, colour);
            }
            for (x, estimate) in &points {
                let value = tip_of(estimate.value);
                let tip = format!("{name}: {value} at {x}{}", estimate.spread(tip_of));
                draw_point(&mut canvas, estimate, |y| (across(*x), down(y)), mark, &tip);
            }
            let (x, y) = (left + at, ABOVE + below);
            if is_joined {
                canvas.line(&[(x, y), (x + SAMPLE, y)], 2.0, colour);
            }
            canvas.marker(x + SAMPLE / 2.0, y, marker, colour, name);
            let (start, baseline) = (x + Legend::name_after(SAMPLE), y + 0.35 * TEXT);
            canvas.text(start, baseline, Anchor::Start, INK, name);
        }
        Ok(canvas.finish())
    }

    /// The points as CSV, a row for each.
    #[must_use]
    pub fn csv(&self) -> String {
        let heads = ["series", &self.x_label, &self.y_label, "least", "greatest"];
        let row = |series: &Series, (x, y): &(f64, Estimate)| {
            [series.key.name.clone(), x.to_string()].into_iter().chain(y.cells()).collect()
        };
        let points = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(move |point| row(series, point)));
        csv([heads.map(str::to_owned).to_vec()].into_iter().chain(points))
    }

    fn has_bound(&self) -> bool {
        self.series.iter().any(|series| series.is_bound)
    }

    /// All points, at least one, and the colours of the series, if the chart is valid.
    fn checked(&self) -> Result<Checked, ChartError> {
        let title = || self.title.clone();
        let roles: Vec<_> = self.series.iter().map(|series| series.key.role).collect();
        let colours = of_series(&roles).map_err(|TooMany { found, most }| {
            ChartError::TooManySeries { title: title(), found, most }
        })?;
        let mut points = Vec::new();
        for series in &self.series {
            for (number, (x, estimate)) in series.points.iter().enumerate() {
                let place = || format!("point {number} of {}", series.key.name);
                for y in estimate.numbers() {
                    for (value, is_logarithmic) in [(*x, self.log2_x), (y, self.has_bound())] {
                        let (title, place) = (title(), place());
                        if !value.is_finite() {
                            return Err(ChartError::NotFinite { title, place, value });
                        }
                        if is_logarithmic && value <= 0.0 {
                            return Err(ChartError::NotPositive { title, place, value });
                        }
                    }
                    points.push((*x, y));
                }
            }
        }
        if points.is_empty() {
            return Err(ChartError::Empty { title: title() });
        }
        Ok(Checked { points, colours })
    }

    fn description(&self, points: &[(f64, f64)], show: Format) -> String {
        let ends = |of: fn(&(f64, f64)) -> f64, show: Format| {
            let least = points.iter().map(of).fold(f64::INFINITY, f64::min);
            let most = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            format!("from {} to {}", show(least), show(most))
        };
        let names: Vec<&str> = self.series.iter().map(|s| s.key.name.as_str()).collect();
        format!(
            "Line chart of {} over {}: {}. {} {}, {} {}.",
            self.y_label,
            self.x_label,
            names.join(", "),
            self.x_label,
            ends(|point| point.0, to_three_decimals),
            self.y_label,
            ends(|point| point.1, show)
        )
    }
}

/// Formats a value with two digits and its power of ten.
fn short(value: f64) -> String {
    format!("{value:.1e}")
}

/// Formats an integer without decimals, another number with three.
fn to_three_decimals(value: f64) -> String {
    plain(value, if value.fract() == 0.0 { 0 } else { 3 })
}
