//! Plain tables for a terminal.

use comfy_table::{Table, presets};

/// An empty table without rules: columns are set apart by spaces.
#[must_use]
pub fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}
