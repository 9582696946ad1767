//! The start and end times of operations, in several runs.

use super::ChartError;
use super::axis::{Scale, three_digits};
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{BARS, GREY, INK, PALE};

/// Several runs, one below another, on one time axis. In each run, overlapping bars are in
/// different rows.
///
/// ```
/// use gridsync_lab::display::svg::{Bar, Run, Timelines};
///
/// let bar = |name: &str, begin, end| Bar { name: name.into(), begin, end };
/// let run = Run { name: "serial".into(), bars: vec![bar("A", 0.0, 2.0), bar("B", 2.5, 4.0)] };
/// let chart = Timelines { title: "A and B".into(), x_label: "µs".into(), runs: vec![run] };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Timelines {
    /// Title.
    pub title: String,
    /// The unit of time.
    pub x_label: String,
    /// The runs, from the top.
    pub runs: Vec<Run>,
}

/// A run: bars with their start and end times.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name.
    pub name: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// An interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Name.
    pub name: String,
    /// Start time.
    pub begin: f64,
    /// End time.
    pub end: f64,
}

/// The width of the plot.
const PLOT_WIDTH: f64 = 720.0;
/// The distance from the top to the first run.
const ABOVE: f64 = 40.0;
/// The height of a line of text.
const LINE: f64 = 1.7 * TEXT;
/// The height of a row of bars.
const ROW: f64 = 16.0;
/// The distance between neighbouring items.
const GAP: f64 = 12.0;

impl Timelines {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`], [`ChartError::NotFinite`].
    pub fn svg(&self) -> Result<String, ChartError> {
        let bars = || self.runs.iter().flat_map(|run| &run.bars);
        if bars().next().is_none() {
            return Err(ChartError::Empty { title: self.title.clone() });
        }
        for bar in bars() {
            if let Some(value) = [bar.begin, bar.end].into_iter().find(|value| !value.is_finite()) {
                let (title, place) = (self.title.clone(), bar.name.clone());
                return Err(ChartError::NotFinite { title, place, value });
            }
        }
        let scale = Scale::linear(bars().flat_map(|bar| [bar.begin, bar.end]));
        let dealt: Vec<_> = self.runs.iter().map(deal).collect();
        let rows: usize = dealt.iter().map(|(_, rows)| rows).sum();
        let bottom = ABOVE + rows as f64 * ROW + self.runs.len() as f64 * (LINE + GAP);
        let total = (PLOT_WIDTH + 4.0 * GAP).max(width(&self.title, TITLE) + 2.0 * GAP);
        let mut canvas =
            Canvas::new(total, bottom + 2.0 * LINE + GAP, &self.title, &self.description());
        let left = 2.0 * GAP;
        let across = |value: f64| left + PLOT_WIDTH * scale.place(value);
        for (value, text) in &scale.ticks {
            let x = across(*value);
            canvas.text(x, bottom + 0.8 * LINE, Anchor::Middle, INK, text);
        }
        let mut top = ABOVE;
        for (run, (of, rows)) in self.runs.iter().zip(dealt) {
            let end = run.bars.iter().map(|bar| bar.end).fold(0.0, f64::max);
            let said = format!("{}: {end:.*} {}", run.name, three_digits(end), self.x_label);
            canvas.text(left, top + 0.8 * LINE, Anchor::Start, INK, &said);
            top += LINE;
            // The grid stops at the names of the runs.
            for x in scale.ticks.iter().map(|(value, _)| across(*value)) {
                canvas.line(&[(x, top), (x, top + rows as f64 * ROW)], 1.0, PALE);
            }
            for (at, (bar, row)) in run.bars.iter().zip(of).enumerate() {
                let (x, end) = (across(bar.begin), across(bar.end));
                let y = top + row as f64 * ROW;
                let fill = BARS[1 + at % 2];
                // At least a pixel wide, to be visible.
                canvas.rect(x, y, (end - x).max(1.0), ROW - 2.0, fill);
                if width(&bar.name, TEXT) < end - x {
                    let baseline = y + ROW / 2.0 - 1.0 + 0.35 * TEXT;
                    canvas.text((x + end) / 2.0, baseline, Anchor::Middle, fill.text(), &bar.name);
                }
            }
            top += rows as f64 * ROW + GAP;
        }
        let middle = left + PLOT_WIDTH / 2.0;
        canvas.text(middle, bottom + 1.8 * LINE, Anchor::Middle, GREY, &self.x_label);
        Ok(canvas.finish())
    }

    fn description(&self) -> String {
        let names: Vec<_> = self.runs.iter().map(|run| run.name.as_str()).collect();
        format!("Timelines in {} of {}.", self.x_label, names.join(", "))
    }
}

/// The row of each bar, so that bars in a row do not overlap, and the number of rows.
fn deal(run: &Run) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..run.bars.len()).collect();
    order.sort_by(|&a, &b| run.bars[a].begin.total_cmp(&run.bars[b].begin));
    let (mut rows, mut ends) = (vec![0; run.bars.len()], Vec::new());
    for at in order {
        let Bar { begin, end, .. } = run.bars[at];
        let free = ends.iter().position(|&its: &f64| its <= begin);
        rows[at] = free.unwrap_or(ends.len());
        match free {
            Some(row) => ends[row] = end,
            None => ends.push(end),
        }
    }
    (rows, ends.len())
}
