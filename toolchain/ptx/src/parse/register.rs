//! Declarations of registers.

use super::Parser;
use super::names::Named;
use super::variable::Specifiers;
use crate::cursor::Position;
use crate::error::ParseError;
use crate::token::Token;
use crate::variable::Type;

/// A function may have this many registers.
const MOST_REGISTERS: u32 = 1 << 20;

impl<'a> Parser<'a> {
    /// A declaration of registers.
    pub(super) fn registers(&mut self) -> Result<(), ParseError> {
        let Specifiers { ty, vector, .. } = self.specifiers()?;
        loop {
            let at = self.cursor.position();
            let name = self.cursor.word("the name of a register")?;
            let family = self.cursor.take_sign("<");
            let count = if family { Some(self.register_count()?) } else { None };
            self.declare_registers(name, count, ty, vector, at)?;
            if !self.cursor.take_sign(",") {
                return self.cursor.sign(";");
            }
        }
    }

    /// `10>`
    fn register_count(&mut self) -> Result<u32, ParseError> {
        let Token::Number(text) = self.cursor.peek() else {
            return Err(self.cursor.unexpected("a number of registers"));
        };
        let count = text.parse().map_err(|_| {
            self.cursor.unexpected(format!("at most {MOST_REGISTERS} registers in a function"))
        })?;
        self.cursor.take();
        self.cursor.sign(">")?;
        Ok(count)
    }

    pub(super) fn declare_registers(
        &mut self,
        name: &'a str,
        count: Option<u32>,
        ty: Type,
        vector: u32,
        at: Position,
    ) -> Result<(), ParseError> {
        let more = count.unwrap_or(1);
        let all = u64::from(self.code.body.registers.count()) + u64::from(more);
        if all > u64::from(MOST_REGISTERS) {
            let expected = format!("at most {MOST_REGISTERS} registers in a function");
            return Err(self.cursor.error(at, format!("{all} registers"), expected));
        }
        let first = self.code.body.registers.add(name, count, ty, vector);
        match count {
            None => self.declare(name, Named::Register(first), at),
            Some(_) if self.names.declare_family(name, first, more) => Ok(()),
            Some(_) => Err(self.declared_twice(name, at)),
        }
    }
}
