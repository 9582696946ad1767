//! The tokens of a text, with their lines.

use crate::error::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: letters, digits, `_`, and the dots and `::` of a mnemonic. It does not start with a
    /// digit.
    Word(String),
    /// A number.
    Number(i64),
    /// A quoted string, which may span several lines.
    Text(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    /// The token as shown in messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(_) => "a quoted text".to_owned(),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// Longer signs come before their prefixes.
const SIGNS: [&str; 23] = [
    "/\\", "\\/", "&&", "||", "==", "!=", "<=", ">=", "=", "<", ">", "~", "!", "(", ")", "{", "}",
    "[", "]", "|", ";", ",", ":",
];

/// Splits `text`, whose first line has the number `line`. `@` is a separate sign; `//` starts a
/// comment to the end of the line, and `(*` one to the next `*)`.
pub(super) fn tokens(text: &str, mut line: usize) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = line;
        let length = if first.is_whitespace() {
            line += usize::from(first == '\n');
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("(*") {
            let end = rest.find("*)").ok_or_else(|| unclosed(start, "a comment", "`*)`"))?;
            line += rest[..end].matches('\n').count();
            end + 2
        } else if first == '"' {
            let end =
                rest[1..].find('"').ok_or_else(|| unclosed(start, "a quoted text", "`\"`"))?;
            let inside = &rest[1..=end];
            line += inside.matches('\n').count();
            let words: Vec<&str> = inside.split_whitespace().collect();
            found.push((start, Token::Text(words.join(" "))));
            end + 2
        } else if first.is_ascii_digit() || first == '-' {
            let (number, length) = number(rest, line)?;
            found.push((start, Token::Number(number)));
            length
        } else if first.is_ascii_alphabetic() || matches!(first, '_' | '%' | '.') {
            let length = word(rest);
            found.push((start, Token::Word(rest[..length].to_owned())));
            length
        } else if first == '@' {
            found.push((start, Token::Sign("@")));
            1
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push((start, Token::Sign(sign)));
            sign.len()
        } else {
            return Err(error(line, format!("`{first}`"), "a word, a number or a sign"));
        };
        rest = &rest[length..];
    }
    found.push((line, Token::End));
    Ok(found)
}

fn word(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        match bytes[end] {
            b'_' | b'%' | b'.' => end += 1,
            byte if byte.is_ascii_alphanumeric() => end += 1,
            // `shared::cta` is one word, `LC00:` is a word and a sign.
            b':' if rest[end..].starts_with("::") => end += 2,
            _ => break,
        }
    }
    end
}

fn number(rest: &str, line: usize) -> Result<(i64, usize), ParseError> {
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let length = digits.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(digits.len());
    let digits = &digits[..length];
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let shown = &rest[..length + usize::from(rest.starts_with('-'))];
    match value {
        Ok(value) if shown.starts_with('-') => Ok((-value, shown.len())),
        Ok(value) => Ok((value, shown.len())),
        Err(_) => Err(error(line, format!("`{shown}`"), "a number")),
    }
}

fn unclosed(line: usize, what: &str, end: &str) -> ParseError {
    error(line, format!("{what} without its end"), end)
}

/// An error at a line.
pub(super) fn error(line: usize, found: impl Into<String>, expected: &str) -> ParseError {
    ParseError { line, found: found.into(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Token> {
        tokens(text, 1).unwrap().into_iter().map(|(_, token)| token).collect()
    }

    #[test]
    fn a_mnemonic_is_one_word_and_a_label_is_two_tokens() {
        let word = |text: &str| Token::Word(text.to_owned());
        assert_eq!(
            of("ld.weak.shared::cta r0 LC00:"),
            [word("ld.weak.shared::cta"), word("r0"), word("LC00"), Token::Sign(":"), Token::End]
        );
    }

    #[test]
    fn lines_are_counted_within_texts_and_comments() {
        let all = tokens("\"a\nb\" (* c\n*) x // y\nz", 5).unwrap();
        let lines: Vec<usize> = all.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [5, 7, 8, 8]);
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(of("-12 0x1f"), [Token::Number(-12), Token::Number(31), Token::End]);
        assert_eq!(
            tokens("\n12q", 1).unwrap_err().to_string(),
            "line 2: found `12q`, expected a number"
        );
    }
}
