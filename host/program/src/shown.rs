//! Names and foreign text as they are printed: a newline or an escape sequence in one changes neither the
//! lines of a message nor the terminal.

use std::borrow::Cow;
use std::path::Path;

/// `text` with its control characters as Rust writes them, `\n` or `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Like [`escaped`], for text of several lines: its newlines and tabs stay.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// The path, [escaped]; `''` if it is empty.
pub fn path(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return "''".to_owned();
    }
    escaped(&path.to_string_lossy()).into_owned()
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_unsafe = |c: char| (c.is_control() || is_direction(c)) && !stays(c);
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Characters that change the direction of the text around them.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_text_is_as_it_was() {
        assert_eq!(escaped("a\nb\t\u{1b}[31mc\u{202e}"), r"a\nb\t\u{1b}[31mc\u{202e}");
        assert_eq!(escaped("naïve 数.npy \\n"), "naïve 数.npy \\n");
        assert_eq!(escaped_lines("a\n\tb\r"), "a\n\tb\\r");
        assert_eq!(path(Path::new("")), "''");
    }
}
