//! A grid of cells over two axes with names, coloured by the distance of each value from 0.

use super::ChartError;
use super::axis::{plain, three_digits};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{Colour, GREY, INK, PALE, diverging};
use super::csv::csv;

/// A grid of cells over two axes with names. Each cell shows its value, and its colour ranges from
/// blue (much faster) through white (0) to vermillion (much slower).
///
/// ```
/// use gridsync_lab::display::svg::{Axis, Faster, HeatMap};
///
/// let chart = HeatMap {
///     title: "Split barrier and grid.sync()".into(),
///     x: Axis { label: "blocks".into(), ticks: vec!["33".into(), "66".into()] },
///     y: Axis { label: "threads".into(), ticks: vec!["256".into()] },
///     values: vec![vec![Some(-22.4), None]],
///     unit: "%".into(),
///     faster: Faster::Below,
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Title.
    pub title: String,
    /// The columns, from the left.
    pub x: Axis,
    /// The rows, from the top.
    pub y: Axis,
    /// The values of each row, one for each column, or `None` if it was not measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// The unit of the values.
    pub unit: String,
    /// The sign of the values for which gridsync is faster.
    pub faster: Faster,
}

/// The values for which gridsync is faster: they are blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faster {
    /// Below 0, as for a difference of times.
    Below,
    /// Above 0, as for a gain.
    Above,
}

impl Faster {
    /// The colour of a value between -1 and 1.
    fn shade(self, value: f64) -> Colour {
        diverging(match self {
            Self::Below => value,
            Self::Above => -value,
        })
    }

    /// The words for values above 0 and below 0.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Below => ["slower", "faster"],
            Self::Above => ["faster", "slower"],
        }
    }
}

/// An axis with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Label.
    pub label: String,
    /// The name of each row or column.
    pub ticks: Vec<String>,
}

/// The text of a cell without a value.
const NONE: &str = "–";
/// The least width of a cell.
const LEAST_WIDTH: f64 = 50.0;
/// The least height of a cell.
const LEAST_HEIGHT: f64 = 34.0;
/// The least height of the legend's bar, so that its three labels fit next to it.
const LEAST_BAR: f64 = 54.0;
/// The distance from the top to the cells.
const ABOVE: f64 = 58.0;
/// The distance from the cells to the bottom.
const BELOW: f64 = 52.0;
/// The distance between neighbouring items.
const GAP: f64 = 10.0;
/// The width of the legend's bar.
const BAR: f64 = 16.0;

impl HeatMap {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`].
    ///
    /// # Panics
    /// If there is not a row of values for each tick of the y axis, with a value for each tick of
    /// the x axis.
    pub fn svg(&self) -> Result<String, ChartError> {
        let values = self.checked()?;
        let (least, most) = values
            .iter()
            .fold((values[0], values[0]), |(a, b), &value| (a.min(value), b.max(value)));
        // The scale is symmetric, so that colours of the same strength are at the same distance
        // from 0.
        let end = least.abs().max(most.abs());
        let decimals = three_digits(end);
        let shade = |value: f64| self.faster.shade(if end > 0.0 { value / end } else { 0.0 });
        let [above, below] = self.faster.words();
        let labels = [format!("{} {above}", signed(end, decimals)), plain(0.0, decimals)]
            .into_iter()
            .chain([format!("{} {below}", signed(-end, decimals))])
            .collect::<Vec<_>>();
        let show = |value: Option<f64>| value.map_or(NONE.into(), |value| signed(value, decimals));

        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.fold(0.0, |widest: f64, text| widest.max(width(&text, TEXT)))
        };
        let (columns, rows) = (self.x.ticks.len() as f64, self.y.ticks.len() as f64);
        let cell_width = (GAP + widest(&mut self.x.ticks.iter().cloned()))
            .max(GAP + widest(&mut self.values.iter().flatten().copied().map(show)))
            .max(LEAST_WIDTH)
            .max(width(&self.x.label, TEXT) / columns);
        let cell_height = LEAST_HEIGHT.max(width(&self.y.label, TEXT) / rows).max(LEAST_BAR / rows);
        let (cells_width, cells_height) = (columns * cell_width, rows * cell_height);
        let left = GAP + TEXT + GAP + widest(&mut self.y.ticks.iter().cloned()) + GAP;
        let legend = left + cells_width + 2.0 * GAP;
        let legend_width =
            (BAR + GAP + widest(&mut labels.iter().cloned())).max(width(&self.unit, TEXT));
        let total_width = (legend + legend_width + GAP).max(width(&self.title, TITLE) + 2.0 * GAP);

        let mut canvas = Canvas::new(
            total_width,
            ABOVE + cells_height + BELOW,
            &self.title,
            &format!(
                "Heat map of {columns} × {rows} cells, {} by {}, from {} to {} {}.",
                self.x.label,
                self.y.label,
                signed(least, decimals),
                signed(most, decimals),
                self.unit
            ),
        );
        let top = ABOVE;
        // Drawn below the cells, so that a white cell has an edge.
        canvas.rect(left - 1.0, top - 1.0, cells_width + 1.0, cells_height + 1.0, PALE);
        for (row, (tick, values)) in self.y.ticks.iter().zip(&self.values).enumerate() {
            let y = top + row as f64 * cell_height;
            let baseline = y + cell_height / 2.0 + 0.35 * TEXT;
            canvas.text(left - GAP, baseline, Anchor::End, INK, tick);
            for (column, &value) in values.iter().enumerate() {
                let x = left + column as f64 * cell_width;
                let fill = value.map_or(PALE, shade);
                canvas.rect(x, y, cell_width - 1.0, cell_height - 1.0, fill);
                let middle = x + (cell_width - 1.0) / 2.0;
                let text = show(value);
                canvas.text(middle, baseline, Anchor::Middle, fill.text(), &text);
            }
        }
        let below = top + cells_height + 1.5 * TEXT;
        for (column, tick) in self.x.ticks.iter().enumerate() {
            let middle = left + (column as f64 + 0.5) * cell_width;
            canvas.text(middle, below, Anchor::Middle, INK, tick);
        }
        let (across, down) = (left + cells_width / 2.0, top + cells_height / 2.0);
        let baseline = below + 1.6 * TEXT;
        canvas.text(across, baseline, Anchor::Middle, GREY, &self.x.label);
        canvas.upward_text(GAP + TEXT, down, GREY, &self.y.label);

        canvas.text(legend, top - 0.7 * TEXT, Anchor::Start, GREY, &self.unit);
        draw_legend(&mut canvas, (legend, top), cells_height, self.faster, &labels);
        Ok(canvas.finish())
    }

    /// The cells as CSV, a row for each cell with a value.
    #[must_use]
    pub fn csv(&self) -> String {
        let heads = [self.y.label.clone(), self.x.label.clone(), self.unit.clone()];
        let cells = self.y.ticks.iter().zip(&self.values).flat_map(|(y, row)| {
            let cell = |(x, value): (&String, &Option<f64>)| {
                Some([y.clone(), x.clone(), (*value)?.to_string()])
            };
            self.x.ticks.iter().zip(row).filter_map(cell).collect::<Vec<_>>()
        });
        csv([heads].into_iter().chain(cells))
    }

    /// All values, at least one, if the chart is valid.
    fn checked(&self) -> Result<Vec<f64>, ChartError> {
        let title = || self.title.clone();
        let (rows, ticks) = (self.values.len(), self.y.ticks.len());
        assert_eq!(rows, ticks, "{:?}: the rows and ticks of {}", self.title, self.y.label);
        let mut values = Vec::new();
        for (tick, row) in self.y.ticks.iter().zip(&self.values) {
            let row_name = format!("{} {tick}", self.y.label);
            let (found, ticks) = (row.len(), self.x.ticks.len());
            assert_eq!(found, ticks, "{:?}: the values and ticks of {row_name}", self.title);
            for (column, &value) in self.x.ticks.iter().zip(row) {
                let Some(value) = value else { continue };
                if !value.is_finite() {
                    return Err(ChartError::NotFinite {
                        title: title(),
                        place: format!("{} {column}, {row_name}", self.x.label),
                        value,
                    });
                }
                values.push(value);
            }
        }
        if values.is_empty() {
            return Err(ChartError::Empty { title: title() });
        }
        Ok(values)
    }
}

/// Draws the bar of the scale, with the greatest value at the top and labels at its top, middle and
/// bottom.
fn draw_legend(
    canvas: &mut Canvas,
    (x, top): (f64, f64),
    height: f64,
    faster: Faster,
    labels: &[String],
) {
    const STEPS: u32 = 32;
    canvas.rect(x - 1.0, top - 1.0, BAR + 2.0, height + 2.0, PALE);
    let step_height = height / f64::from(STEPS);
    for step in (0..STEPS).map(f64::from) {
        let colour = faster.shade(1.0 - (2.0 * step + 1.0) / f64::from(STEPS));
        canvas.rect(x, top + step * step_height, BAR, step_height, colour);
    }
    for (part, label) in [0.0, 0.5, 1.0].into_iter().zip(labels) {
        // The outer labels stay within the height of the bar.
        let baseline = top + part * height + (0.8 - 0.9 * part) * TEXT;
        canvas.text(x + BAR + GAP / 2.0, baseline, Anchor::Start, INK, label);
    }
}

/// A number with its sign, even if it is positive; 0 has none.
fn signed(value: f64, decimals: usize) -> String {
    let text = plain(value, decimals);
    if text.starts_with('−') || !text.contains(|c| ('1'..='9').contains(&c)) {
        text
    } else {
        format!("+{text}")
    }
}
