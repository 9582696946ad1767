//! A litmus test, as data.

use std::collections::BTreeMap;

use crate::instruction::{Comparison, Instruction, Location, Register};

/// A litmus test: a small program with several threads, and a question about its final states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name, from the first line.
    pub name: String,
    /// Its description. Each quoted string is one entry.
    pub description: Vec<String>,
    /// The memory locations, in the order in which they appear in the text.
    pub locations: Vec<MemoryLocation>,
    /// The threads. Thread `n` is `Pn` in the text.
    pub threads: Vec<Thread>,
    /// Final values that are shown in addition to those of the question, from `locations [...]`.
    pub shown: Vec<Term>,
    /// Final states that do not satisfy this are ignored.
    pub filter: Option<Formula>,
    /// The question.
    pub question: Question,
}

/// A word of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLocation {
    /// Its name.
    pub name: String,
    /// Its value before the threads start.
    pub initial: i32,
}

/// One thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The number of its CTA within its device. CTAs of different devices are different CTAs.
    pub cta: u32,
    /// The number of its device.
    pub gpu: u32,
    /// Initial values of registers. A register that is not listed starts at 0.
    pub registers: BTreeMap<Register, i32>,
    /// Its code.
    pub statements: Vec<Statement>,
    /// The labels: name and the index of the next statement.
    pub labels: Vec<(String, usize)>,
}

/// An instruction and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The line of the text, starting at 1.
    pub line: usize,
    /// The instruction.
    pub instruction: Instruction,
}

/// The question about the final states that remain after the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The quantifier.
    pub quantifier: Quantifier,
    /// The formula.
    pub formula: Formula,
}

/// The quantifier of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `exists`: is there a final state that satisfies it?
    Exists,
    /// `~exists`: is there none?
    NotExists,
    /// `forall`: do all final states satisfy it?
    Forall,
}

/// A formula over a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A comparison of two values.
    Compare(Term, Comparison, Term),
    /// It does not hold.
    Not(Box<Formula>),
    /// Both hold.
    And(Box<Formula>, Box<Formula>),
    /// At least one holds.
    Or(Box<Formula>, Box<Formula>),
}

/// A value in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// The final value of a register of a thread, by the number of the thread.
    Register(usize, Register),
    /// The final value of a location.
    Location(Location),
    /// A literal.
    Constant(i32),
}

impl Formula {
    /// Whether the formula holds for the values that `value` returns for registers and locations.
    pub fn holds(&self, value: &impl Fn(Term) -> i32) -> bool {
        match self {
            Self::Compare(left, comparison, right) => {
                comparison.holds(left.value(value), right.value(value))
            }
            Self::Not(inner) => !inner.holds(value),
            Self::And(left, right) => left.holds(value) && right.holds(value),
            Self::Or(left, right) => left.holds(value) || right.holds(value),
        }
    }

    /// Adds the registers and locations of the formula to `terms`.
    fn collect(&self, terms: &mut Vec<Term>) {
        match self {
            Self::Compare(left, _, right) => terms.extend([*left, *right]),
            Self::Not(inner) => inner.collect(terms),
            Self::And(left, right) | Self::Or(left, right) => {
                left.collect(terms);
                right.collect(terms);
            }
        }
    }
}

impl Term {
    fn value(self, value: &impl Fn(Term) -> i32) -> i32 {
        match self {
            Self::Constant(constant) => constant,
            _ => value(self),
        }
    }
}

impl Test {
    /// The registers and locations in the question, the filter and the list of shown values,
    /// sorted, without duplicates. These are the columns of a final state.
    pub fn asked(&self) -> Vec<Term> {
        let mut terms = self.shown.clone();
        self.question.formula.collect(&mut terms);
        if let Some(filter) = &self.filter {
            filter.collect(&mut terms);
        }
        terms.retain(|term| !matches!(term, Term::Constant(_)));
        terms.sort();
        terms.dedup();
        terms
    }

    /// The name of a term, as in the text: `P1:r0`, `x` or `3`.
    ///
    /// # Panics
    /// Panics if the term is a location of another test.
    pub fn term_name(&self, term: Term) -> String {
        match term {
            Term::Register(thread, register) => format!("P{thread}:r{}", register.0),
            Term::Location(location) => self.locations[location.0].name.clone(),
            Term::Constant(constant) => constant.to_string(),
        }
    }
}
