//! Errors.

/// A text that is not a PTX module. The message is one line and does not name the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line of the text, starting at 1.
    pub line: u32,
    /// The byte of the line, starting at 1.
    pub column: u32,
    /// The text found there.
    pub found: String,
    /// The text expected there.
    pub expected: String,
}

/// The number of bytes of the text that a message quotes.
const QUOTED: usize = 40;

/// A part of the text as messages show it: on one line, and not too long.
pub(crate) fn quoted(text: &str) -> String {
    let end = (0..=QUOTED.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    let shown = text[..end.unwrap_or(0)].escape_debug();
    if text.len() > QUOTED { format!("`{shown}…`") } else { format!("`{shown}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"é".repeat(100)), format!("`{}…`", "é".repeat(20)));
    }
}
