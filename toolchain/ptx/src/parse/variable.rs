//! Declarations of variables and registers.

use super::Parser;
use super::names::Named;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::operand::Symbol;
use crate::token::Token;
use crate::variable::{Linkage, Pointer, Space, Type, Variable};

/// A variable may have this many bytes.
pub(super) const MOST_BYTES: u64 = 1 << 40;

/// The directives before a declared name, in any order.
pub(super) struct Specifiers {
    pub(super) space: Space,
    pub(super) pointer: Option<Pointer>,
    align: Option<u32>,
    pub(super) ty: Type,
    pub(super) vector: u32,
    managed: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn specifiers(&mut self) -> Result<Specifiers, ParseError> {
        let (mut space, mut ty, mut align, mut pointer) = (None, None, None, None::<Pointer>);
        let (mut vector, mut managed) = (1, false);
        while let Token::Dot(word) = self.cursor.peek() {
            let at = self.cursor.position();
            self.cursor.take();
            match word {
                "align" => {
                    let number_at = self.cursor.position();
                    let bytes = self.count()?;
                    if !bytes.is_power_of_two() {
                        let error =
                            self.cursor.error(number_at, bytes.to_string(), "a power of two");
                        return Err(error);
                    }
                    match &mut pointer {
                        Some(pointer) => pointer.align = bytes,
                        None => align = Some(bytes),
                    }
                }
                "ptr" => pointer = Some(Pointer { space: None, align: 4 }),
                "attribute" => managed |= self.attribute()?,
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                _ => match (Space::named(word), Type::named(word)) {
                    (None, None) => {
                        let expected = "a state space, an alignment or a type";
                        return Err(self.cursor.error(at, quoted(self.cursor.since(at)), expected));
                    }
                    (named, None) => match &mut pointer {
                        Some(pointer) => pointer.space = named,
                        None => space = named,
                    },
                    (_, named) => ty = named,
                },
            }
        }
        let Some(space) = space else { return Err(self.cursor.unexpected("a state space")) };
        let Some(ty) = ty else { return Err(self.cursor.unexpected("a type")) };
        Ok(Specifiers { space, pointer, align, ty, vector, managed })
    }

    /// The attributes in parentheses after `.attribute`. Returns whether it has `.managed`.
    pub(super) fn attribute(&mut self) -> Result<bool, ParseError> {
        self.cursor.sign("(")?;
        let mut managed = false;
        while !self.cursor.take_sign(")") {
            match self.cursor.peek() {
                Token::Dot(word) => managed |= word == "managed",
                Token::Number(_) | Token::Sign("," | "(") => {}
                _ => return Err(self.cursor.unexpected("an attribute or `)`")),
            }
            // `.unified(a, b)`
            if self.cursor.take() == Token::Sign("(") {
                while !self.cursor.take_sign(")") {
                    self.count()?;
                    self.cursor.take_sign(",");
                }
            }
        }
        Ok(managed)
    }

    /// The dimensions after a name, and the variable.
    pub(super) fn variable(
        &mut self,
        name: &str,
        linkage: Linkage,
        specifiers: &Specifiers,
        at: Position,
    ) -> Result<Variable, ParseError> {
        let &Specifiers { space, align, ty, vector, managed, .. } = specifiers;
        if ty == Type::Pred && space != Space::Register {
            return Err(self.cursor.error(at, "a predicate in memory", "a type that has bytes"));
        }
        let element = u64::from(ty.bytes()) * u64::from(vector);
        let (mut dimensions, mut size, mut bytes) = (Vec::new(), Some(element), element);
        while self.cursor.take_sign("[") {
            let length_at = self.cursor.position();
            if dimensions.is_empty() && self.cursor.at("]") {
                dimensions.push(0);
                size = None;
            } else {
                let length = self.integer()?;
                let length = u64::try_from(length).map_err(|_| {
                    self.cursor.error(length_at, length.to_string(), "a length of at least 0")
                })?;
                dimensions.push(length);
                // Empty dimensions do not count: the product of some of the lengths must not overflow.
                bytes = bytes.max(1).saturating_mul(length.max(1));
                size = size.map(|size| size.saturating_mul(length));
            }
            if bytes > MOST_BYTES {
                return Err(self.too_large(at));
            }
            self.cursor.sign("]")?;
        }
        Ok(Variable {
            name: name.into(),
            linkage,
            space,
            align: align.unwrap_or_else(|| (ty.bytes() * vector).max(1)),
            ty,
            vector,
            dimensions,
            size,
            initial: Vec::new(),
            managed,
            line: at.line,
        })
    }

    /// The error about the variable at this position.
    pub(super) fn too_large(&self, at: Position) -> ParseError {
        self.cursor.error(at, "a variable of more than 2^40 bytes", "at most 2^40 bytes")
    }

    /// A declaration of variables, of the function or of the module.
    pub(super) fn variables(&mut self, linkage: Linkage, local: bool) -> Result<(), ParseError> {
        let specifiers = self.specifiers()?;
        loop {
            let at = self.cursor.position();
            let name = self.cursor.word("the name of a variable")?;
            let variable = self.variable(name, linkage, &specifiers, at)?;
            let index = if local {
                self.local(name, variable, at)?
            } else {
                self.global(name, variable, at)?
            };
            // The name is declared already, since a value may be the address of the variable.
            if self.cursor.take_sign("=") {
                self.initialise(local, index, at)?;
            }
            if !self.cursor.take_sign(",") {
                return self.cursor.sign(";");
            }
        }
    }

    fn local(
        &mut self,
        name: &'a str,
        variable: Variable,
        at: Position,
    ) -> Result<usize, ParseError> {
        let index = self.code.body.variables.len();
        self.declare(name, Named::Symbol(Symbol::Local(index as u32)), at)?;
        self.code.body.variables.push(variable);
        Ok(index)
    }

    /// The definition of a variable may come before or after declarations of it.
    fn global(
        &mut self,
        name: &'a str,
        variable: Variable,
        at: Position,
    ) -> Result<usize, ParseError> {
        let index = self.module.variables.len();
        if let Some(Named::Symbol(Symbol::Global(known))) = self.names.get(name) {
            let index = known as usize;
            let before = &mut self.module.variables[index];
            if variable.linkage == Linkage::Extern {
                return Ok(index);
            } else if matches!(before.linkage, Linkage::Extern | Linkage::Common) {
                *before = variable;
                return Ok(index);
            }
        }
        self.declare(name, Named::Symbol(Symbol::Global(index as u32)), at)?;
        self.module.variables.push(variable);
        Ok(index)
    }
}
