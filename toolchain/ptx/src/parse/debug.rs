//! Files and lines of the source.

use std::collections::HashMap;

use super::Parser;
use crate::error::ParseError;
use crate::function::Location;
use crate::token::Token;

/// The names of inlined functions, which come after the code that refers to them.
#[derive(Default)]
pub(super) struct LineNames<'a> {
    /// The labels in `.debug_str`.
    labels: HashMap<&'a str, usize>,
    /// The locations that refer to names: function, location, label, and bytes to add to it.
    references: Vec<(usize, u32, &'a str, u32)>,
}

impl<'a> Parser<'a> {
    /// The number and name of a file. The time and size of the file may follow.
    pub(super) fn file(&mut self) -> Result<(), ParseError> {
        let number = self.count()?;
        let name = self.cursor.string()?;
        while self.cursor.take_sign(",") {
            self.integer()?;
        }
        self.module.files.insert(number, name.into());
        Ok(())
    }

    /// A section of debug information. Only its strings are kept.
    pub(super) fn section(&mut self) -> Result<(), ParseError> {
        let is_strings = self.cursor.peek() == Token::Dot("debug_str");
        while let Token::Dot(_) | Token::Word(_) = self.cursor.peek() {
            self.cursor.take();
        }
        self.cursor.sign("{")?;
        while !self.cursor.take_sign("}") {
            match self.cursor.peek() {
                Token::End | Token::Unclosed(_) => return Err(self.cursor.unexpected("`}`")),
                Token::Word(label) if is_strings => {
                    self.names_of_lines.labels.insert(label, self.module.strings.len());
                }
                Token::Number(text) if is_strings => {
                    self.module.strings.push(text.parse().unwrap_or(0));
                }
                _ => {}
            }
            self.cursor.take();
        }
        Ok(())
    }

    /// `1 20 3`, and possibly `, function_name LABEL, inlined_at 1 30 5`.
    pub(super) fn location(&mut self) -> Result<(), ParseError> {
        let place = self.place()?;
        let mut caller = None;
        let mut name = None;
        while self.cursor.take_sign(",") {
            match self.cursor.peek() {
                Token::Word("function_name") => {
                    self.cursor.take();
                    let label = self.cursor.word("the label of a name")?;
                    let plus = if self.cursor.take_sign("+") { self.count()? } else { 0 };
                    name = Some((label, plus));
                }
                Token::Word("inlined_at") => {
                    self.cursor.take();
                    caller = Some(self.place()?);
                }
                _ => return Err(self.cursor.unexpected("`function_name` or `inlined_at`")),
            }
        }
        // The place that it is inlined to may be inlined itself. Its own `.loc` came before.
        let inlined_at = caller.map(|caller| match self.code.places.get(&caller) {
            Some(&known) => known,
            None => self.add_location(caller, None),
        });
        let added = self.add_location(place, inlined_at);
        if let Some((label, plus)) = name {
            let function = self.code.function;
            self.names_of_lines.references.push((function, added, label, plus));
        }
        self.code.location = Some(added);
        Ok(())
    }

    /// The number of a file, a line and a column.
    fn place(&mut self) -> Result<[u32; 3], ParseError> {
        Ok([self.count()?, self.count()?, self.count()?])
    }

    fn add_location(&mut self, place: [u32; 3], inlined_at: Option<u32>) -> u32 {
        let locations = &mut self.code.body.locations;
        let index = locations.len() as u32;
        let [file, line, column] = place;
        locations.push(Location { file, line, column, inlined_at, name: None });
        self.code.places.insert(place, index);
        index
    }

    /// Gives the locations of inlined code the places of their names.
    pub(super) fn name_inlined_functions(&mut self) {
        for &(function, location, label, plus) in &self.names_of_lines.references {
            let start = self.names_of_lines.labels.get(label).map(|start| start + plus as usize);
            let function = self.module.functions.get_mut(function);
            if let Some(body) = function.and_then(|known| known.body.as_mut()) {
                let name = start.and_then(|start| u32::try_from(start).ok());
                body.locations[location as usize].name = name;
            }
        }
    }
}
