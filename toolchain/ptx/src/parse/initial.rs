//! Initial values.

use super::Parser;
use super::names::Named;
use super::variable::MOST_BYTES;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::number::{Constant, Value};
use crate::token::Token;
use crate::variable::{Initial, InitialValue};

impl Parser<'_> {
    /// Parses the initial values of a variable.
    pub(super) fn initialise(
        &mut self,
        local: bool,
        index: usize,
        at: Position,
    ) -> Result<(), ParseError> {
        let list = if local { &self.code.body.variables } else { &self.module.variables };
        let variable = &list[index];
        let mut shape = variable.dimensions.clone();
        if variable.vector > 1 {
            shape.push(u64::from(variable.vector));
        }
        // How many elements a row of each level has, the whole variable first.
        let mut extents = vec![1_u64];
        for &length in shape.iter().rev() {
            extents.push(extents[extents.len() - 1] * length);
        }
        extents.reverse();
        let open = variable.size.is_none();
        if open {
            extents[0] = u64::MAX;
        }
        let mut initial = Vec::new();
        let mut elements = 1;
        if self.cursor.at("{") {
            if shape.is_empty() {
                extents.push(1);
            }
            elements = self.row(&extents, 0, &mut initial)?;
        } else if shape.is_empty() {
            self.element(0, &mut initial)?;
        } else {
            return Err(self.cursor.unexpected("`{`"));
        }
        let list = if local { &mut self.code.body.variables } else { &mut self.module.variables };
        let variable = &mut list[index];
        variable.initial = initial;
        if open {
            let row = extents[1].max(1);
            let rows = elements.div_ceil(row);
            let bytes = rows.saturating_mul(row).saturating_mul(u64::from(variable.ty.bytes()));
            (variable.dimensions[0], variable.size) = (rows, Some(bytes));
            if bytes > MOST_BYTES {
                return Err(self.too_large(at));
            }
        }
        Ok(())
    }

    /// Values in braces, of which the first is element `start`. Returns the element after the last.
    fn row(
        &mut self,
        extents: &[u64],
        start: u64,
        initial: &mut Vec<Initial>,
    ) -> Result<u64, ParseError> {
        let end = start.saturating_add(extents[0]);
        let mut next = start;
        self.cursor.enter()?;
        self.cursor.sign("{")?;
        while !self.cursor.take_sign("}") {
            let nested = self.cursor.at("{") && extents.len() > 2;
            let length = if nested { extents[1] } else { 1 };
            if length > end - next {
                let at = self.cursor.position();
                let found = "more values than elements";
                return Err(self.cursor.error(at, found, format!("at most {}", extents[0])));
            }
            if nested {
                self.row(&extents[1..], next, initial)?;
            } else {
                self.element(next, initial)?;
            }
            next += length;
            if !self.cursor.take_sign(",") {
                self.cursor.sign("}")?;
                break;
            }
        }
        self.cursor.leave();
        Ok(next)
    }

    /// The value of one element.
    fn element(&mut self, element: u64, initial: &mut Vec<Initial>) -> Result<(), ParseError> {
        let value = match self.cursor.peek() {
            Token::Word(name) if name != "WARP_SZ" => self.address(None)?,
            _ => match (self.expression()?, self.cursor.at("(")) {
                (Value::Integer { bits, .. }, true) => {
                    self.cursor.take();
                    let value = self.address(Some(bits))?;
                    self.cursor.sign(")")?;
                    value
                }
                (value, _) => InitialValue::Constant(value.into()),
            },
        };
        let zeros = [Constant::Integer(0), Constant::Single(0), Constant::Double(0)];
        if !zeros.map(InitialValue::Constant).contains(&value) {
            initial.push(Initial { element, value });
        }
        Ok(())
    }

    /// `name`, `name+4`, `generic(name)` or `generic(name)+4`.
    fn address(&mut self, mask: Option<u64>) -> Result<InitialValue, ParseError> {
        let mut at = self.cursor.position();
        let expected = "a declared variable or function";
        let mut name = self.cursor.word(expected)?;
        let generic = name == "generic" && self.cursor.take_sign("(");
        if generic {
            at = self.cursor.position();
            name = self.cursor.word(expected)?;
        }
        let Some(Named::Symbol(symbol)) = self.names.get(name) else {
            return Err(self.cursor.error(at, quoted(name), expected));
        };
        let mut offset = self.offset()?;
        if generic {
            self.cursor.sign(")")?;
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok(InitialValue::Address { symbol, offset, generic, mask })
    }

    /// `+4` or `-4` after a name, or nothing.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        if self.cursor.take_sign("+") || self.cursor.at("-") { self.integer() } else { Ok(0) }
    }
}
