//! Columns side by side, as of a histogram.

use super::ChartError;
use super::axis::{Scale, plain};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{BARS, GREY};
use super::frame::{ABOVE, BELOW, Frame, GAP, left_of, widest};

/// Columns of the same width, side by side. The y axis is linear and begins at 0. A column above 0
/// is at least 1 px high, so that it is visible.
///
/// ```
/// use gridsync_lab::display::svg::{Columns, Labels};
///
/// let chart = Columns {
///     title: "Histogram of 1000 f32".into(),
///     x_label: "element".into(),
///     y_label: "elements in a bin".into(),
///     note: String::new(),
///     values: vec![9.0, 90.0, 901.0],
///     labels: Labels::Edges(["0", "10", "100", "1000"].map(Into::into).into()),
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Title.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// A note about the values, below the x axis.
    pub note: String,
    /// The value of each column, 0 or more.
    pub values: Vec<f64>,
    /// The labels below the columns.
    pub labels: Labels,
}

/// The labels below columns. If they do not fit side by side, only every second, fifth, tenth and so
/// on is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// One for each edge, so one more than columns.
    Edges(Vec<String>),
    /// One for each column.
    Columns(Vec<String>),
}

/// The least width of the plot.
const PLOT_WIDTH: f64 = 640.0;
/// The least height of the plot.
const PLOT_HEIGHT: f64 = 280.0;
/// The height of the note.
const NOTE: f64 = 1.7 * TEXT;

impl Columns {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`], [`ChartError::Negative`].
    ///
    /// # Panics
    /// If the number of labels does not suit that of the values.
    pub fn svg(&self) -> Result<String, ChartError> {
        self.check()?;
        let y_scale = Scale::linear(self.values.iter().copied());
        let (texts, offset) = self.labels.texts();
        let label_width = widest(texts);
        // Half of a label may be to the left or to the right of the plot.
        let left = left_of(&y_scale).max(label_width / 2.0 + GAP);
        let beyond = label_width / 2.0 + GAP;
        let frame = Frame {
            left,
            top: ABOVE,
            width: [&self.x_label, &self.note]
                .map(|text| width(text, TEXT))
                .into_iter()
                .fold(PLOT_WIDTH, f64::max)
                .max(width(&self.title, TITLE) + 2.0 * GAP - left - beyond),
            height: PLOT_HEIGHT.max(width(&self.y_label, TEXT)),
        };
        let below = BELOW + if self.note.is_empty() { 0.0 } else { NOTE };
        let (total, bottom) = (left + frame.width + beyond, frame.bottom());
        let mut canvas = Canvas::new(total, bottom + below, &self.title, &self.description());

        frame.y_axis(&mut canvas, &y_scale);
        let each = frame.width / self.values.len() as f64;
        let shown = texts.iter().enumerate().step_by(step((label_width + GAP) / each));
        let ticks = shown.map(|(number, text)| (left + each * (number as f64 + offset), text));
        frame.x_axis(&mut canvas, ticks);
        frame.labels(&mut canvas, &self.x_label, &self.y_label);
        if !self.note.is_empty() {
            let (middle, baseline) = (left + frame.width / 2.0, bottom + 3.4 * TEXT + NOTE);
            canvas.text(middle, baseline, Anchor::Middle, GREY, &self.note);
        }

        let between = (0.1 * each).min(2.0);
        for (number, &value) in self.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let height = (bottom - frame.down(&y_scale, value)).max(1.0);
            let corner = (left + each * number as f64 + between / 2.0, bottom - height);
            let tip =
                format!("{}: {}", self.labels.of_column(number), plain(value, decimals(value)));
            canvas.rect_with_tip(corner, (each - between, height), BARS[2], &tip);
        }
        Ok(canvas.finish())
    }

    fn check(&self) -> Result<(), ChartError> {
        let (texts, _) = self.labels.texts();
        let columns = match self.labels {
            Labels::Edges(_) => texts.len().saturating_sub(1),
            Labels::Columns(_) => texts.len(),
        };
        assert_eq!(self.values.len(), columns, "{:?}: the values and labels", self.title);
        if self.values.is_empty() {
            return Err(ChartError::Empty { title: self.title.clone() });
        }
        for (number, &value) in self.values.iter().enumerate() {
            let error = |error: fn(String, String, f64) -> ChartError| {
                Err(error(self.title.clone(), self.labels.of_column(number), value))
            };
            if !value.is_finite() {
                return error(|title, place, value| ChartError::NotFinite { title, place, value });
            }
            if value < 0.0 {
                return error(|title, place, value| ChartError::Negative { title, place, value });
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        let highest = self.values.iter().copied().fold(0.0, f64::max);
        let at = self.values.iter().position(|&value| value == highest).unwrap_or(0);
        let note = if self.note.is_empty() { String::new() } else { format!(" {}.", self.note) };
        format!(
            "Column chart of {} over {}: {} columns. The highest is {} at {}.{note}",
            self.y_label,
            self.x_label,
            self.values.len(),
            plain(highest, decimals(highest)),
            self.labels.of_column(at)
        )
    }
}

impl Labels {
    /// The labels, and the position of the first one, in columns.
    fn texts(&self) -> (&[String], f64) {
        match self {
            Self::Edges(texts) => (texts, 0.0),
            Self::Columns(texts) => (texts, 0.5),
        }
    }

    /// The label of a column, or its two edges.
    fn of_column(&self, number: usize) -> String {
        match self {
            Self::Edges(texts) => format!("{} to {}", texts[number], texts[number + 1]),
            Self::Columns(texts) => texts[number].clone(),
        }
    }
}

/// The least of 1, 2, 5, 10, 20 and so on that is at least `least`.
fn step(least: f64) -> usize {
    let mut power = 1;
    loop {
        let step = [1, 2, 5].map(|times| times * power).into_iter().find(|&n| n as f64 >= least);
        match step {
            Some(step) => return step,
            None => power *= 10,
        }
    }
}

/// The decimals of a value: 0 for an integer.
fn decimals(value: f64) -> usize {
    if value.fract() == 0.0 { 0 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Columns {
        let labels = Labels::Columns((0..count).map(|number| number.to_string()).collect());
        let values = (0..count).map(|number| (number % 7) as f64).collect();
        Columns {
            title: "Numbers".into(),
            x_label: "number".into(),
            y_label: "elements".into(),
            note: String::new(),
            values,
            labels,
        }
    }

    #[test]
    fn a_step_is_1_2_or_5_times_a_power_of_ten() {
        let steps = [0.2, 1.0, 1.1, 4.0, 6.0, 11.0, 51.0].map(step);
        assert_eq!(steps, [1, 1, 2, 5, 10, 20, 100]);
    }

    #[test]
    fn values_above_0_have_a_column_with_a_tip_and_labels_that_fit_are_shown() {
        let chart = numbers(256);
        let svg = chart.svg().expect("it is whole");
        let above = chart.values.iter().filter(|value| **value > 0.0).count();
        assert_eq!(svg.matches("</title></rect>").count(), above);
        assert!(svg.contains("<title>6: 6</title></rect>"), "{svg}");
        assert!(svg.contains(">20</text>") && !svg.contains(">21</text>"), "{svg}");
        assert!(svg.contains("256 columns. The highest is 6 at 6."), "{svg}");
    }

    #[test]
    fn values_that_columns_cannot_show_are_errors() {
        let with = |value: f64| {
            let mut chart = numbers(3);
            chart.values[2] = value;
            chart.svg().expect_err("not a height").to_string()
        };
        assert!(with(-1.0).contains("-1 at 2"), "{}", with(-1.0));
        assert!(with(f64::NAN).contains("NaN at 2"), "{}", with(f64::NAN));
        assert!(matches!(numbers(0).svg(), Err(ChartError::Empty { .. })));
    }

    #[test]
    #[should_panic(expected = "the values and labels")]
    fn a_missing_label_panics() {
        let _svg = Columns { values: vec![1.0], ..numbers(2) }.svg();
    }
}
