//! The plot of a chart with a numeric axis on its left.

use super::axis::Scale;
use super::canvas::{Anchor, Canvas, TEXT, width};
use super::colour::{GREY, INK, PALE};

/// The distance between neighbouring items.
pub(super) const GAP: f64 = 10.0;
/// The distance from the title to the top of the chart.
pub(super) const ABOVE: f64 = 42.0;
/// The distance from the plot to the bottom.
pub(super) const BELOW: f64 = 54.0;

/// The rectangle of the plot.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The distance from the left end of the chart to a plot with this axis on its left.
pub(super) fn left_of(y_scale: &Scale) -> f64 {
    GAP + TEXT + GAP + widest(y_scale.ticks.iter().map(|(_, text)| text)) + GAP
}

/// The width of the widest text.
pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a String>) -> f64 {
    texts.into_iter().map(|text| width(text, TEXT)).fold(0.0, f64::max)
}

impl Frame {
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The vertical position of a value.
    pub(super) fn down(&self, y_scale: &Scale, y: f64) -> f64 {
        self.top + self.height * (1.0 - y_scale.place(y))
    }

    /// Draws the ticks of the left axis, with lines across the plot.
    pub(super) fn y_axis(&self, canvas: &mut Canvas, y_scale: &Scale) {
        for (y, text) in &y_scale.ticks {
            let shade = if *y == 0.0 { GREY } else { PALE };
            let y = self.down(y_scale, *y);
            canvas.line(&[(self.left, y), (self.left + self.width, y)], 1.0, shade);
            canvas.text(self.left - GAP, y + 0.35 * TEXT, Anchor::End, INK, text);
        }
    }

    /// Draws ticks of the lower axis, each with its horizontal position and its label.
    pub(super) fn x_axis<'a>(
        &self,
        canvas: &mut Canvas,
        ticks: impl IntoIterator<Item = (f64, &'a String)>,
    ) {
        let bottom = self.bottom();
        for (x, text) in ticks {
            canvas.line(&[(x, bottom), (x, bottom + 5.0)], 1.0, GREY);
            canvas.text(x, bottom + 1.6 * TEXT, Anchor::Middle, INK, text);
        }
    }

    /// Writes the labels of both axes.
    pub(super) fn labels(&self, canvas: &mut Canvas, x_label: &str, y_label: &str) {
        let (middle, baseline) = (self.left + self.width / 2.0, self.bottom() + 3.4 * TEXT);
        canvas.text(middle, baseline, Anchor::Middle, GREY, x_label);
        canvas.upward_text(GAP + TEXT, self.top + self.height / 2.0, GREY, y_label);
    }
}
