//! Horizontal bars with names.

use super::ChartError;
use super::axis::{Scale, plain, three_digits};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{BARS, GREY, INK, PALE};

/// Horizontal bars: a row for each name, with a bar and its value for each series. The axis begins
/// at 0 if the values are of one size. Otherwise it is logarithmic, so that a bar that is twice as
/// long is not twice as much, and says so.
///
/// ```
/// use gridsync_program::report::svg::{Bars, Row};
///
/// let row = |name: &str, value| Row { name: name.into(), values: vec![Some(value)] };
/// let chart = Bars {
///     title: "The sum of 2^28 f32".into(),
///     x_label: "GB/s".into(),
///     note: String::new(),
///     series: vec!["rate".into()],
///     rows: vec![row("one thread", 0.4), row("one launch", 4480.0)],
///     roof: Some(("reading only".into(), 4500.0)),
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_program::report::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// What the values are, with their unit.
    pub x_label: String,
    /// A note about the values, below the axis.
    pub note: String,
    /// The series, 3 at most, in the order of each row's values. A single series needs no legend.
    pub series: Vec<String>,
    /// The rows, from the top.
    pub rows: Vec<Row>,
    /// A value that no row can exceed, with its name: a line through all rows.
    pub roof: Option<(String, f64)>,
}

/// A row of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// A value for each series, 0 or more. None where nothing was measured.
    pub values: Vec<Option<f64>>,
}

/// The width of the chart, unless its texts need more.
const WIDTH: f64 = 500.0;
/// The least width of the plot.
const PLOT_WIDTH: f64 = 240.0;
/// If the greatest value is more than this many times the least, the axis is logarithmic.
const ONE_SIZE: f64 = 20.0;
/// The distance from the top to the legend or the first row.
const ABOVE: f64 = 44.0;
/// The height of a line of text above or below the plot.
const LINE: f64 = 1.7 * TEXT;
/// The distance between two things side by side.
const GAP: f64 = 10.0;
/// The height of a bar.
const BAR: f64 = 14.0;
/// The distance between two rows.
const BETWEEN: f64 = 8.0;

impl Bars {
    /// The chart as an SVG file.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`], [`ChartError::Negative`],
    /// [`ChartError::Ragged`], [`ChartError::TooManySeries`].
    pub fn svg(&self) -> Result<String, ChartError> {
        let values = self.checked()?;
        let above_zero: Vec<f64> = values.into_iter().filter(|&value| value > 0.0).collect();
        let least = above_zero.iter().copied().fold(f64::INFINITY, f64::min);
        let is_of_one_size = above_zero.iter().all(|&value| value <= ONE_SIZE * least);
        let (scale, kind) = match is_of_one_size {
            true => (Scale::linear(above_zero.into_iter()), ""),
            false => (Scale::log10(above_zero.into_iter()), ", logarithmic axis"),
        };
        let x_label = format!("{}{kind}", self.x_label);

        let names = self.rows.iter().map(|row| width(&row.name, TEXT));
        let left = GAP + names.fold(0.0, f64::max) + GAP;
        let shown = self.rows.iter().flat_map(|row| &row.values).flatten();
        let numbers = shown.map(|&value| width(&show(value), TEXT)).fold(0.0, f64::max);
        let legend: Vec<f64> =
            self.legend().map(|name| BAR + GAP + width(name, TEXT) + GAP).collect();
        let roof = self.roof.as_ref().map(|(name, value)| format!("{name}: {}", show(*value)));
        let roof_width = roof.as_ref().map_or(0.0, |text| width(text, TEXT));
        let plot_width = [&x_label, &self.note]
            .map(|text| width(text, TEXT))
            .into_iter()
            .fold(PLOT_WIDTH.max(legend.iter().sum()).max(roof_width), f64::max)
            .max(WIDTH.max(width(&self.title, TITLE) + 2.0 * GAP) - left - numbers - 2.0 * GAP);
        let total_width = left + plot_width + GAP + numbers + GAP;
        let row_height = BETWEEN + BAR * self.series.len() as f64;
        let top = ABOVE + LINE * f64::from(u8::from(!legend.is_empty()) + u8::from(roof.is_some()));
        let bottom = top + row_height * self.rows.len() as f64;
        let below = LINE * if self.note.is_empty() { 2.0 } else { 3.0 } + GAP;
        let mut canvas = Canvas::new(total_width, bottom + below, &self.title, &self.description());

        let across = |value: f64| left + plot_width * scale.place(value);
        for (value, text) in &scale.ticks {
            let x = across(*value);
            canvas.line(&[(x, top), (x, bottom)], 1.0, PALE);
            canvas.text(x, bottom + 0.8 * LINE, Anchor::Middle, INK, text);
        }
        let mut x = left;
        for ((name, taken), colour) in self.legend().zip(legend).zip(BARS) {
            canvas.rect(x, ABOVE, BAR, BAR, colour);
            canvas.text(x + BAR + GAP / 2.0, ABOVE + 0.8 * BAR, Anchor::Start, INK, name);
            x += taken;
        }
        if let (Some(text), Some((_, value))) = (roof, &self.roof) {
            let x = across(*value);
            canvas.line(&[(x, top - 2.0), (x, bottom)], 1.5, GREY);
            canvas.text(x, top - 0.4 * LINE, Anchor::End, GREY, &text);
        }
        for (number, row) in self.rows.iter().enumerate() {
            let y = top + number as f64 * row_height + BETWEEN / 2.0;
            let middle = y + BAR * self.series.len() as f64 / 2.0;
            canvas.text(left - GAP, middle + 0.35 * TEXT, Anchor::End, INK, &row.name);
            for (part, (value, colour)) in row.values.iter().zip(self.colours()).enumerate() {
                let y = y + part as f64 * BAR;
                let Some(value) = *value else { continue };
                let end = if value > 0.0 { across(value) } else { left };
                canvas.rect(left, y + 1.0, end - left, BAR - 2.0, colour);
                let baseline = y + BAR / 2.0 + 0.35 * TEXT;
                canvas.text_over(end + GAP / 2.0, baseline, &show(value));
            }
        }
        canvas.line(&[(left, top), (left, bottom)], 1.0, GREY);
        let middle = left + plot_width / 2.0;
        canvas.text(middle, bottom + 1.8 * LINE, Anchor::Middle, GREY, &x_label);
        if !self.note.is_empty() {
            canvas.text(middle, bottom + 2.7 * LINE, Anchor::Middle, GREY, &self.note);
        }
        Ok(canvas.finish())
    }

    /// The series that need a legend.
    fn legend(&self) -> impl Iterator<Item = &String> {
        let all = if self.series.len() > 1 { self.series.as_slice() } else { &[] };
        all.iter()
    }

    /// The colours of the series. A single series has the lightest colour.
    fn colours(&self) -> impl Iterator<Item = super::colour::Colour> {
        let first = if self.series.len() == 1 { BARS.len() - 1 } else { 0 };
        BARS.into_iter().skip(first)
    }

    /// All values, at least one, if the chart is complete.
    fn checked(&self) -> Result<Vec<f64>, ChartError> {
        let title = || self.title.clone();
        if self.series.len() > BARS.len() {
            return Err(ChartError::TooManySeries {
                title: title(),
                found: self.series.len(),
                most: BARS.len(),
            });
        }
        let mut all: Vec<(&str, f64)> = Vec::new();
        for row in &self.rows {
            if row.values.len() != self.series.len() {
                return Err(ChartError::Ragged {
                    title: title(),
                    place: row.name.clone(),
                    found: row.values.len(),
                    expected: self.series.len(),
                });
            }
            all.extend(row.values.iter().flatten().map(|&value| (row.name.as_str(), value)));
        }
        if all.is_empty() {
            return Err(ChartError::Empty { title: title() });
        }
        all.extend(self.roof.iter().map(|(name, value)| (name.as_str(), *value)));
        for &(place, value) in &all {
            let (title, place) = (title(), place.to_owned());
            if !value.is_finite() {
                return Err(ChartError::NotFinite { title, place, value });
            }
            if value < 0.0 {
                return Err(ChartError::Negative { title, place, value });
            }
        }
        Ok(all.into_iter().map(|(_, value)| value).collect())
    }

    fn description(&self) -> String {
        let rows: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        let note = if self.note.is_empty() { String::new() } else { format!(" {}.", self.note) };
        format!(
            "Bar chart of {}: {}, for {}.{note}",
            self.x_label,
            self.series.join(", "),
            rows.join(", ")
        )
    }
}

/// A value with three digits, or with all digits if it is an integer.
fn show(value: f64) -> String {
    plain(value, if value.fract() == 0.0 { 0 } else { three_digits(value) })
}
