//! Functions, kernels and prototypes.

use super::Parser;
use super::body::Code;
use super::names::Named;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::function::{Directives, Function, Prototype};
use crate::operand::Symbol;
use crate::token::Token;
use crate::variable::{Linkage, Parameter, Space, Variable};

/// A parameter that is not declared yet.
struct Formal<'a> {
    parameter: Parameter,
    name: &'a str,
    at: Position,
}

impl<'a> Parser<'a> {
    /// What follows `.entry` or `.func`.
    pub(super) fn function(
        &mut self,
        linkage: Linkage,
        is_kernel: bool,
        at: Position,
    ) -> Result<(), ParseError> {
        if self.cursor.take_dot("attribute") {
            self.attribute()?;
        }
        let results = self.parameters()?;
        let name_at = self.cursor.position();
        let name = self.cursor.word("the name of a function")?;
        let parameters = self.parameters()?;
        let directives = self.directives()?;
        let function = Function {
            name: name.into(),
            is_kernel,
            linkage,
            results: results.iter().map(|named| named.parameter.clone()).collect(),
            parameters: parameters.iter().map(|named| named.parameter.clone()).collect(),
            directives,
            line: at.line,
            body: None,
        };
        let is_declared_only = self.cursor.take_sign(";");
        let index = self.declare_function(name, function, is_declared_only, name_at)?;
        if !is_declared_only {
            self.code = Code::of(index);
            self.names.enter();
            self.declare_parameters(&results, Symbol::Result)?;
            self.declare_parameters(&parameters, Symbol::Parameter)?;
            let Code { body, pragmas, .. } = self.body()?;
            self.names.leave();
            let function = &mut self.module.functions[index];
            function.directives.pragmas.extend(pragmas);
            function.body = Some(body);
        }
        Ok(())
    }

    /// Adds a function to the module, or replaces the declaration of it.
    fn declare_function(
        &mut self,
        name: &'a str,
        mut function: Function,
        is_declared_only: bool,
        at: Position,
    ) -> Result<usize, ParseError> {
        let Some(Named::Symbol(Symbol::Function(known))) = self.names.get(name) else {
            let index = self.module.functions.len();
            self.declare(name, Named::Symbol(Symbol::Function(index as u32)), at)?;
            self.module.functions.push(function);
            return Ok(index);
        };
        let before = &mut self.module.functions[known as usize];
        function.directives.no_return |= before.directives.no_return;
        if !is_declared_only && before.body.is_some() {
            let found = format!("{} again", quoted(name));
            return Err(self.cursor.error(at, found, "one body for each function"));
        } else if before.body.is_none() {
            *before = function;
        }
        Ok(known as usize)
    }

    /// Parameters in parentheses, or nothing.
    fn parameters(&mut self) -> Result<Vec<Formal<'a>>, ParseError> {
        let mut parameters = Vec::new();
        if !self.cursor.take_sign("(") {
            return Ok(parameters);
        }
        while !self.cursor.take_sign(")") {
            let specifiers = self.specifiers()?;
            let at = self.cursor.position();
            let name = self.cursor.word("the name of a parameter")?;
            let variable = self.variable(name, Linkage::default(), &specifiers, at)?;
            let parameter = Parameter { variable, pointer: specifiers.pointer };
            parameters.push(Formal { parameter, name, at });
            if !self.cursor.take_sign(",") {
                self.cursor.sign(")")?;
                break;
            }
        }
        Ok(parameters)
    }

    fn declare_parameters(
        &mut self,
        parameters: &[Formal<'a>],
        symbol: fn(u32) -> Symbol,
    ) -> Result<(), ParseError> {
        for (index, &Formal { ref parameter, name, at }) in parameters.iter().enumerate() {
            let Variable { space, ty, vector, .. } = parameter.variable;
            if space == Space::Register {
                self.declare_registers(name, None, ty, vector, at)?;
            } else {
                self.declare(name, Named::Symbol(symbol(index as u32)), at)?;
            }
        }
        Ok(())
    }

    /// The directives between the parameters and the body.
    fn directives(&mut self) -> Result<Directives, ParseError> {
        let mut all = Directives::default();
        while let Token::Dot(word) = self.cursor.peek() {
            let at = self.cursor.position();
            self.cursor.take();
            match word {
                "maxntid" => all.max_threads = Some(self.extents()?),
                "reqntid" => all.required_threads = Some(self.extents()?),
                "reqnctapercluster" => all.required_cluster = Some(self.extents()?),
                "minnctapersm" => all.min_blocks_per_sm = Some(self.count()?),
                "maxnctapersm" => all.max_blocks_per_sm = Some(self.count()?),
                "maxnreg" => all.max_registers = Some(self.count()?),
                "maxclusterrank" => all.max_cluster = Some(self.count()?),
                "explicitcluster" => all.explicit_cluster = true,
                "blocksareclusters" => all.blocks_are_clusters = true,
                "noreturn" => all.no_return = true,
                "pragma" => all.pragmas.extend(self.pragma()?),
                // How many registers a call preserves.
                "abi_preserve" | "abi_preserve_control" => {
                    self.count()?;
                }
                _ => {
                    let expected = "a directive of a function, `{` or `;`";
                    return Err(self.cursor.error(at, quoted(self.cursor.since(at)), expected));
                }
            }
        }
        if !self.cursor.at("{") && !self.cursor.at(";") {
            return Err(self.cursor.unexpected("a directive of a function, `{` or `;`"));
        }
        Ok(all)
    }

    /// One to three numbers. Absent ones are 1.
    fn extents(&mut self) -> Result<[u32; 3], ParseError> {
        let mut extents = [self.count()?, 1, 1];
        for extent in &mut extents[1..] {
            if !self.cursor.take_sign(",") {
                break;
            }
            *extent = self.count()?;
        }
        Ok(extents)
    }

    /// What follows `.callprototype`.
    pub(super) fn prototype(&mut self) -> Result<Prototype, ParseError> {
        let all =
            |formals: Vec<Formal<'a>>| formals.into_iter().map(|named| named.parameter).collect();
        let results = all(self.parameters()?);
        self.cursor.word("`_`")?;
        let parameters = all(self.parameters()?);
        let no_return = self.directives()?.no_return;
        self.cursor.sign(";")?;
        Ok(Prototype { results, parameters, no_return })
    }
}
