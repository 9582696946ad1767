//! Plain tables for a terminal.

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};
use std::fmt;

/// The width of a terminal, in columns.
const WIDTH: u16 = 80;

/// Spaces between two columns.
const APART: u16 = 2;

/// A table without lines: spaces separate the columns. If a row would be wider than the 80 columns
/// of a terminal, its cells are wrapped between words.
#[derive(Clone, Debug)]
pub struct Table {
    table: comfy_table::Table,
    /// The longest word of each column.
    words: Vec<usize>,
}

/// An empty table.
#[must_use]
pub fn table() -> Table {
    let mut table = comfy_table::Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        // The spaces after the last column are not printed.
        .set_width(WIDTH + APART);
    Table { table, words: Vec::new() }
}

impl Table {
    /// Sets the headings of the columns.
    pub fn set_header<T: fmt::Display>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = self.cells(cells);
        self.table.set_header(cells);
    }

    /// Adds a row.
    pub fn add_row<T: fmt::Display>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = self.cells(cells);
        self.table.add_row(cells);
    }

    /// The number of rows, without the headings.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.table.row_count()
    }

    fn cells<T: fmt::Display>(&mut self, cells: impl IntoIterator<Item = T>) -> Vec<String> {
        let cells: Vec<_> = cells.into_iter().map(|cell| cell.to_string()).collect();
        self.words.resize(cells.len().max(self.words.len()), 0);
        for (longest, cell) in self.words.iter_mut().zip(&cells) {
            let words = cell.split(' ').map(|word| word.chars().count());
            *longest = words.fold(*longest, usize::max);
        }
        cells
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = self.table.clone();
        for (column, &longest) in table.column_iter_mut().zip(&self.words) {
            column.set_padding((0, APART));
            let least = Width::Fixed(APART + longest as u16);
            column.set_constraint(ColumnConstraint::LowerBoundary(least));
        }
        f.write_str(&table.trim_fmt())
    }
}

/// A column of a table that is printed row by row, so that its width must be known in advance.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    head: &'static str,
    width: usize,
    is_number: bool,
}

impl Column {
    /// A left-aligned column of words, each of at most `width` characters.
    #[must_use]
    pub fn words(head: &'static str, width: usize) -> Self {
        Self::of(head, width, false)
    }

    /// A right-aligned column of numbers, each of at most `width` characters.
    #[must_use]
    pub fn numbers(head: &'static str, width: usize) -> Self {
        Self::of(head, width, true)
    }

    fn of(head: &'static str, width: usize, is_number: bool) -> Self {
        Self { head, width: width.max(head.chars().count()), is_number }
    }

    /// The headings of a table.
    #[must_use]
    pub fn heads(columns: &[Self]) -> String {
        Self::row(columns, columns.iter().map(|column| column.head.to_owned()))
    }

    /// A row of a table.
    #[must_use]
    pub fn row(columns: &[Self], cells: impl IntoIterator<Item = String>) -> String {
        let mut row = String::new();
        for (column, cell) in columns.iter().zip(cells) {
            let width = column.width;
            row += &if column.is_number {
                format!("{cell:>width$} ")
            } else {
                format!("{cell:<width$} ")
            };
        }
        row.truncate(row.trim_end().len());
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_in_a_terminal() {
        let mut table = table();
        table.set_header(["some head that is long"; 6]);
        table.add_row(["some indivisible words"; 6]);
        let text = table.to_string();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{text}");
            assert_eq!(line, line.trim_end(), "{text}");
        }
        assert_eq!(text.matches("indivisible").count(), 6, "{text}");
    }

    #[test]
    fn rows_printed_separately_align_with_their_headings() {
        let columns = [Column::words("name", 6), Column::numbers("µs", 5)];
        let cells = |name: &str, us: &str| [name.to_owned(), us.to_owned()];
        assert_eq!(Column::heads(&columns), "name      µs");
        assert_eq!(Column::row(&columns, cells("scan", "0.25")), "scan    0.25");
        assert_eq!(Column::row(&columns, cells("scan", "")), "scan");
    }
}
