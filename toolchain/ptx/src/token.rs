//! The tokens of a text.

/// A token. All but the last three are parts of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// An identifier, which may begin with `%`, `_` or `$`.
    Word(&'a str),
    /// A directive or modifier without its dot, such as `global`, `2d` and `shared::cta`.
    Dot(&'a str),
    /// A literal, not yet evaluated.
    Number(&'a str),
    /// The inside of a quoted string.
    Text(&'a str),
    /// A sign of one or two characters.
    Sign(&'a str),
    /// A character that begins no token.
    Unknown(&'a str),
    /// The beginning of a comment or string that does not end.
    Unclosed(&'static str),
    /// The end of the text.
    End,
}

/// Splits a text into tokens, one at a time.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    /// The next byte.
    at: usize,
    /// The line of that byte.
    line: u32,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) token: Token<'a>,
    /// Its first byte, and the byte after its last.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Its line, starting at 1.
    pub(crate) line: u32,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The next token. After the last one, and after one that is not closed, it is always the end.
    pub(crate) fn next(&mut self) -> Placed<'a> {
        let unclosed = self.skip();
        let (start, line) = (self.at, self.line);
        let (token, length) = match unclosed {
            Some(what) => (Token::Unclosed(what), self.text.len() - start),
            None => self.token(),
        };
        self.at += length;
        if matches!(token, Token::Text(_)) {
            self.count_lines(start);
        }
        Placed { token, start, end: self.at, line }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn count_lines(&mut self, start: usize) {
        let bytes = &self.text.as_bytes()[start..self.at];
        self.line += bytes.iter().filter(|&&byte| byte == b'\n').count() as u32;
    }

    /// Skips white space and comments. Returns what is not closed.
    fn skip(&mut self) -> Option<&'static str> {
        loop {
            match self.byte(self.at) {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.byte(self.at + 1) == b'/' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    self.at += end.unwrap_or(rest.len());
                }
                b'/' if self.byte(self.at + 1) == b'*' => {
                    let Some(end) = self.text[self.at + 2..].find("*/") else {
                        return Some("a comment without `*/`");
                    };
                    let start = self.at;
                    self.at += end + 4;
                    self.count_lines(start);
                }
                _ => return None,
            }
        }
    }

    /// The token that begins here, and its length in bytes.
    fn token(&self) -> (Token<'a>, usize) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return (Token::End, 0) };
        let follows = |at: usize| is_name(self.byte(self.at + at));
        match first {
            '0'..='9' => {
                let length = number(rest.as_bytes());
                (Token::Number(&rest[..length]), length)
            }
            '.' if follows(1) => {
                let length = 1 + modifier(&rest.as_bytes()[1..]);
                (Token::Dot(&rest[1..length]), length)
            }
            '%' if !follows(1) => (Token::Sign("%"), 1),
            'a'..='z' | 'A'..='Z' | '_' | '$' | '%' => {
                let length = 1 + name(&rest.as_bytes()[1..]);
                (Token::Word(&rest[..length]), length)
            }
            '"' => match rest[1..].find('"') {
                Some(end) => (Token::Text(&rest[1..=end]), end + 2),
                None => (Token::Unclosed("a string without its end"), rest.len()),
            },
            _ => {
                let pairs = ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];
                if pairs.iter().any(|pair| rest.starts_with(pair)) {
                    (Token::Sign(&rest[..2]), 2)
                } else if "{}()[]<>,;:@!|+-*/~&^?=".contains(first) {
                    (Token::Sign(&rest[..1]), 1)
                } else {
                    (Token::Unknown(&rest[..first.len_utf8()]), first.len_utf8())
                }
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// The number of bytes of a name at the beginning.
fn name(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !is_name(byte)).unwrap_or(bytes.len())
}

/// The same for a modifier, which may have parts separated by `::`.
fn modifier(bytes: &[u8]) -> usize {
    let mut end = name(bytes);
    while bytes[end..].starts_with(b"::") && bytes.get(end + 2).copied().is_some_and(is_name) {
        end += 2 + name(&bytes[end + 2..]);
    }
    end
}

/// The same for a literal. An `e` in a hexadecimal one is a digit.
fn number(bytes: &[u8]) -> usize {
    let mut end = name(bytes);
    if matches!(bytes, [b'0', b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B', ..]) {
        return end;
    }
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end += 1 + name(&bytes[end + 1..]);
    }
    let signed =
        matches!(bytes.get(end), Some(b'+' | b'-')) && matches!(bytes[end - 1], b'e' | b'E');
    if signed { end + 1 + name(&bytes[end + 1..]) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Token::{Dot, End, Number, Sign, Unclosed, Unknown, Word};

    fn of(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        let tokens = std::iter::from_fn(|| Some(lexer.next().token));
        tokens.take_while(|token| *token != End).collect()
    }

    #[test]
    fn a_modifier_may_have_colons_and_begin_with_a_digit() {
        assert_eq!(of("tex.2d"), [Word("tex"), Dot("2d")]);
        assert_eq!(of(".shared::cta .x::"), [Dot("shared::cta"), Dot("x"), Sign(":"), Sign(":")]);
        assert_eq!(of("L1: x"), [Word("L1"), Sign(":"), Word("x")]);
    }

    #[test]
    fn an_exponent_belongs_to_a_decimal_number_only() {
        assert_eq!(of("1.5e-3 2e+4"), [Number("1.5e-3"), Number("2e+4")]);
        assert_eq!(of("0x1e-3"), [Number("0x1e"), Sign("-"), Number("3")]);
        assert_eq!(of("0f3F80000e-1"), [Number("0f3F80000e"), Sign("-"), Number("1")]);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let mut lexer = Lexer::new("a /* \n */ b // c\n \"x\ny\" d");
        let lines: Vec<u32> = (0..5).map(|_| lexer.next().line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 4]);
    }

    #[test]
    fn what_is_not_closed_is_the_last_token() {
        assert_eq!(of("a /* b"), [Word("a"), Unclosed("a comment without `*/`")]);
        assert_eq!(of("\"b"), [Unclosed("a string without its end")]);
        assert_eq!(of("é#"), [Unknown("é"), Unknown("#")]);
    }
}
