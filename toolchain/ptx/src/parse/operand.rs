//! Operands.

use super::Parser;
use super::names::Named;
use crate::error::{ParseError, quoted};
use crate::number::Constant;
use crate::operand::{Address, Base, Operand, Part, Register, Special};
use crate::token::Token;

impl Parser<'_> {
    /// An operand. In a call, parentheses are a list of arguments.
    pub(super) fn operand(&mut self, in_call: bool) -> Result<Operand, ParseError> {
        match self.cursor.peek() {
            Token::Sign("(") if in_call => Ok(Operand::List(self.operands_until(")")?)),
            Token::Sign("[") => self.memory(),
            Token::Sign("{") => Ok(Operand::Vector(self.operands_until("}")?)),
            Token::Sign("!") => {
                self.cursor.take();
                Ok(Operand::Not(self.register()?))
            }
            Token::Word(word) if word != "WARP_SZ" => {
                let first = self.named()?;
                if !self.cursor.take_sign("|") {
                    return Ok(first);
                }
                Ok(Operand::Pair(Box::new([first, self.named()?])))
            }
            Token::Word(_) | Token::Number(_) | Token::Sign("-" | "+" | "~" | "(") => {
                Ok(match Constant::from(self.expression()?) {
                    Constant::Integer(value) => Operand::Integer(value),
                    Constant::Single(bits) => Operand::Single(bits),
                    Constant::Double(bits) => Operand::Double(bits),
                })
            }
            _ => Err(self.cursor.unexpected("an operand")),
        }
    }

    /// Operands between two signs, of which the first comes next.
    fn operands_until(&mut self, end: &str) -> Result<Box<[Operand]>, ParseError> {
        self.cursor.enter()?;
        self.cursor.take();
        let mut operands = Vec::new();
        while !self.cursor.take_sign(end) {
            operands.push(self.operand(false)?);
            if !self.cursor.take_sign(",") {
                self.cursor.sign(end)?;
                break;
            }
        }
        self.cursor.leave();
        Ok(operands.into())
    }

    /// An operand that begins with a name.
    fn named(&mut self) -> Result<Operand, ParseError> {
        let at = self.cursor.position();
        let name = self.cursor.word("a register or another name")?;
        match self.names.get(name) {
            _ if name == "_" => Ok(Operand::Sink),
            Some(Named::Register(register)) => match self.part()? {
                Some(part) => Ok(Operand::Part(register, part)),
                None => Ok(Operand::Register(register)),
            },
            Some(Named::Symbol(symbol)) if self.cursor.take_sign("[") => {
                let address = Address { base: Base::Symbol(symbol), offset: self.integer()? };
                self.cursor.sign("]")?;
                Ok(Operand::Memory(address))
            }
            Some(Named::Symbol(symbol)) => Ok(Operand::Symbol(symbol, self.offset()?)),
            Some(Named::Targets(index)) => Ok(Operand::Targets(index)),
            Some(Named::Callees(index)) => Ok(Operand::Callees(index)),
            Some(Named::Prototype(index)) => Ok(Operand::Prototype(index)),
            None if name.starts_with('%') => {
                let Some(mut special) = Special::named(name) else {
                    let expected = "a declared register or a special register";
                    return Err(self.cursor.error(at, quoted(name), expected));
                };
                special.element = match self.part()? {
                    None => None,
                    Some(Part::Element(element)) => Some(element),
                    Some(_) => return Err(self.cursor.error(at, quoted(name), "its element (.x)")),
                };
                Ok(Operand::Special(special))
            }
            None => Ok(Operand::Label(self.mention(name, at))),
        }
    }

    /// The part of a register, if a dot follows.
    fn part(&mut self) -> Result<Option<Part>, ParseError> {
        let Token::Dot(name) = self.cursor.peek() else { return Ok(None) };
        let Some(part) = Part::named(name) else {
            return Err(self.cursor.unexpected("a part of a register (.x, .b0, .h1)"));
        };
        self.cursor.take();
        Ok(Some(part))
    }

    /// A declared register.
    pub(super) fn register(&mut self) -> Result<Register, ParseError> {
        let expected = "a declared register";
        let at = self.cursor.position();
        let name = self.cursor.word(expected)?;
        match self.names.get(name) {
            Some(Named::Register(register)) => Ok(register),
            _ => Err(self.cursor.error(at, quoted(name), expected)),
        }
    }

    /// An address in brackets, possibly with more operands after it.
    fn memory(&mut self) -> Result<Operand, ParseError> {
        self.cursor.enter()?;
        self.cursor.take();
        let first = Operand::Memory(self.address_of_memory()?);
        let operand = if self.cursor.at(",") {
            let mut all = vec![first];
            while self.cursor.take_sign(",") {
                all.push(self.operand(false)?);
            }
            Operand::Tensor(all.into())
        } else {
            first
        };
        self.cursor.sign("]")?;
        self.cursor.leave();
        Ok(operand)
    }

    /// A register, name or number, and an offset.
    fn address_of_memory(&mut self) -> Result<Address, ParseError> {
        let at = self.cursor.position();
        let base = match self.cursor.peek() {
            Token::Word(name) if name != "WARP_SZ" => {
                self.cursor.take();
                match self.names.get(name) {
                    Some(Named::Register(register)) => Base::Register(register),
                    Some(Named::Symbol(symbol)) => Base::Symbol(symbol),
                    _ => {
                        let expected = "a declared register or variable";
                        return Err(self.cursor.error(at, quoted(name), expected));
                    }
                }
            }
            _ => return Ok(Address { base: Base::Zero, offset: self.integer()? }),
        };
        Ok(Address { base, offset: self.offset()? })
    }
}
