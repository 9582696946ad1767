//! The statements of a function.

use std::collections::HashMap;
use std::sync::Arc;

use super::Parser;
use super::names::Named;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::function::{Body, Target};
use crate::instruction::{Guard, Instruction, Mnemonic};
use crate::operand::{Label, Symbol};
use crate::token::Token;
use crate::variable::{Linkage, Space};

/// The code of a function that is being parsed.
#[derive(Default)]
pub(super) struct Code<'a> {
    pub(super) body: Body,
    /// Its index in the module.
    pub(super) function: usize,
    /// The pragmas of its statements.
    pub(super) pragmas: Vec<Box<str>>,
    /// The place in the source of the next instruction.
    pub(super) location: Option<u32>,
    /// The latest location at each file, line and column.
    pub(super) places: HashMap<[u32; 3], u32>,
    /// The blocks that are open, the innermost last. Blocks are numbered as they begin.
    open: Vec<usize>,
    /// The block around each block. The body is block 0, and stands for its own.
    around: Vec<usize>,
    /// The labels by block and name, with the index of the instruction after each.
    defined: HashMap<(usize, &'a str), usize>,
    /// The labels of the body by block and name, and where each is first mentioned.
    mentioned: HashMap<(usize, &'a str), Label>,
    mentions: Vec<(usize, &'a str, Position)>,
}

impl Code<'_> {
    /// The code of the function with this index.
    pub(super) fn of(function: usize) -> Self {
        Self { function, ..Self::default() }
    }

    fn block(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }
}

impl<'a> Parser<'a> {
    /// The body of a function in braces.
    pub(super) fn body(&mut self) -> Result<Code<'a>, ParseError> {
        self.cursor.sign("{")?;
        self.enter_block()?;
        while !self.code.open.is_empty() {
            self.statement()?;
        }
        self.place_labels()?;
        Ok(std::mem::take(&mut self.code))
    }

    fn statement(&mut self) -> Result<(), ParseError> {
        let at = self.cursor.position();
        match self.cursor.peek() {
            Token::Sign("{") => {
                self.cursor.take();
                self.enter_block()
            }
            Token::Sign("}") => {
                self.cursor.take();
                self.leave_block();
                Ok(())
            }
            Token::Sign(";") => {
                self.cursor.take();
                Ok(())
            }
            Token::Sign("@") => {
                let guard = Some(self.guard()?);
                let opcode_at = self.cursor.position();
                let opcode = self.cursor.word("an instruction")?;
                self.instruction(guard, opcode, opcode_at, at)
            }
            Token::Dot(word) => self.directive(word),
            Token::Word(word) => {
                self.cursor.take();
                if self.cursor.take_sign(":") {
                    self.label(word, at)
                } else {
                    self.instruction(None, word, at, at)
                }
            }
            _ => Err(self.cursor.unexpected("an instruction, a label, a directive or `}`")),
        }
    }

    fn enter_block(&mut self) -> Result<(), ParseError> {
        self.cursor.enter()?;
        self.names.enter();
        let block = self.code.around.len();
        self.code.around.push(self.code.block());
        self.code.open.push(block);
        Ok(())
    }

    fn leave_block(&mut self) {
        self.code.open.pop();
        self.names.leave();
        self.cursor.leave();
    }

    /// A declaration, or another directive.
    fn directive(&mut self, word: &str) -> Result<(), ParseError> {
        if word == "reg" {
            self.registers()
        } else if Space::named(word).is_some() {
            self.variables(Linkage::default(), true)
        } else if self.cursor.take_dot("loc") {
            self.location()
        } else if self.cursor.take_dot("pragma") {
            let pragmas = self.pragma()?;
            self.code.pragmas.extend(pragmas);
            Ok(())
        } else {
            Err(self.cursor.unexpected("an instruction, a label, a directive or `}`"))
        }
    }

    /// `@p` or `@!p`
    fn guard(&mut self) -> Result<Guard, ParseError> {
        self.cursor.take();
        let negated = self.cursor.take_sign("!");
        Ok(Guard { register: self.register()?, negated })
    }

    /// A label, or the table that it names.
    fn label(&mut self, name: &'a str, at: Position) -> Result<(), ParseError> {
        if self.cursor.take_dot("branchtargets") {
            let mut list = Vec::new();
            self.list(|parser| {
                let at = parser.cursor.position();
                let name = parser.cursor.word("a label")?;
                list.push(parser.mention(name, at));
                Ok(())
            })?;
            let index = self.code.body.targets.len() as u32;
            self.code.body.targets.push(list);
            self.declare(name, Named::Targets(index), at)
        } else if self.cursor.take_dot("calltargets") {
            let mut list = Vec::new();
            self.list(|parser| {
                list.push(Symbol::Function(parser.declared_function()?));
                Ok(())
            })?;
            let index = self.code.body.callees.len() as u32;
            self.code.body.callees.push(list);
            self.declare(name, Named::Callees(index), at)
        } else if self.cursor.take_dot("callprototype") {
            let prototype = self.prototype()?;
            let index = self.code.body.prototypes.len() as u32;
            self.code.body.prototypes.push(prototype);
            self.declare(name, Named::Prototype(index), at)
        } else {
            let key = (self.code.block(), name);
            if self.code.defined.insert(key, self.code.body.instructions.len()).is_none() {
                return Ok(());
            }
            let found = format!("{} again", quoted(name));
            Err(self.cursor.error(at, found, "a label that is not in this block yet"))
        }
    }

    /// Items with commas between them, and a semicolon.
    fn list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        item(self)?;
        while self.cursor.take_sign(",") {
            item(self)?;
        }
        self.cursor.sign(";")
    }

    /// A label that may come later.
    pub(super) fn mention(&mut self, name: &'a str, at: Position) -> Label {
        let code = &mut self.code;
        let next = Label(code.mentions.len() as u32);
        let key = (code.block(), name);
        let label = *code.mentioned.entry(key).or_insert(next);
        if label == next {
            code.mentions.push((key.0, name, at));
        }
        label
    }

    /// Finds the labels that were mentioned, each in the innermost block that has it.
    fn place_labels(&mut self) -> Result<(), ParseError> {
        for &(block, name, at) in &self.code.mentions {
            let mut block = block;
            let place = loop {
                match self.code.defined.get(&(block, name)) {
                    None if block == 0 => break None,
                    None => block = self.code.around[block],
                    found => break found,
                }
            };
            let Some(&place) = place else {
                return Err(self.cursor.error(at, quoted(name), "a declared name or a label"));
            };
            self.code.body.labels.push(Target { name: name.into(), at: place });
        }
        Ok(())
    }

    /// The modifiers and operands after an opcode. `at` is the position of the opcode, `start` that
    /// of the guard.
    fn instruction(
        &mut self,
        guard: Option<Guard>,
        opcode: &'a str,
        at: Position,
        start: Position,
    ) -> Result<(), ParseError> {
        let mnemonic = self.mnemonic(opcode, at);
        let mut operands = std::mem::take(&mut self.operands);
        let mut more = !self.cursor.at(";");
        while more {
            operands.push(self.operand(opcode == "call")?);
            more = self.cursor.take_sign(",");
        }
        let bytes = self.cursor.since(start).len();
        if !self.cursor.take_sign(";") {
            return Err(self.cursor.unexpected("`,` or `;`"));
        }
        let span = [start.start, start.start + bytes].map(|at| at as u32);
        let location = self.code.location;
        let own = operands.drain(..).collect();
        let instruction = Instruction::new(guard, mnemonic, own, start.line, location, span);
        self.code.body.instructions.push(instruction);
        self.operands = operands;
        Ok(())
    }

    /// The mnemonic of an opcode, which has been consumed, and its modifiers.
    fn mnemonic(&mut self, opcode: &'a str, at: Position) -> Arc<Mnemonic> {
        self.modifiers.clear();
        while let Token::Dot(modifier) = self.cursor.peek() {
            self.cursor.take();
            self.modifiers.push(modifier);
        }
        let text = self.cursor.since(at);
        let new = || Arc::new(Mnemonic::new(opcode, &self.modifiers));
        Arc::clone(self.mnemonics.entry(text).or_insert_with(new))
    }
}
