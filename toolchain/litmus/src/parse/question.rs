//! Filter, quantifier and formula.

use super::Names;
use super::cursor::{Cursor, as_register, as_thread};
use super::token::{Token, error};
use crate::error::ParseError;
use crate::instruction::Comparison;
use crate::test::{Formula, Quantifier, Question, Term};

/// The end of a test: an optional filter, then the question.
pub(super) fn question(
    cursor: &mut Cursor,
    names: &mut Names,
    threads: usize,
) -> Result<(Option<Formula>, Question), ParseError> {
    let filter =
        if cursor.take_word("filter") { Some(either(cursor, names, threads)?) } else { None };
    cursor.take_sign(";");
    let quantifier = if cursor.take_word("exists") {
        Quantifier::Exists
    } else if cursor.take_word("forall") {
        Quantifier::Forall
    } else if cursor.take_sign("~") {
        cursor.exact_word("exists")?;
        Quantifier::NotExists
    } else {
        return Err(cursor.unexpected("`exists`, `~exists` or `forall`"));
    };
    let formula = either(cursor, names, threads)?;
    cursor.take_sign(";");
    match cursor.peek() {
        Token::End => Ok((filter, Question { quantifier, formula })),
        _ => Err(cursor.unexpected("the end of the text")),
    }
}

/// Formulas joined by `\/`, which binds less tightly than `/\`.
fn either(cursor: &mut Cursor, names: &mut Names, threads: usize) -> Result<Formula, ParseError> {
    let mut left = both(cursor, names, threads)?;
    while cursor.take_sign("\\/") || cursor.take_sign("||") {
        left = Formula::Or(Box::new(left), Box::new(both(cursor, names, threads)?));
    }
    Ok(left)
}

fn both(cursor: &mut Cursor, names: &mut Names, threads: usize) -> Result<Formula, ParseError> {
    let mut left = single(cursor, names, threads)?;
    while cursor.take_sign("/\\") || cursor.take_sign("&&") {
        left = Formula::And(Box::new(left), Box::new(single(cursor, names, threads)?));
    }
    Ok(left)
}

fn single(cursor: &mut Cursor, names: &mut Names, threads: usize) -> Result<Formula, ParseError> {
    if cursor.take_sign("~") || cursor.take_sign("!") {
        return Ok(Formula::Not(Box::new(single(cursor, names, threads)?)));
    }
    if cursor.take_sign("(") {
        let inner = either(cursor, names, threads)?;
        cursor.sign(")")?;
        return Ok(inner);
    }
    let left = term(cursor, names, threads)?;
    let comparison = match cursor.peek() {
        Token::Sign("==" | "=") => Comparison::Equal,
        Token::Sign("!=") => Comparison::NotEqual,
        Token::Sign("<") => Comparison::Less,
        Token::Sign("<=") => Comparison::LessOrEqual,
        Token::Sign(">") => Comparison::Greater,
        Token::Sign(">=") => Comparison::GreaterOrEqual,
        _ => return Err(cursor.unexpected("a comparison (==, !=, <, <=, >, >=)")),
    };
    cursor.take();
    Ok(Formula::Compare(left, comparison, term(cursor, names, threads)?))
}

/// A register of a thread, a location or a number. A register may name its thread with or
/// without the `P`.
pub(super) fn term(
    cursor: &mut Cursor,
    names: &mut Names,
    threads: usize,
) -> Result<Term, ParseError> {
    let line = cursor.line();
    let thread = match (cursor.peek(), cursor.peek_second()) {
        (Token::Word(word), Token::Sign(":")) => as_thread(word),
        (Token::Number(number), Token::Sign(":")) => usize::try_from(*number).ok(),
        (Token::Number(_), _) => return cursor.constant().map(Term::Constant),
        _ => None,
    };
    if let Some(thread) = thread {
        if thread >= threads {
            let expected = format!("one of the {threads} threads, counted from P0");
            return Err(error(line, format!("P{thread}"), &expected));
        }
        cursor.take();
        cursor.take();
        return Ok(Term::Register(thread, cursor.register()?));
    }
    let name = cursor.name("a register (P0:r0), a location or a number")?;
    if as_register(&name).is_some() {
        return Err(error(line, format!("`{name}`"), "the thread of a register (P0:r0)"));
    }
    Ok(Term::Location(names.location(&name)))
}
