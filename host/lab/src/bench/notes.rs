//! Notes below a table, which explain the marks in its rows.

use super::Warning;

/// The warnings of a table. Rows with the same warning share a note.
#[derive(Debug, Default)]
pub struct Notes(Vec<Warning>);

impl Notes {
    /// The marks of a row with these warnings, such as `[1][3]`.
    pub fn marks(&mut self, warnings: &[Warning]) -> String {
        let mark = |warning: &Warning| {
            let known = self.0.iter().position(|note| note == warning);
            let at = known.unwrap_or_else(|| {
                self.0.push(*warning);
                self.0.len() - 1
            });
            format!("[{}]", at + 1)
        };
        warnings.iter().map(mark).collect()
    }

    /// The notes, one per line.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        (1..).zip(&self.0).map(|(number, note)| format!("[{number}] {note}"))
    }

    /// Whether a row has this warning.
    #[must_use]
    pub fn contains(&self, warning: &Warning) -> bool {
        self.0.contains(warning)
    }
}
