//! A position among the tokens.

use crate::error::{ParseError, quoted};
use crate::token::{Lexer, Placed, Token};

/// Braces, brackets and parentheses may be nested this deeply.
pub(crate) const DEPTH: usize = 64;

/// Reads tokens in sequence.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    next: Placed<'a>,
    /// The byte after the last token that was taken.
    end: usize,
    depth: usize,
}

/// A position to which a later error can refer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) start: usize,
    pub(crate) line: u32,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let next = lexer.next();
        Self { text, lexer, next, end: 0, depth: 0 }
    }

    /// The next token, without consuming it.
    pub(crate) fn peek(&self) -> Token<'a> {
        self.next.token
    }

    /// The position of the next token.
    pub(crate) fn position(&self) -> Position {
        Position { start: self.next.start, line: self.next.line }
    }

    /// Consumes the next token.
    pub(crate) fn take(&mut self) -> Token<'a> {
        let token = self.next.token;
        self.end = self.next.end;
        self.next = self.lexer.next();
        token
    }

    /// The text from a position to the end of the last token that was taken.
    pub(crate) fn since(&self, from: Position) -> &'a str {
        &self.text[from.start..self.end.max(from.start)]
    }

    /// Whether the next token is this sign.
    #[inline]
    pub(crate) fn at(&self, sign: &str) -> bool {
        matches!(self.next.token, Token::Sign(next) if next == sign)
    }

    /// Consumes the next token if it is this sign.
    #[inline]
    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let is = self.at(sign);
        if is {
            self.take();
        }
        is
    }

    /// Consumes the next token if it is this directive or modifier.
    #[inline]
    pub(crate) fn take_dot(&mut self, word: &str) -> bool {
        let is = matches!(self.next.token, Token::Dot(next) if next == word);
        if is {
            self.take();
        }
        is
    }

    pub(crate) fn sign(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(format!("`{sign}`"))) }
    }

    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        let Token::Word(word) = self.peek() else { return Err(self.unexpected(expected)) };
        self.take();
        Ok(word)
    }

    pub(crate) fn string(&mut self) -> Result<&'a str, ParseError> {
        let Token::Text(text) = self.peek() else { return Err(self.unexpected("a string")) };
        self.take();
        Ok(text)
    }

    /// Enters a brace, bracket or parenthesis. [`leave`](Self::leave) leaves it.
    pub(crate) fn enter(&mut self) -> Result<(), ParseError> {
        if self.depth == DEPTH {
            let expected = format!("at most {DEPTH} levels of braces, brackets and parentheses");
            return Err(self.error(self.position(), format!("level {}", DEPTH + 1), expected));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// An error about the next token.
    pub(crate) fn unexpected(&self, expected: impl Into<String>) -> ParseError {
        let found = match self.next.token {
            Token::End => "the end of the text".to_owned(),
            Token::Unclosed(what) => what.to_owned(),
            _ => quoted(&self.text[self.next.start..self.next.end]),
        };
        self.error(self.position(), found, expected)
    }

    /// An error at a position.
    pub(crate) fn error(
        &self,
        at: Position,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ParseError {
        let line_start = self.text[..at.start].rfind('\n').map_or(0, |end| end + 1);
        ParseError {
            line: at.line,
            column: u32::try_from(at.start - line_start + 1).unwrap_or(u32::MAX),
            found: found.into(),
            expected: expected.into(),
        }
    }
}
