//! Values with the range of their samples, and their error bars.

use super::canvas::Canvas;
use super::colour::Colour;

/// A measured value, and the range of its samples if there were several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The least and the greatest sample.
    pub range: Option<[f64; 2]>,
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Self {
        Self { value, range: None }
    }
}

impl Estimate {
    /// A value whose samples were between `min` and `max`.
    #[must_use]
    pub fn between(value: f64, min: f64, max: f64) -> Self {
        Self { value, range: Some([min, max]) }
    }

    /// Applies a monotonic function to the value and to the ends of the range, as to get a rate
    /// from a time.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let in_order = |[a, b]: [f64; 2]| [a.min(b), a.max(b)];
        Self { value: f(self.value), range: self.range.map(|ends| in_order(ends.map(&f))) }
    }

    /// All its numbers: the value, and the ends of the range.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> + use<> {
        [self.value].into_iter().chain(self.range.into_iter().flatten())
    }

    /// The range as text, to append to the value.
    pub(super) fn spread(&self, show: impl Fn(f64) -> String) -> String {
        self.range.map_or(String::new(), |[min, max]| format!(", {} to {}", show(min), show(max)))
    }

    /// The cells of a CSV: value, least, greatest.
    pub(super) fn cells(&self) -> [String; 3] {
        let [min, max] = self
            .range
            .map_or([String::new(), String::new()], |ends| ends.map(|end| end.to_string()));
        [self.value.to_string(), min, max]
    }
}

/// Half of the length of the ticks at the ends of a range.
const TICK: f64 = 3.0;

/// Draws the range as an error bar. `place` maps a value to its position in the chart.
pub(super) fn draw_range(
    canvas: &mut Canvas,
    estimate: &Estimate,
    place: impl Fn(f64) -> (f64, f64),
    colour: Colour,
) {
    let Some([from, to]) = estimate.range.map(|ends| ends.map(place)) else { return };
    // The ticks are perpendicular to the bar, which is horizontal or vertical.
    let (dx, dy) = if from.1 == to.1 { (0.0, TICK) } else { (TICK, 0.0) };
    let tick = |(x, y): (f64, f64)| [(x - dx, y - dy), (x + dx, y + dy)];
    let points = [tick(from), [from, to], tick(to)].concat();
    canvas.line(&points, 1.2, colour);
}

/// Draws a point with its error bar.
pub(super) fn draw_point(
    canvas: &mut Canvas,
    estimate: &Estimate,
    place: impl Fn(f64) -> (f64, f64),
    (marker, colour): (&[(f64, f64)], Colour),
    tip: &str,
) {
    draw_range(canvas, estimate, &place, colour);
    let (x, y) = place(estimate.value);
    canvas.marker(x, y, marker, colour, tip);
}

/// The outlines of markers. The sixth series reuses the first one in another colour.
pub(super) const MARKERS: [&[(f64, f64)]; 5] = [
    // An octagon in place of a disc, a square, a triangle, a diamond, an inverted triangle.
    &[
        (-1.8, -4.3),
        (1.8, -4.3),
        (4.3, -1.8),
        (4.3, 1.8),
        (1.8, 4.3),
        (-1.8, 4.3),
        (-4.3, 1.8),
        (-4.3, -1.8),
    ],
    &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
    &[(0.0, -5.5), (5.0, 3.5), (-5.0, 3.5)],
    &[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)],
    &[(0.0, 5.5), (5.0, -3.5), (-5.0, -3.5)],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_rate_is_in_order() {
        let time = Estimate::between(2.0, 1.0, 4.0);
        assert_eq!(time.map(|us| 8.0 / us), Estimate::between(4.0, 2.0, 8.0));
        assert_eq!(Estimate::from(2.0).map(|us| 8.0 / us), 4.0.into());
    }
}
