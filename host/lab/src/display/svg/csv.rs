//! The numbers of a chart or a table as comma-separated values (RFC 4180).

/// A file with these rows. The first row contains the names of the columns.
#[must_use]
pub fn csv<Row>(rows: impl IntoIterator<Item = Row>) -> String
where
    Row: IntoIterator,
    Row::Item: AsRef<str>,
{
    let line = |row: Row| {
        let cells: Vec<_> = row.into_iter().map(|cell| quoted(cell.as_ref())).collect();
        cells.join(",") + "\n"
    };
    rows.into_iter().map(line).collect()
}

/// A cell, quoted if it would otherwise be read as several.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_a_comma_or_a_quote_stays_one_cell() {
        let rows = [["name", "µs"], ["barrier, \"grid\"", "0.8"]];
        assert_eq!(csv(rows), "name,µs\n\"barrier, \"\"grid\"\"\",0.8\n");
    }
}
