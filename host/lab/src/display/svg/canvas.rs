//! The SVG elements of charts.

use super::colour::{Colour, INK, WHITE};
use std::fmt::Write as _;

/// Font size of all text except the title, in px.
pub(super) const TEXT: f64 = 12.0;
/// Font size of the title, in px.
pub(super) const TITLE: f64 = 16.0;

/// An upper bound of the width of `text`, in px. No font is embedded, so this assumes a wide one:
/// in DejaVu Sans, a digit is 0.636 of the font size wide, a letter less on average.
pub(super) fn width(text: &str, size: f64) -> f64 {
    0.65 * size * text.chars().count() as f64
}

/// Which point of a text is at its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing, built element by element.
pub(super) struct Canvas {
    body: String,
}

impl Canvas {
    /// A white canvas of `width` × `height` px with a title above.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str) -> Self {
        let (w, h) = (number(width), number(height));
        let mut canvas = Self {
            body: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
                 font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n\
                 <title>{}</title>\n<desc>{}</desc>\n",
                escape(title),
                escape(description)
            ),
        };
        canvas.rect(0.0, 0.0, width, height, WHITE);
        canvas.sized_text(width / 2.0, 26.0, Anchor::Middle, TITLE, INK, title);
        canvas
    }

    /// A filled rectangle, given its upper left corner.
    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Colour) {
        self.element(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>",
            number(x),
            number(y),
            number(width),
            number(height),
            fill.paint("fill")
        ));
    }

    /// A filled rectangle with a tooltip, given its upper left corner and its width and height.
    pub(super) fn rect_with_tip(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        fill: Colour,
        tip: &str,
    ) {
        self.element(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}><title>{}</title></rect>",
            number(x),
            number(y),
            number(width),
            number(height),
            fill.paint("fill"),
            escape(tip)
        ));
    }

    /// A polyline through `points`, `thickness` px thick.
    pub(super) fn line(&mut self, points: &[(f64, f64)], thickness: f64, stroke: Colour) {
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
        self.element(format_args!(
            "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"{}\"/>",
            points.join(" "),
            stroke.paint("stroke"),
            number(thickness)
        ));
    }

    /// A filled outline around `(x, y)`, with its corners relative to that point. `tip` is its
    /// tooltip.
    pub(super) fn marker(
        &mut self,
        x: f64,
        y: f64,
        corners: &[(f64, f64)],
        fill: Colour,
        tip: &str,
    ) {
        let corners: Vec<String> = corners
            .iter()
            .map(|&(dx, dy)| format!("{},{}", number(x + dx), number(y + dy)))
            .collect();
        self.element(format_args!(
            "<polygon points=\"{}\" stroke=\"#ffffff\" {}><title>{}</title></polygon>",
            corners.join(" "),
            fill.paint("fill"),
            escape(tip)
        ));
    }

    /// Text whose baseline is at `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, fill: Colour, text: &str) {
        self.sized_text(x, y, anchor, TEXT, fill, text);
    }

    fn sized_text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, fill: Colour, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.element(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" font-size=\"{}\" {}>{}</text>",
            number(x),
            number(y),
            number(size),
            fill.paint("fill"),
            escape(text)
        ));
    }

    /// Text that runs upwards, centred at `y`, with its baseline at `x`.
    pub(super) fn upward_text(&mut self, x: f64, y: f64, fill: Colour, text: &str) {
        let (x, y) = (number(x), number(y));
        self.element(format_args!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"{}\" {} transform=\"rotate(-90 {x} {y})\">{}</text>",
            number(TEXT),
            fill.paint("fill"),
            escape(text)
        ));
    }

    /// Returns the complete file.
    pub(super) fn finish(self) -> String {
        self.body + "</svg>\n"
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes all that is written");
    }
}

/// A coordinate rounded to a hundredth of a px, without trailing zeros.
fn number(value: f64) -> String {
    let rounded = (100.0 * value).round() / 100.0;
    // Avoids -0.
    format!("{}", rounded + 0.0)
}

/// Text, escaped for XML. Control characters are not allowed in XML and become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
