//! Named rows of values: horizontal bars or points.

use super::ChartError;
use super::axis::{Scale, plain, three_digits};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{Colour, GREY, INK, PALE, of_bars};
use super::csv::csv;
use super::estimate::{Estimate, MARKERS, draw_point, draw_range};
use super::role::Key;

/// A row for each name, with a bar and its value for each series. The axis begins at 0 if the
/// values are of similar size. Otherwise it is logarithmic, which its label states, and shows
/// points instead of bars, because it has no 0 where a bar could begin.
///
/// ```
/// use gridsync_lab::display::svg::{Bars, Row};
///
/// let row = |name: &str, value: f64| Row::new(name, [Some(value)]);
/// let chart = Bars {
///     title: "The sum of 2^28 f32".into(),
///     x_label: "GB/s".into(),
///     note: String::new(),
///     series: vec!["rate".into()],
///     rows: vec![row("one thread", 0.4), row("one launch", 4480.0)],
///     roof: Some(("reading only".into(), 4500.0)),
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Title.
    pub title: String,
    /// Label of the values, with their unit.
    pub x_label: String,
    /// A note about the values, below the axis.
    pub note: String,
    /// The series, in the order of each row's values: at most 3 without a special role. A single
    /// series does not need a legend.
    pub series: Vec<Key>,
    /// The rows, from the top.
    pub rows: Vec<Row>,
    /// A value that no row can exceed, with its name: a line through all rows. Each value is also
    /// shown as a percentage of it.
    pub roof: Option<(String, f64)>,
}

/// A row of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name.
    pub name: String,
    /// A value for each series, 0 or more, or `None` if it was not measured.
    pub values: Vec<Option<Estimate>>,
}

impl Row {
    /// A row with these values.
    pub fn new<Y: Into<Estimate>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<Y>>,
    ) -> Self {
        let values = values.into_iter().map(|value| value.map(Into::into)).collect();
        Self { name: name.into(), values }
    }
}

/// The width of the chart, unless its texts need more.
const WIDTH: f64 = 500.0;
/// The least width of the plot.
const PLOT_WIDTH: f64 = 240.0;
/// The axis is logarithmic if the greatest value is more than this many times the least.
const ONE_SIZE: f64 = 20.0;
/// The distance from the top to the legend or the first row.
const ABOVE: f64 = 44.0;
/// The height of a line of text above or below the plot.
const LINE: f64 = 1.7 * TEXT;
/// The distance between neighbouring items.
const GAP: f64 = 10.0;
/// The height of a bar.
const BAR: f64 = 14.0;
/// The distance between two rows.
const BETWEEN: f64 = 8.0;

impl Bars {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`], [`ChartError::Negative`].
    ///
    /// # Panics
    /// If there are more series of a role than colours for it, or if a row does not have a value
    /// for each series.
    pub fn svg(&self) -> Result<String, ChartError> {
        let (values, colours) = self.checked()?;
        let above_zero: Vec<f64> = values.into_iter().filter(|&value| value > 0.0).collect();
        let least = above_zero.iter().copied().fold(f64::INFINITY, f64::min);
        let has_bars = above_zero.iter().all(|&value| value <= ONE_SIZE * least);
        let (scale, kind) = if has_bars {
            (Scale::linear(above_zero.into_iter()), "")
        } else {
            (Scale::log10(above_zero.into_iter()), ", logarithmic axis")
        };
        let x_label = format!("{}{kind}", self.x_label);

        let names = self.rows.iter().map(|row| width(&row.name, TEXT));
        let left = GAP + names.fold(0.0, f64::max) + GAP;
        let shown = self.rows.iter().flat_map(|row| &row.values).flatten();
        let numbers = shown.map(|value| width(&self.show(value), TEXT)).fold(0.0, f64::max);
        let legend: Vec<f64> =
            self.legend().map(|key| BAR + GAP + width(&key.name, TEXT) + GAP).collect();
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
        for (number, (key, taken)) in self.legend().zip(legend).enumerate() {
            if has_bars {
                canvas.rect(x, ABOVE, BAR, BAR, colours[number]);
            } else {
                let middle = (x + BAR / 2.0, ABOVE + BAR / 2.0);
                canvas.marker(middle.0, middle.1, MARKERS[number], colours[number], &key.name);
            }
            canvas.text(x + BAR + GAP / 2.0, ABOVE + 0.8 * BAR, Anchor::Start, INK, &key.name);
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
            for (part, (estimate, &colour)) in row.values.iter().zip(&colours).enumerate() {
                let middle = y + part as f64 * BAR + BAR / 2.0;
                let Some(estimate) = estimate else { continue };
                let place = |value: f64| (if value > 0.0 { across(value) } else { left }, middle);
                let baseline = middle + 0.35 * TEXT;
                // To the right of the plot, where nothing crosses it.
                let text = self.show(estimate);
                canvas.text(left + plot_width + GAP, baseline, Anchor::Start, INK, &text);
                if has_bars {
                    let (end, _) = place(estimate.value);
                    canvas.rect(left, middle - BAR / 2.0 + 1.0, end - left, BAR - 2.0, colour);
                    draw_range(&mut canvas, estimate, place, INK);
                } else if estimate.value > 0.0 {
                    let tip = format!("{text}{}", estimate.spread(show));
                    draw_point(&mut canvas, estimate, place, (MARKERS[part], colour), &tip);
                }
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

    /// The values as CSV, a row for each, and one for the roof.
    #[must_use]
    pub fn csv(&self) -> String {
        let heads = ["row", "series", &self.x_label, "least", "greatest"].map(str::to_owned);
        let value = |name: &str, key: &str, estimate: Estimate| {
            let [value, min, max] = estimate.cells();
            [name.to_owned(), key.to_owned(), value, min, max]
        };
        let values = self.rows.iter().flat_map(|row| {
            let of_row = self.series.iter().zip(&row.values);
            of_row.filter_map(|(key, estimate)| Some(value(&row.name, &key.name, (*estimate)?)))
        });
        let roof = self.roof.iter().map(|(name, roof)| value(name, "roof", (*roof).into()));
        csv([heads].into_iter().chain(values).chain(roof))
    }

    /// The series that need a legend.
    fn legend(&self) -> impl Iterator<Item = &Key> {
        let all = if self.series.len() > 1 { self.series.as_slice() } else { &[] };
        all.iter()
    }

    /// Formats a value and its percentage of the roof.
    fn show(&self, estimate: &Estimate) -> String {
        let value = show(estimate.value);
        match &self.roof {
            Some((_, roof)) => {
                let percent = 100.0 * estimate.value / roof;
                let decimals = if percent < 1.0 { 2 } else { 0 };
                format!("{value} · {percent:.decimals$} %")
            }
            None => value,
        }
    }

    /// All numbers, at least one, and the colours of the series, if the chart is valid.
    fn checked(&self) -> Result<(Vec<f64>, Vec<Colour>), ChartError> {
        let title = || self.title.clone();
        let roles: Vec<_> = self.series.iter().map(|key| key.role).collect();
        let colours = of_bars(&roles);
        let colours = colours.unwrap_or_else(|too_many| panic!("{:?}: {too_many:?}", self.title));
        let mut all: Vec<(&str, f64)> = Vec::new();
        for row in &self.rows {
            let (found, expected) = (row.values.len(), self.series.len());
            assert_eq!(found, expected, "{:?}: the values and series of {}", self.title, row.name);
            let numbers = row.values.iter().flatten().flat_map(Estimate::numbers);
            all.extend(numbers.map(|value| (row.name.as_str(), value)));
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
        Ok((all.into_iter().map(|(_, value)| value).collect(), colours))
    }

    fn description(&self) -> String {
        let rows: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        let note = if self.note.is_empty() { String::new() } else { format!(" {}.", self.note) };
        let series: Vec<&str> = self.series.iter().map(|key| key.name.as_str()).collect();
        format!(
            "Bar chart of {}: {}, for {}.{note}",
            self.x_label,
            series.join(", "),
            rows.join(", ")
        )
    }
}

/// Formats a value with three digits, or with all digits if it is an integer.
fn show(value: f64) -> String {
    plain(value, if value.fract() == 0.0 { 0 } else { three_digits(value) })
}
