//! Values that depend on reads.

use std::rc::Rc;

use crate::instruction::{Arithmetic, Comparison};

/// A value of one thread. Reads are events of its path, by their index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Constant(i32),
    Read(usize),
    Function(Arithmetic, Rc<Value>, Rc<Value>),
}

impl Value {
    /// A function of two values.
    pub(crate) fn function(function: Arithmetic, left: Value, right: Value) -> Self {
        match (&left, &right) {
            (Self::Constant(a), Self::Constant(b)) => Self::Constant(function.apply(*a, *b)),
            _ if function == Arithmetic::Second => right,
            _ => Self::Function(function, Rc::new(left), Rc::new(right)),
        }
    }

    /// Calls `visit` for each read that the value depends on.
    pub(crate) fn reads(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Constant(_) => {}
            Self::Read(read) => visit(*read),
            Self::Function(_, left, right) => {
                left.reads(visit);
                right.reads(visit);
            }
        }
    }
}

/// A comparison that must hold for a path to be taken.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) left: Value,
    pub(crate) comparison: Comparison,
    pub(crate) right: Value,
    /// Number of events of the path before the branch.
    pub(crate) after: usize,
}

/// The outcomes less, equal and greater that a comparison allows, as bits.
fn outcomes(comparison: Comparison) -> u8 {
    match comparison {
        Comparison::Less => 0b001,
        Comparison::Equal => 0b010,
        Comparison::LessOrEqual => 0b011,
        Comparison::Greater => 0b100,
        Comparison::NotEqual => 0b101,
        Comparison::GreaterOrEqual => 0b110,
    }
}

/// Whether `new` and the constraints before it are known to contradict each other without the
/// values of reads.
pub(crate) fn contradicts(before: &[Constraint], new: &Constraint) -> bool {
    match (&new.left, &new.right) {
        (Value::Constant(a), Value::Constant(b)) => !new.comparison.holds(*a, *b),
        (a, b) if a == b => outcomes(new.comparison) & 0b010 == 0,
        _ => {
            let same = |old: &&Constraint| old.left == new.left && old.right == new.right;
            let all = before.iter().filter(same).map(|old| outcomes(old.comparison));
            all.fold(outcomes(new.comparison), |left, old| left & old) == 0
        }
    }
}
