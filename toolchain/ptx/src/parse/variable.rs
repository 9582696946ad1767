//! Declarations of variables and registers.

use super::Parser;
use super::names::Named;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::number::{Constant, Value};
use crate::operand::Symbol;
use crate::token::Token;
use crate::variable::{Initial, InitialValue, Linkage, Pointer, Space, Type, Variable};

/// A variable may have this many bytes.
const MOST_BYTES: u64 = 1 << 40;

/// A function may have this many registers.
const MOST_REGISTERS: u32 = 1 << 20;

/// The directives before a declared name, in any order.
pub(super) struct Specifiers {
    pub(super) space: Space,
    pub(super) pointer: Option<Pointer>,
    align: Option<u32>,
    ty: Type,
    vector: u32,
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

    /// What is in parentheses after `.attribute`. Returns whether it has `.managed`.
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
        let element = u64::from(ty.bytes()) * u64::from(vector);
        let (mut dimensions, mut size) = (Vec::new(), Some(element));
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
                size = size.map(|size| size.saturating_mul(length));
            }
            // The size of an element of an open array counts too.
            let bytes = dimensions.iter().filter(|&&length| length > 0);
            let bytes = bytes.fold(element, |bytes, &length| bytes.saturating_mul(length));
            if bytes > MOST_BYTES {
                let found = format!("{} of more than 2^40 bytes", quoted(name));
                return Err(self.cursor.error(at, found, "at most 2^40 bytes"));
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
            // The name is declared already: a value may be the address of its own variable.
            if self.cursor.take_sign("=") {
                self.initialise(local, index)?;
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

    /// Parses the initial values of a variable.
    fn initialise(&mut self, local: bool, index: usize) -> Result<(), ParseError> {
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
            variable.dimensions[0] = elements.div_ceil(row);
            variable.size = Some(variable.dimensions[0] * row * u64::from(variable.ty.bytes()));
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
            Some(_) => {
                let found = format!("{} again", quoted(name));
                Err(self.cursor.error(at, found, "a name that is not declared yet"))
            }
        }
    }
}
