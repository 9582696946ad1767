//! A position among the tokens.

use super::token::{Token, error};
use crate::error::ParseError;
use crate::instruction::{Operand, Register};

/// Reads tokens in sequence.
pub(super) struct Cursor {
    tokens: Vec<(usize, Token)>,
    next: usize,
}

impl Cursor {
    /// At the first token. The last one must be [`Token::End`].
    pub(super) fn new(tokens: Vec<(usize, Token)>) -> Self {
        Self { tokens, next: 0 }
    }

    /// The line of the next token.
    pub(super) fn line(&self) -> usize {
        self.tokens[self.next].0
    }

    /// The next token, without consuming it.
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    /// The token after the next one.
    pub(super) fn peek_second(&self) -> &Token {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].1
    }

    /// Consumes the next token, except at the end.
    pub(super) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// Consumes the next token if it is this sign.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Token::Sign(next) if *next == sign);
        if is {
            self.take();
        }
        is
    }

    /// Consumes the next token if it is this word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(next) if next == word);
        if is {
            self.take();
        }
        is
    }

    /// An error about the next token.
    pub(super) fn unexpected(&self, expected: &str) -> ParseError {
        error(self.line(), self.peek().shown(), expected)
    }

    pub(super) fn sign(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn exact_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// A name defined by the test.
    pub(super) fn name(&mut self, expected: &str) -> Result<String, ParseError> {
        match self.peek() {
            Token::Word(word) if !word.contains(['.', ':', '%']) => {
                let word = word.clone();
                self.take();
                Ok(word)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A word of 32 bits, signed or unsigned.
    pub(super) fn constant(&mut self) -> Result<i32, ParseError> {
        let Token::Number(number) = *self.peek() else { return Err(self.unexpected("a number")) };
        let word = i32::try_from(number)
            .or_else(|_| u32::try_from(number).map(u32::cast_signed))
            .map_err(|_| self.unexpected("a number of 32 bits"))?;
        self.take();
        Ok(word)
    }

    /// A non-negative number.
    pub(super) fn index(&mut self, expected: &str) -> Result<u32, ParseError> {
        match *self.peek() {
            Token::Number(number) if u32::try_from(number).is_ok() => {
                self.take();
                Ok(u32::try_from(number).expect("checked above"))
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn register(&mut self) -> Result<Register, ParseError> {
        let expected = "a register (r0, r1, …)";
        let Token::Word(word) = self.peek() else { return Err(self.unexpected(expected)) };
        let register = as_register(word).ok_or_else(|| self.unexpected(expected))?;
        self.take();
        Ok(register)
    }

    pub(super) fn operand(&mut self) -> Result<Operand, ParseError> {
        match self.peek() {
            Token::Number(_) => self.constant().map(Operand::Constant),
            Token::Word(word) if as_register(word).is_some() => {
                self.register().map(Operand::Register)
            }
            _ => Err(self.unexpected("a register or a number")),
        }
    }
}

/// The register with this name: `r` and a number, with or without `%`.
pub(super) fn as_register(word: &str) -> Option<Register> {
    let digits = word.strip_prefix('%').unwrap_or(word).strip_prefix('r')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().map(Register)
}

/// The thread with this name: `P` and a number.
pub(super) fn as_thread(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('P')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
