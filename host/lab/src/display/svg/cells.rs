//! Rows of small cells with a word each, in two shades.

use super::ChartError;
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{BARS, GREY, INK, PALE};
use super::csv::csv;
use std::iter::once;

/// Rows of small cells, each with a short text and one of two shades, or pale and empty.
///
/// ```
/// use gridsync_lab::display::svg::{Cells, CellRow};
///
/// let row = CellRow { name: "warp 0".into(), cells: vec![Some("0".into()), Some("1".into()), None] };
/// let chart = Cells {
///     title: "The lanes of a warp".into(),
///     x_label: "lane".into(),
///     note: "pale: idle".into(),
///     rows: vec![row],
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Title.
    pub title: String,
    /// Label of the columns, which are numbered from 0.
    pub x_label: String,
    /// The meaning of the texts and the pale cells, below the axis.
    pub note: String,
    /// The rows, from the top.
    pub rows: Vec<CellRow>,
}

/// A row of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRow {
    /// Name.
    pub name: String,
    /// The text of each cell, or `None` for a pale cell. The shade changes where the text does.
    pub cells: Vec<Option<String>>,
}

/// The height of a cell.
const HEIGHT: f64 = 20.0;
/// The distance between neighbouring items.
const GAP: f64 = 10.0;
/// The distance from the top to the cells.
const ABOVE: f64 = 44.0;
/// The height of a line of text.
const LINE: f64 = 1.7 * TEXT;
/// One of this many columns has a number.
const NUMBERED: usize = 8;

impl Cells {
    /// The texts as CSV: a line for each row, with its name first.
    #[must_use]
    pub fn csv(&self) -> String {
        csv(self.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| cell.as_deref().unwrap_or_default());
            once(row.name.as_str()).chain(cells)
        }))
    }

    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`].
    pub fn svg(&self) -> Result<String, ChartError> {
        let texts = || self.rows.iter().flat_map(|row| &row.cells).flatten();
        if texts().next().is_none() {
            return Err(ChartError::Empty { title: self.title.clone() });
        }
        let widest = |texts: &mut dyn Iterator<Item = &String>| {
            texts.fold(0.0, |widest: f64, text| widest.max(width(text, TEXT)))
        };
        let cell = HEIGHT.max(widest(&mut texts()) + 4.0);
        let left = GAP + widest(&mut self.rows.iter().map(|row| &row.name)) + GAP;
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let bottom = ABOVE + HEIGHT * self.rows.len() as f64;
        let total = (left + cell * columns as f64 + GAP)
            .max(width(&self.title, TITLE) + 2.0 * GAP)
            .max(left + width(&self.note, TEXT) + GAP);
        let rows = self.rows.len();
        let description =
            format!("{rows} rows of {columns} cells by {}. {}.", self.x_label, self.note);
        let mut canvas = Canvas::new(total, bottom + 3.0 * LINE + GAP, &self.title, &description);
        for (number, row) in self.rows.iter().enumerate() {
            let y = ABOVE + number as f64 * HEIGHT;
            let baseline = y + HEIGHT / 2.0 + 0.35 * TEXT;
            canvas.text(left - GAP, baseline, Anchor::End, INK, &row.name);
            let mut is_dark = false;
            for (column, text) in row.cells.iter().enumerate() {
                is_dark ^= column > 0 && row.cells[column - 1] != *text;
                let fill = match text {
                    None => PALE,
                    Some(_) => BARS[if is_dark { 1 } else { 2 }],
                };
                let x = left + column as f64 * cell;
                canvas.rect(x, y, cell - 1.0, HEIGHT - 1.0, fill);
                let text = text.as_deref().unwrap_or_default();
                canvas.text(x + (cell - 1.0) / 2.0, baseline, Anchor::Middle, fill.text(), text);
            }
        }
        for column in (0..columns).step_by(NUMBERED) {
            let middle = left + (column as f64 + 0.5) * cell;
            canvas.text(middle, bottom + 0.8 * LINE, Anchor::Middle, INK, &column.to_string());
        }
        let middle = left + columns as f64 * cell / 2.0;
        canvas.text(middle, bottom + 1.8 * LINE, Anchor::Middle, GREY, &self.x_label);
        canvas.text(left, bottom + 2.8 * LINE, Anchor::Start, GREY, &self.note);
        Ok(canvas.finish())
    }
}
