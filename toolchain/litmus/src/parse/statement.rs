//! The rows of instructions, and one instruction.

use super::Names;
use super::cursor::{Cursor, as_register};
use super::mnemonic::{AtomicWord, Words, arithmetic, scope};
use super::token::{Token, error};
use crate::error::ParseError;
use crate::instruction::{
    Arithmetic, Comparison, FenceOrder, Instruction, Operand, Order, Scope, Update,
};
use crate::test::{Statement, Thread};

/// The threads while their columns are being parsed.
pub(super) struct Columns {
    threads: Vec<Thread>,
    /// The jumps whose labels may come later: thread, statement, label.
    jumps: Vec<(usize, usize, String)>,
}

impl Columns {
    pub(super) fn new(threads: Vec<Thread>) -> Self {
        Self { threads, jumps: Vec::new() }
    }

    /// Parses a row: a cell for each thread, separated by `|`, with `;` at the end. Cells at the
    /// end of a row may be omitted.
    pub(super) fn row(&mut self, cursor: &mut Cursor, names: &mut Names) -> Result<(), ParseError> {
        for thread in 0..self.threads.len() {
            self.cell(thread, cursor, names)?;
            if cursor.take_sign(";") {
                return Ok(());
            }
            if thread + 1 < self.threads.len() && !cursor.take_sign("|") {
                return Err(cursor.unexpected("`|` or `;` after an instruction"));
            }
        }
        Err(cursor.unexpected(&format!("`;` after {} columns", self.threads.len())))
    }

    fn cell(
        &mut self,
        number: usize,
        cursor: &mut Cursor,
        names: &mut Names,
    ) -> Result<(), ParseError> {
        let thread = &mut self.threads[number];
        while let (Token::Word(label), Token::Sign(":")) = (cursor.peek(), cursor.peek_second()) {
            if thread.labels.iter().any(|(known, _)| known == label) {
                let expected = "a label that is not there yet";
                return Err(error(cursor.line(), format!("`{label}:`"), expected));
            }
            thread.labels.push((label.clone(), thread.statements.len()));
            cursor.take();
            cursor.take();
        }
        let line = cursor.line();
        let Token::Word(mnemonic) = cursor.peek().clone() else { return Ok(()) };
        cursor.take();
        let (instruction, label) = instruction(&mnemonic, line, cursor, names)?;
        if let Some(label) = label {
            self.jumps.push((number, thread.statements.len(), label));
        }
        thread.statements.push(Statement { line, instruction });
        Ok(())
    }

    /// The threads, with the labels of jumps resolved.
    pub(super) fn finish(mut self) -> Result<Vec<Thread>, ParseError> {
        for (number, at, label) in self.jumps {
            let thread = &mut self.threads[number];
            let known = thread.labels.iter().find(|(name, _)| *name == label);
            let statement = &mut thread.statements[at];
            let Some(&(_, to)) = known else {
                let expected = format!("a label of P{number}");
                return Err(error(statement.line, format!("`{label}`"), &expected));
            };
            if let Instruction::Branch { target, .. } = &mut statement.instruction {
                *target = to;
            }
        }
        Ok(self.threads)
    }
}

/// An instruction, and the label that it may jump to.
fn instruction(
    mnemonic: &str,
    line: usize,
    cursor: &mut Cursor,
    names: &mut Names,
) -> Result<(Instruction, Option<String>), ParseError> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    if let Some(comparison) = branch(words[0]).filter(|_| words.len() == 1) {
        let left = cursor.operand()?;
        cursor.sign(",")?;
        let right = cursor.operand()?;
        cursor.sign(",")?;
        let label = cursor.name("a label")?;
        let when = Some((comparison, left, right));
        return Ok((Instruction::Branch { when, target: 0 }, Some(label)));
    }
    let plain = match words[0] {
        "goto" | "bra" => {
            let label = cursor.name("a label")?;
            return Ok((Instruction::Branch { when: None, target: 0 }, Some(label)));
        }
        "ld" => load(mnemonic, line, cursor, names)?,
        "st" => {
            let orders = [Order::Weak, Order::Volatile, Order::Relaxed, Order::Release];
            let access = Words::new(line, mnemonic)?.access(line, mnemonic, &orders)?;
            let at = names.location(&address(cursor)?);
            cursor.sign(",")?;
            Instruction::Store { at, value: cursor.operand()?, access }
        }
        "atom" | "red" => atomic(mnemonic, line, cursor, names)?,
        "fence" | "membar" => fence(mnemonic, &words, line)?,
        "bar" | "barrier" => barrier(mnemonic, &words, line, cursor)?,
        word => {
            let function = if word == "mov" { Some(Arithmetic::Second) } else { arithmetic(word) };
            let typed = matches!(words[1..], [] | ["u32" | "s32" | "b32"] | ["lo", "u32" | "s32"]);
            let Some(function) = function.filter(|_| typed) else {
                return Err(error(line, format!("`{mnemonic}`"), "an instruction"));
            };
            let to = cursor.register()?;
            cursor.sign(",")?;
            let left = cursor.operand()?;
            let right = if function == Arithmetic::Second {
                left
            } else {
                cursor.sign(",")?;
                cursor.operand()?
            };
            Instruction::Compute { to, function, left, right }
        }
    };
    Ok((plain, None))
}

fn branch(word: &str) -> Option<Comparison> {
    Some(match word {
        "beq" => Comparison::Equal,
        "bne" => Comparison::NotEqual,
        "blt" => Comparison::Less,
        "ble" => Comparison::LessOrEqual,
        "bgt" => Comparison::Greater,
        "bge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// A location, with or without the brackets of PTX.
fn address(cursor: &mut Cursor) -> Result<String, ParseError> {
    let brackets = cursor.take_sign("[");
    match cursor.peek() {
        Token::Word(word) if as_register(word).is_some() => {
            return Err(cursor.unexpected("a location, not a register"));
        }
        _ => {}
    }
    let name = cursor.name("a location")?;
    if brackets {
        cursor.sign("]")?;
    }
    Ok(name)
}

/// `ld` from a location. With a number it is a move.
fn load(
    mnemonic: &str,
    line: usize,
    cursor: &mut Cursor,
    names: &mut Names,
) -> Result<Instruction, ParseError> {
    let orders = [Order::Weak, Order::Volatile, Order::Relaxed, Order::Acquire];
    let access = Words::new(line, mnemonic)?.access(line, mnemonic, &orders)?;
    let to = cursor.register()?;
    cursor.sign(",")?;
    if let (Token::Number(_), Order::Weak) = (cursor.peek(), access.order) {
        let value = cursor.operand()?;
        let function = Arithmetic::Second;
        return Ok(Instruction::Compute { to, function, left: value, right: value });
    }
    Ok(Instruction::Load { to, from: names.location(&address(cursor)?), access })
}

fn atomic(
    mnemonic: &str,
    line: usize,
    cursor: &mut Cursor,
    names: &mut Names,
) -> Result<Instruction, ParseError> {
    let (access, operation) = Words::new(line, mnemonic)?.atomic(line, mnemonic)?;
    let to = if mnemonic.starts_with("red") {
        None
    } else {
        let to = cursor.register()?;
        cursor.sign(",")?;
        Some(to)
    };
    let at = names.location(&address(cursor)?);
    cursor.sign(",")?;
    let first = cursor.operand()?;
    let update = match operation {
        AtomicWord::Apply(function) => Update::Apply(function, first),
        AtomicWord::CompareAndSwap => {
            cursor.sign(",")?;
            Update::CompareAndSwap(first, cursor.operand()?)
        }
    };
    Ok(Instruction::Atomic { to, at, update, access })
}

/// `fence.sc.gpu`, `fence.gpu`, `membar.gl`.
fn fence(mnemonic: &str, words: &[&str], line: usize) -> Result<Instruction, ParseError> {
    let (order, place) = match words {
        ["membar", "gl"] => (FenceOrder::Sc, Some(Scope::Gpu)),
        ["membar", place] => (FenceOrder::Sc, scope(place).filter(|place| *place != Scope::Gpu)),
        ["fence", "sc", place] => (FenceOrder::Sc, scope(place)),
        ["fence", "acquire", place] => (FenceOrder::Acquire, scope(place)),
        ["fence", "release", place] => (FenceOrder::Release, scope(place)),
        ["fence", "acq_rel", place] | ["fence", place] => {
            (FenceOrder::AcquireRelease, scope(place))
        }
        _ => (FenceOrder::Sc, None),
    };
    let scope = place.ok_or_else(|| {
        let expected = "fence{.sc|.acq_rel|.acquire|.release}.{cta|gpu|sys} or membar.{cta|gl|sys}";
        error(line, format!("`{mnemonic}`"), expected)
    })?;
    Ok(Instruction::Fence { order, scope })
}

/// `barrier.cta.sync id[, count]` and `barrier.cta.arrive id, count` as in PTX. `bar.cta.sync` has
/// the operands `id`, `mark, id` or `mark, id, count`, and `bar.cta.arrive` has `mark, id, count`;
/// the mark only distinguishes instructions.
fn barrier(
    mnemonic: &str,
    words: &[&str],
    line: usize,
    cursor: &mut Cursor,
) -> Result<Instruction, ParseError> {
    let wait = match words {
        ["bar" | "barrier", "cta", "sync"] | ["bar" | "barrier", "sync"] => true,
        ["bar" | "barrier", "cta", "arrive"] | ["bar" | "barrier", "arrive"] => false,
        _ => {
            let expected = "bar.cta.sync, bar.cta.arrive, barrier.cta.sync or barrier.cta.arrive";
            return Err(error(line, format!("`{mnemonic}`"), expected));
        }
    };
    let mut operands = vec![cursor.operand()?];
    while cursor.take_sign(",") {
        operands.push(cursor.operand()?);
    }
    let marked = words[0] == "bar" && operands.len() > 1;
    let (id, count) = match operands[usize::from(marked)..] {
        [id] if wait => (id, None),
        [id, count] => (id, Some(count)),
        [_] => {
            let found = format!("`{mnemonic}` without a count");
            let expected = "a count of threads, which every arrival needs: `bar.cta.arrive mark, id, count` or `barrier.cta.arrive id, count`";
            return Err(error(line, found, expected));
        }
        _ => {
            let expected = "`bar.cta.sync [mark,] id`, `bar.cta.sync mark, id, count`, `bar.cta.arrive mark, id, count`, `barrier.cta.sync id[, count]` or `barrier.cta.arrive id, count`";
            let found = format!("`{mnemonic}` with {} operands", operands.len());
            return Err(error(line, found, expected));
        }
    };
    if let Some(Operand::Constant(count @ ..=0)) = count {
        return Err(error(line, format!("`{count}`"), "a count of threads from 1"));
    }
    Ok(Instruction::Barrier { wait, id, count })
}
