//! A table of the page, also written as a CSV file.

use gridsync_lab::display::svg::csv;
use maud::{Markup, html};

/// A table of the page and of a CSV file.
pub(super) struct Table {
    /// The name of its file, without `.csv`.
    pub(super) file: String,
    /// The title above it.
    pub(super) title: String,
    /// Whether it is long and therefore collapsed at first.
    pub(super) is_long: bool,
    /// The columns: their headings, and whether they contain numbers.
    pub(super) columns: Vec<(&'static str, bool)>,
    /// The rows, a cell for each column.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell: its form on the page, and its value in the file with all digits.
pub(super) struct Cell {
    shown: Markup,
    value: String,
}

impl Cell {
    /// A cell whose form on the page differs from the file.
    pub(super) fn new(shown: Markup, value: impl Into<String>) -> Self {
        Self { shown, value: value.into() }
    }

    /// Text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        let value = text.into();
        Self { shown: html! { (value) }, value }
    }

    /// A number that is rounded on the page, or an empty cell for `None`.
    pub(super) fn number(value: Option<f64>, show: fn(f64) -> String) -> Self {
        let shown = value.map_or(String::new(), show);
        Self::new(html! { (shown) }, value.map_or(String::new(), |value| value.to_string()))
    }

    /// A ratio, bold if gridsync is faster.
    pub(super) fn ratio(ratio: Option<f64>) -> Self {
        let Self { shown, value } = Self::number(ratio, |ratio| format!("{ratio:.2}"));
        let is_faster = ratio.is_some_and(|ratio| ratio < 1.0);
        let shown = html! { @if is_faster { strong { (shown) } } @else { (shown) } };
        Self { shown, value }
    }
}

impl Table {
    /// The name of its file.
    pub(super) fn csv_file(&self) -> String {
        format!("{}.csv", self.file)
    }

    /// The contents of its file.
    pub(super) fn csv(&self) -> String {
        let heads = self.columns.iter().map(|(head, _)| *head).collect::<Vec<_>>();
        let rows =
            self.rows.iter().map(|cells| cells.iter().map(|cell| cell.value.as_str()).collect());
        csv([heads].into_iter().chain(rows))
    }

    /// The table in the page.
    pub(super) fn html(&self) -> Markup {
        let class = |is_number: bool| if is_number { Some("number") } else { None };
        let table = html! {
            // With a tabindex, the keyboard can scroll it too.
            .scroll.wide tabindex="0" role="region" aria-label=(self.title) {
                table.long[self.is_long] {
                    thead { tr { @for (head, is_number) in &self.columns {
                        th scope="col" class=[class(*is_number)] { (head) }
                    } } }
                    tbody { @for row in &self.rows { tr {
                        @for (cell, (head, is_number)) in row.iter().zip(&self.columns) {
                            @if *head == self.columns[0].0 { th scope="row" { (cell.shown) } }
                            @else if *head == FROM { td.from { (cell.shown) } }
                            @else { td class=[class(*is_number)] { (cell.shown) } }
                        }
                    } } }
                }
            }
        };
        let file = html! { a href=(self.csv_file()) { "CSV" } };
        html! {
            @if self.is_long { details { summary { (self.title) } p { (file) } (table) } }
            @else { p { (self.title) " " (file) } (table) }
        }
    }
}

/// The column with the folder that a row is from.
pub(super) const FROM: &str = "from";
