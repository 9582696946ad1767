//! The classic shapes in one table.

use super::Answer;
use crate::display::{Table, table};

/// Heading of the table.
pub(super) const WHAT: &str = "The classic shapes: in which scopes does PTX's memory model allow the outcome \
    that one does not expect? Threads are in one CTA, in CTAs of their own, or on GPUs of their own. A star: \
    the emulator ran it and has not shown it. A plus: a GPU has shown it. Both have one GPU.";

/// A shape in one placement.
struct Row {
    shape: String,
    place: String,
    cells: Vec<Cell>,
}

/// One way to access memory.
struct Cell {
    flavour: String,
    /// The scopes in which the outcome is allowed.
    scopes: Vec<String>,
    /// Whether the emulator has shown it in all the scopes that it ran.
    was_seen: bool,
    /// Whether a GPU has shown it in some of the scopes.
    was_seen_on_gpu: bool,
}

/// A row for each shape and placement, and a column for each way to access memory.
pub(super) fn table_of(answers: &[Answer]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for answer in answers {
        add(&mut rows, answer);
    }
    let mut flavours: Vec<&str> = Vec::new();
    for cell in rows.iter().flat_map(|row| &row.cells) {
        if !flavours.contains(&cell.flavour.as_str()) {
            flavours.push(&cell.flavour);
        }
    }
    let mut table = table();
    table.set_header(["shape", "threads"].into_iter().chain(flavours.iter().copied()));
    for row in &rows {
        let of = |flavour: &&str| row.cells.iter().find(|cell| cell.flavour == *flavour);
        let cells = flavours.iter().map(|flavour| of(flavour).map_or(String::new(), Cell::text));
        table.add_row([row.shape.clone(), row.place.clone()].into_iter().chain(cells));
    }
    table
}

/// Adds an answer to its row. Its name consists of shape, flavour with a scope, and placement.
fn add(rows: &mut Vec<Row>, answer: &Answer) {
    let mut parts = answer.file.rsplitn(3, '+');
    let [place, flavour, shape] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let (flavour, scope) = flavour.split_once('.').unwrap_or((flavour, "yes"));
    let found = rows.iter().position(|row| row.shape == shape && row.place == place);
    let at = found.unwrap_or_else(|| {
        rows.push(Row { shape: shape.into(), place: place.into(), cells: Vec::new() });
        rows.len() - 1
    });
    let cells = &mut rows[at].cells;
    let found = cells.iter().position(|cell| cell.flavour == flavour);
    let at = found.unwrap_or_else(|| {
        cells.push(Cell {
            flavour: flavour.into(),
            scopes: Vec::new(),
            was_seen: true,
            was_seen_on_gpu: false,
        });
        cells.len() - 1
    });
    if answer.model == "reachable" {
        cells[at].scopes.push(scope.into());
        cells[at].was_seen &= answer.emulator.is_none() || answer.shown.by_emulator;
        cells[at].was_seen_on_gpu |= answer.shown.by_gpu;
    }
}

impl Cell {
    fn text(&self) -> String {
        let scopes = match self.scopes.len() {
            0 => "-".to_owned(),
            3 => "all".to_owned(),
            _ => self.scopes.join(" "),
        };
        let emulator = if self.was_seen { "" } else { "*" };
        scopes + emulator + if self.was_seen_on_gpu { "+" } else { "" }
    }
}
