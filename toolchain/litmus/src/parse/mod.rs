//! Parses text into a [`Test`]. The `README.md` of this crate has the grammar.

mod cursor;
mod mnemonic;
mod question;
mod statement;
mod token;

use std::collections::BTreeMap;

use self::cursor::{Cursor, as_register, as_thread};
use self::question::{question, term};
use self::statement::Columns;
use self::token::{Token, error, tokens};
use crate::error::ParseError;
use crate::instruction::{Instruction, Location, Register, Space};
use crate::test::{MemoryLocation, Test, Thread};

/// The memory locations named so far.
#[derive(Default)]
pub(crate) struct Names {
    locations: Vec<MemoryLocation>,
}

impl Names {
    /// The location with this name. A new name is a new location, which starts at 0.
    fn location(&mut self, name: &str) -> Location {
        let known = self.locations.iter().position(|location| location.name == name);
        Location(known.unwrap_or_else(|| {
            self.locations.push(MemoryLocation { name: name.to_owned(), initial: 0 });
            self.locations.len() - 1
        }))
    }
}

/// Parses a litmus test.
///
/// # Errors
/// Returns the first error in the text, with its line.
pub fn parse(text: &str) -> Result<Test, ParseError> {
    let before = text.len() - text.trim_start().len();
    let first_line = 1 + text[..before].matches('\n').count();
    let (first, rest) = text[before..].split_once('\n').unwrap_or((&text[before..], ""));
    let name = first
        .strip_prefix("PTX")
        .or_else(|| first.strip_prefix("ptx"))
        .filter(|name| name.starts_with(char::is_whitespace))
        .ok_or_else(|| error(first_line, format!("`{}`", first.trim_end()), "`PTX` and a name"))?;

    let mut cursor = Cursor::new(tokens(rest, first_line + 1)?);
    let mut description = Vec::new();
    while let Token::Text(text) = cursor.peek() {
        description.push(text.clone());
        cursor.take();
    }
    let mut names = Names::default();
    let registers = initial_values(&mut cursor, &mut names)?;
    let mut columns = Columns::new(places(&mut cursor, registers)?);
    while !at_question(&cursor) {
        columns.row(&mut cursor, &mut names)?;
    }
    let threads = columns.finish()?;
    check_spaces(&threads, &names)?;

    let mut shown = Vec::new();
    if cursor.take_word("locations") {
        cursor.sign("[")?;
        while !cursor.take_sign("]") {
            shown.push(term(&mut cursor, &mut names, threads.len())?);
            if !cursor.take_sign(";") && !cursor.take_sign(",") {
                cursor.sign("]")?;
                break;
            }
        }
    }
    let (filter, question) = question(&mut cursor, &mut names, threads.len())?;
    Ok(Test {
        name: name.trim().to_owned(),
        description,
        locations: names.locations,
        threads,
        shown,
        filter,
        question,
    })
}

/// The initial values of registers, by thread, with the line of each.
type Registers = BTreeMap<(usize, Register), (i32, usize)>;

fn initial_values(cursor: &mut Cursor, names: &mut Names) -> Result<Registers, ParseError> {
    let mut registers = Registers::new();
    cursor.sign("{")?;
    while !cursor.take_sign("}") {
        let line = cursor.line();
        let thread = match (cursor.peek(), cursor.peek_second()) {
            (Token::Word(word), Token::Sign(":")) => as_thread(word),
            (Token::Number(number), Token::Sign(":")) => usize::try_from(*number).ok(),
            _ => None,
        };
        if let Some(thread) = thread {
            cursor.take();
            cursor.take();
            let register = cursor.register()?;
            cursor.sign("=")?;
            registers.insert((thread, register), (cursor.constant()?, line));
        } else {
            let name = cursor.name("a register (P0:r0) or a location")?;
            if as_register(&name).is_some() {
                return Err(error(line, format!("`{name}`"), "the thread of a register (P0:r0)"));
            }
            cursor.sign("=")?;
            let location = names.location(&name);
            names.locations[location.0].initial = cursor.constant()?;
        }
        if !cursor.take_sign(";") {
            cursor.sign("}")?;
            break;
        }
    }
    Ok(registers)
}

/// The row with the placement of the threads.
fn places(cursor: &mut Cursor, registers: Registers) -> Result<Vec<Thread>, ParseError> {
    let mut threads = Vec::new();
    loop {
        cursor.exact_word(&format!("P{}", threads.len()))?;
        cursor.sign("@")?;
        cursor.exact_word("cta")?;
        let cta = cursor.index("the number of the CTA")?;
        cursor.sign(",")?;
        cursor.exact_word("gpu")?;
        let gpu = cursor.index("the number of the GPU")?;
        threads.push(Thread { cta, gpu, ..Thread::default() });
        if !cursor.take_sign("|") {
            cursor.sign(";")?;
            break;
        }
    }
    let count = threads.len();
    for ((thread, register), (value, line)) in registers {
        let Some(thread) = threads.get_mut(thread) else {
            return Err(error(
                line,
                format!("P{thread}"),
                &format!("one of the {count} threads, counted from P0"),
            ));
        };
        thread.registers.insert(register, value);
    }
    Ok(threads)
}

/// Whether the rows of instructions have ended.
fn at_question(cursor: &Cursor) -> bool {
    match cursor.peek() {
        Token::Word(word) => {
            matches!(word.as_str(), "exists" | "forall" | "filter" | "locations")
        }
        Token::Sign(sign) => *sign == "~",
        Token::End => true,
        _ => false,
    }
}

/// Shared memory belongs to one CTA, and an address is in one state space.
fn check_spaces(threads: &[Thread], names: &Names) -> Result<(), ParseError> {
    let mut spaces = BTreeMap::new();
    for thread in threads {
        for statement in &thread.statements {
            let (location, access) = match &statement.instruction {
                Instruction::Load { from, access, .. } => (*from, access),
                Instruction::Store { at, access, .. } | Instruction::Atomic { at, access, .. } => {
                    (*at, access)
                }
                _ => continue,
            };
            if access.space == Space::Generic {
                continue;
            }
            let place = (access.space == Space::Shared).then_some((thread.gpu, thread.cta));
            let first = *spaces.entry(location).or_insert((access.space, place));
            if first != (access.space, place) {
                let name = &names.locations[location.0].name;
                return Err(error(
                    statement.line,
                    format!("`{name}` in another state space or CTA than before"),
                    "one state space for each location, and one CTA for shared memory",
                ));
            }
        }
    }
    Ok(())
}
