//! A directed graph in layers, drawn from top to bottom.

use super::ChartError;
use super::canvas::{Anchor, Canvas, TEXT, TITLE, width};
use super::colour::{BARS, GREY};

/// A directed graph in layers. Edges lead down, from any layer to a later one.
///
/// ```
/// use gridsync_lab::display::svg::{Layers, Vertex};
///
/// let vertex = |name: &str, after: &[(usize, usize)], is_marked| {
///     Vertex { name: name.into(), after: after.to_vec(), is_marked }
/// };
/// let chart = Layers {
///     title: "A graph".into(),
///     note: "dark: the critical path".into(),
///     layers: vec![vec![vertex("A", &[], true)], vec![vertex("B", &[(0, 0)], true)]],
/// };
/// assert!(chart.svg()?.starts_with("<svg"));
/// # Ok::<(), gridsync_lab::display::svg::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Title.
    pub title: String,
    /// The meaning of the marks, below the graph.
    pub note: String,
    /// The vertices of each layer, from the top.
    pub layers: Vec<Vec<Vertex>>,
}

/// A vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Name.
    pub name: String,
    /// The layers and indices of the vertices whose edges lead here.
    pub after: Vec<(usize, usize)>,
    /// Whether it is dark, and its edges from other dark vertices too.
    pub is_marked: bool,
}

/// The height of a vertex, and the distance between two layers.
const HEIGHT: f64 = 22.0;
const BETWEEN: f64 = 34.0;
/// The distance between neighbouring items.
const GAP: f64 = 12.0;
/// The distance from the top to the graph.
const ABOVE: f64 = 44.0;
/// The height of a line of text.
const LINE: f64 = 1.7 * TEXT;

impl Layers {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`ChartError::Empty`].
    ///
    /// # Panics
    /// If an edge comes from a vertex that does not exist.
    pub fn svg(&self) -> Result<String, ChartError> {
        let vertices = || self.layers.iter().flatten();
        let widest = vertices().map(|vertex| width(&vertex.name, TEXT)).reduce(f64::max);
        let Some(widest) = widest else {
            return Err(ChartError::Empty { title: self.title.clone() });
        };
        let box_width = (widest + GAP).max(2.0 * HEIGHT);
        let most = self.layers.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let total = (most * (box_width + GAP) + GAP)
            .max(width(&self.title, TITLE) + 2.0 * GAP)
            .max(width(&self.note, TEXT) + 2.0 * GAP);
        let bottom = ABOVE + self.layers.len() as f64 * (HEIGHT + BETWEEN) - BETWEEN;
        let edges: usize = vertices().map(|vertex| vertex.after.len()).sum();
        let description = format!(
            "A directed graph of {} vertices in {} layers, with {edges} edges. {}.",
            vertices().count(),
            self.layers.len(),
            self.note
        );
        let mut canvas = Canvas::new(total, bottom + LINE + GAP, &self.title, &description);
        // The middle of a vertex's upper side.
        let place = |(layer, at): (usize, usize)| {
            let count = self.layers[layer].len() as f64;
            let x = total / 2.0 + (at as f64 - (count - 1.0) / 2.0) * (box_width + GAP);
            (x, ABOVE + layer as f64 * (HEIGHT + BETWEEN))
        };
        // Vertices are drawn after edges, to cover them.
        for is_marked in [false, true] {
            for (layer, row) in self.layers.iter().enumerate() {
                for (at, vertex) in row.iter().enumerate() {
                    for &from in &vertex.after {
                        let both = vertex.is_marked && self.layers[from.0][from.1].is_marked;
                        if both != is_marked {
                            continue;
                        }
                        let ((x, y), (to_x, to_y)) = (place(from), place((layer, at)));
                        let (thickness, colour) = if both { (2.5, BARS[0]) } else { (1.0, GREY) };
                        canvas.line(&[(x, y + HEIGHT), (to_x, to_y)], thickness, colour);
                    }
                }
            }
        }
        for (layer, row) in self.layers.iter().enumerate() {
            for (at, vertex) in row.iter().enumerate() {
                let (x, y) = place((layer, at));
                let fill = if vertex.is_marked { BARS[0] } else { BARS[2] };
                canvas.rect(x - box_width / 2.0, y, box_width, HEIGHT, fill);
                let baseline = y + HEIGHT / 2.0 + 0.35 * TEXT;
                canvas.text(x, baseline, Anchor::Middle, fill.text(), &vertex.name);
            }
        }
        canvas.text(total / 2.0, bottom + LINE, Anchor::Middle, GREY, &self.note);
        Ok(canvas.finish())
    }
}
