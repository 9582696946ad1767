//! The words of a mnemonic: `atom.acq_rel.gpu.global.add.u32`.

use super::token::error;
use crate::error::ParseError;
use crate::instruction::{Access, Arithmetic, Order, Scope, Space};

/// The qualifiers after the first word, each of a different kind.
#[derive(Default)]
pub(super) struct Words {
    order: Option<Order>,
    scope: Option<Scope>,
    space: Option<Space>,
    typed: bool,
    operation: Option<AtomicWord>,
}

/// The operation of an atomic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtomicWord {
    /// A function of the old word and one operand.
    Apply(Arithmetic),
    /// `cas`.
    CompareAndSwap,
}

/// The scope with this name.
pub(super) fn scope(word: &str) -> Option<Scope> {
    Some(match word {
        "cta" => Scope::Cta,
        "gpu" => Scope::Gpu,
        "sys" => Scope::Sys,
        _ => return None,
    })
}

/// The arithmetic with this name, for registers and atomics.
pub(super) fn arithmetic(word: &str) -> Option<Arithmetic> {
    Some(match word {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Sub,
        "mul" => Arithmetic::Mul,
        "and" => Arithmetic::And,
        "or" => Arithmetic::Or,
        "xor" => Arithmetic::Xor,
        "min" => Arithmetic::Min,
        "max" => Arithmetic::Max,
        _ => return None,
    })
}

fn atomic(word: &str) -> Option<AtomicWord> {
    Some(match word {
        "cas" => AtomicWord::CompareAndSwap,
        "exch" => AtomicWord::Apply(Arithmetic::Second),
        "inc" => AtomicWord::Apply(Arithmetic::Inc),
        "dec" => AtomicWord::Apply(Arithmetic::Dec),
        _ => AtomicWord::Apply(arithmetic(word)?),
    })
}

fn order(word: &str) -> Option<Order> {
    Some(match word {
        "weak" => Order::Weak,
        "volatile" => Order::Volatile,
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcquireRelease,
        _ => return None,
    })
}

fn space(word: &str) -> Option<Space> {
    Some(match word {
        "generic" => Space::Generic,
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        _ => return None,
    })
}

/// Puts `value` into an empty `slot`.
fn fill<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let fits = value.is_some() && slot.is_none();
    if fits {
        *slot = value;
    }
    fits
}

impl Words {
    /// Sorts the qualifiers by kind.
    pub(super) fn new(line: usize, mnemonic: &str) -> Result<Self, ParseError> {
        let mut words = Self::default();
        for word in mnemonic.split('.').skip(1) {
            let typed = matches!(word, "u32" | "s32" | "b32") && !words.typed;
            words.typed |= typed;
            let known = typed
                || fill(&mut words.order, order(word))
                || fill(&mut words.scope, scope(word))
                || fill(&mut words.space, space(word))
                || fill(&mut words.operation, atomic(word));
            if !known {
                return Err(error(
                    line,
                    format!("`.{word}` in `{mnemonic}`"),
                    "at most one each of semantics, scope, state space, operation and a type of 32 bits",
                ));
            }
        }
        Ok(words)
    }

    /// The access of a load or store. Weak without a qualifier.
    pub(super) fn access(
        &self,
        line: usize,
        mnemonic: &str,
        orders: &[Order],
    ) -> Result<Access, ParseError> {
        let order = self.order.unwrap_or(Order::Weak);
        let scoped = !matches!(order, Order::Weak | Order::Volatile);
        let space = self.space.unwrap_or(Space::Generic);
        if !orders.contains(&order) {
            Err(error(line, format!("`{mnemonic}`"), "semantics that the instruction can have"))
        } else if scoped != self.scope.is_some() {
            let expected = if scoped { "a scope (.cta, .gpu, .sys)" } else { "no scope" };
            Err(error(line, format!("`{mnemonic}`"), expected))
        } else if self.operation.is_some() {
            Err(error(line, format!("`{mnemonic}`"), "no operation"))
        } else {
            Ok(Access { order, scope: self.scope, space })
        }
    }

    /// The access and the operation of an atomic. Relaxed at GPU scope without qualifiers.
    pub(super) fn atomic(
        &self,
        line: usize,
        mnemonic: &str,
    ) -> Result<(Access, AtomicWord), ParseError> {
        let order = self.order.unwrap_or(Order::Relaxed);
        if matches!(order, Order::Weak | Order::Volatile) {
            let expected = "relaxed, acquire, release or acq_rel";
            return Err(error(line, format!("`{mnemonic}`"), expected));
        }
        let operation = self.operation.ok_or_else(|| {
            let expected =
                "an operation (add, sub, mul, and, or, xor, min, max, inc, dec, exch, cas)";
            error(line, format!("`{mnemonic}`"), expected)
        })?;
        let scope = Some(self.scope.unwrap_or(Scope::Gpu));
        Ok((Access { order, scope, space: self.space.unwrap_or(Space::Generic) }, operation))
    }
}
