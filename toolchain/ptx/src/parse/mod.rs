//! Parses the text of a module.

mod body;
mod debug;
mod expression;
mod function;
mod initial;
mod names;
mod operand;
mod register;
mod variable;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::body::Code;
use self::debug::LineNames;
use self::names::{Named, Names};
use crate::cursor::{Cursor, Position};
use crate::error::{ParseError, quoted};
use crate::instruction::Mnemonic;
use crate::module::Module;
use crate::operand::{Operand, Symbol};
use crate::token::Token;
use crate::variable::{Linkage, Space};

/// Parses a PTX module.
///
/// Instructions and modifiers need not be known: see [`Instruction`](crate::Instruction). Memory
/// and time are proportional to the length of the text.
///
/// # Errors
/// Returns the first error in the text, with its line and column: a wrong syntax, a name that is
/// not declared or declared twice, a number that does not fit, or one of these bounds: 4 GiB of
/// text, 2^20 registers in a function, 2^40 bytes in a variable, 64 levels of braces, brackets and
/// parentheses.
pub fn parse(ptx: &str) -> Result<Module, ParseError> {
    let mut parser = Parser::new(ptx);
    if u32::try_from(ptx.len()).is_err() {
        let found = format!("{} bytes", ptx.len());
        return Err(parser.cursor.error(parser.cursor.position(), found, "less than 2^32 bytes"));
    }
    parser.header()?;
    while parser.cursor.peek() != Token::End {
        parser.declaration()?;
    }
    parser.name_inlined_functions();
    Ok(parser.module)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    names: Names<'a>,
    module: Module,
    /// The mnemonics so far, by their text.
    mnemonics: HashMap<&'a str, Arc<Mnemonic>>,
    /// The function that is being parsed.
    code: Code<'a>,
    names_of_lines: LineNames<'a>,
    /// The operands and modifiers of the instruction that is being parsed. Kept for their memory.
    operands: Vec<Operand>,
    modifiers: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(ptx: &'a str) -> Self {
        let module = Module {
            text: ptx.into(),
            version: (0, 0),
            targets: Vec::new(),
            address_size: 32,
            files: BTreeMap::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            aliases: Vec::new(),
            pragmas: Vec::new(),
            strings: Vec::new(),
        };
        Self {
            cursor: Cursor::new(ptx),
            names: Names::default(),
            module,
            mnemonics: HashMap::new(),
            code: Code::default(),
            names_of_lines: LineNames::default(),
            operands: Vec::new(),
            modifiers: Vec::new(),
        }
    }

    /// `.version`, `.target` and `.address_size`.
    fn header(&mut self) -> Result<(), ParseError> {
        if !self.cursor.take_dot("version") {
            return Err(self.cursor.unexpected("`.version`"));
        }
        let version = match self.cursor.peek() {
            Token::Number(text) => text.split_once('.'),
            _ => None,
        };
        let numbers =
            version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.module.version = numbers.ok_or_else(|| self.cursor.unexpected("a version (8.0)"))?;
        self.cursor.take();
        if !self.cursor.take_dot("target") {
            return Err(self.cursor.unexpected("`.target`"));
        }
        loop {
            let target = self.cursor.word("a target (sm_90)")?;
            self.module.targets.push(target.into());
            if !self.cursor.take_sign(",") {
                break;
            }
        }
        if self.cursor.take_dot("address_size") {
            let at = self.cursor.position();
            self.module.address_size = self.count()?;
            if ![32, 64].contains(&self.module.address_size) {
                let found = self.module.address_size.to_string();
                return Err(self.cursor.error(at, found, "32 or 64"));
            }
        }
        Ok(())
    }

    /// A directive outside of functions.
    fn declaration(&mut self) -> Result<(), ParseError> {
        if self.cursor.take_dot("file") {
            self.file()
        } else if self.cursor.take_dot("section") {
            self.section()
        } else if self.cursor.take_dot("alias") {
            self.alias()
        } else if self.cursor.take_dot("pragma") {
            let pragmas = self.pragma()?;
            self.module.pragmas.extend(pragmas);
            Ok(())
        } else {
            self.function_or_variable()
        }
    }

    fn function_or_variable(&mut self) -> Result<(), ParseError> {
        let at = self.cursor.position();
        let mut linkage = Linkage::default();
        while let Token::Dot(word) = self.cursor.peek()
            && let Some(named) = Linkage::named(word)
        {
            self.cursor.take();
            linkage = named;
        }
        match self.cursor.peek() {
            Token::Dot(kind @ ("entry" | "func")) => {
                self.cursor.take();
                self.function(linkage, kind == "entry", at)
            }
            Token::Dot(word) if Space::named(word).is_some() => self.variables(linkage, false),
            _ => Err(self.cursor.unexpected("a function, a variable or another directive")),
        }
    }

    /// The strings after `.pragma`.
    fn pragma(&mut self) -> Result<Vec<Box<str>>, ParseError> {
        let mut strings = vec![self.cursor.string()?.into()];
        while self.cursor.take_sign(",") {
            strings.push(self.cursor.string()?.into());
        }
        self.cursor.sign(";")?;
        Ok(strings)
    }

    /// Two functions after `.alias`.
    fn alias(&mut self) -> Result<(), ParseError> {
        let name = self.declared_function()?;
        self.cursor.sign(",")?;
        let function = self.declared_function()?;
        self.cursor.sign(";")?;
        self.module.aliases.push((name, function));
        Ok(())
    }

    /// The index of a function that is declared.
    fn declared_function(&mut self) -> Result<u32, ParseError> {
        let expected = "a declared function";
        let at = self.cursor.position();
        let name = self.cursor.word(expected)?;
        match self.names.get(name) {
            Some(Named::Symbol(Symbol::Function(index))) => Ok(index),
            _ => Err(self.cursor.error(at, quoted(name), expected)),
        }
    }

    /// Gives a name a meaning. `_` stays without one.
    fn declare(&mut self, name: &'a str, named: Named, at: Position) -> Result<(), ParseError> {
        if name == "_" || self.names.declare(name, named) {
            return Ok(());
        }
        Err(self.declared_twice(name, at))
    }

    fn declared_twice(&self, name: &str, at: Position) -> ParseError {
        let found = format!("{} again", quoted(name));
        self.cursor.error(at, found, "a name that is not declared yet")
    }
}
