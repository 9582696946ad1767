//! PTX litmus tests.
mod error;
mod instruction;
mod model;
mod parse;
mod program;
mod test;

pub use error::{ParseError, TooLarge};
pub use instruction::{
    Access, Arithmetic, Comparison, FenceOrder, Instruction, Location, Operand, Order, Register,
    Scope, Space, Update,
};
pub use model::{Judgement, Occurrence, judge};
pub use parse::parse;
pub use test::{Formula, MemoryLocation, Quantifier, Question, Statement, Term, Test, Thread};
