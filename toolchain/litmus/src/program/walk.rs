//! Finds the paths through the code of one thread.
//!
//! If control depends on a read, both directions are followed. An iteration of a loop that writes
//! nothing, reaches no barrier and leaves all registers that are still needed unchanged is *without
//! effect*. A path with such an iteration is left out: without the iteration it is another path
//! with the same final states, because reads and fences only ever forbid outcomes. The iteration is
//! kept as a *spin* instead, a path that never ends.

use std::collections::{BTreeMap, BTreeSet};

use super::live::live;
use super::value::{Constraint, Value, contradicts};
use super::{Action, End, Path, Step};
use crate::error::TooLarge;
use crate::instruction::{Comparison, Instruction, Operand, Register, Update};
use crate::test::Thread;

/// Maximum number of visits of one statement on one path.
const MOST_ROUNDS: usize = 16;
/// Maximum number of paths of one thread.
const MOST_PATHS: usize = 4096;

/// All paths through the code of thread `number`, including those that never end.
pub(crate) fn paths(
    number: usize,
    thread: &Thread,
    asked: &BTreeSet<Register>,
) -> Result<Vec<Path>, TooLarge> {
    let registers = thread.registers.iter();
    let start = State {
        at: 0,
        steps: Vec::new(),
        constraints: Vec::new(),
        registers: registers
            .map(|(register, value)| (*register, Value::Constant(*value)))
            .collect(),
        effects: 0,
        visits: Vec::new(),
    };
    let mut walk = Walk { number, thread, live: live(thread, asked), found: Vec::new() };
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        walk.follow(state, &mut open)?;
        if walk.found.len() + open.len() > MOST_PATHS {
            return Err(TooLarge::Paths { thread: number, limit: MOST_PATHS });
        }
    }
    Ok(walk.found)
}

struct Walk<'a> {
    number: usize,
    thread: &'a Thread,
    live: Vec<BTreeSet<Register>>,
    found: Vec<Path>,
}

/// The beginning of a path.
#[derive(Clone)]
struct State {
    at: usize,
    steps: Vec<Step>,
    constraints: Vec<Constraint>,
    registers: BTreeMap<Register, Value>,
    /// Number of steps so far that have an effect.
    effects: usize,
    visits: Vec<Visit>,
}

/// A visit of the path to a statement.
#[derive(Clone)]
struct Visit {
    at: usize,
    steps: usize,
    effects: usize,
    /// The values of the registers that were still needed.
    needed: Vec<Value>,
}

impl State {
    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(constant) => Value::Constant(constant),
            Operand::Register(register) => self.register(register),
        }
    }

    fn register(&self, register: Register) -> Value {
        self.registers.get(&register).cloned().unwrap_or(Value::Constant(0))
    }

    /// Adds a step, and returns its index.
    fn step(&mut self, action: Action) -> usize {
        self.effects +=
            usize::from(matches!(action, Action::Write { .. } | Action::Barrier { .. }));
        self.steps.push(Step { action, round: 0, repeats: None });
        self.steps.len() - 1
    }

    /// The path on which the comparison holds, unless that is impossible.
    fn given(&self, left: &Value, comparison: Comparison, right: &Value) -> Option<Self> {
        let (left, right) = (left.clone(), right.clone());
        let constraint = Constraint { left, comparison, right, after: self.steps.len() };
        (!contradicts(&self.constraints, &constraint)).then(|| {
            let mut next = self.clone();
            next.constraints.push(constraint);
            next
        })
    }

    fn end(self, end: End) -> Path {
        let Self { steps, constraints, registers, .. } = self;
        Path { steps, constraints, registers, end }
    }
}

impl Walk<'_> {
    /// Follows a path to its end, or to where it splits.
    fn follow(&mut self, mut state: State, open: &mut Vec<State>) -> Result<(), TooLarge> {
        loop {
            let Some(statement) = self.thread.statements.get(state.at) else {
                self.found.push(state.end(End::Finished));
                return Ok(());
            };
            if let Some(spin) = self.visit(&mut state, statement.line)? {
                self.found.push(spin);
                return Ok(());
            }
            let at = state.at;
            state.at += 1;
            match statement.instruction {
                Instruction::Load { to, from, access } => {
                    let read = state.step(Action::Read { from, access, reduction: false });
                    state.registers.insert(to, Value::Read(read));
                }
                Instruction::Store { at, value, access } => {
                    let value = state.value(value);
                    state.step(Action::Write { to: at, value, access, atomic: false });
                }
                Instruction::Atomic { .. } => {
                    atomic(state, &statement.instruction, open);
                    return Ok(());
                }
                Instruction::Fence { order, scope } => {
                    state.step(Action::Fence { order, scope });
                }
                Instruction::Barrier { wait, id, count } => {
                    let (id, count) = (state.value(id), count.map(|count| state.value(count)));
                    state.step(Action::Barrier { wait, id, count });
                    if wait {
                        self.found.push(state.clone().end(End::Blocked));
                    }
                }
                Instruction::Compute { to, function, left, right } => {
                    let value = Value::function(function, state.value(left), state.value(right));
                    state.registers.insert(to, value);
                }
                Instruction::Branch { when: None, target } => state.at = target,
                Instruction::Branch { when: Some((comparison, left, right)), target } => {
                    let (left, right) = (state.value(left), state.value(right));
                    let taken = state.given(&left, comparison, &right);
                    let passed = state.given(&left, comparison.negated(), &right);
                    open.extend(taken.map(|taken| State { at: target, ..taken }));
                    open.extend(passed.map(|passed| State { at: at + 1, ..passed }));
                    return Ok(());
                }
            }
        }
    }

    /// Records a visit of the path to a statement. If the iteration since an earlier visit was
    /// without effect, returns the spin.
    fn visit(&self, state: &mut State, line: usize) -> Result<Option<Path>, TooLarge> {
        let at = state.at;
        let needed = self.live[at].iter().map(|register| state.register(*register)).collect();
        let visit = Visit { at, steps: state.steps.len(), effects: state.effects, needed };
        let mut before = state.visits.iter().filter(|before| before.at == at);
        if before.clone().count() >= MOST_ROUNDS {
            return Err(TooLarge::Loop { thread: self.number, line, rounds: MOST_ROUNDS });
        }
        let same = before
            .find(|before| before.effects == visit.effects && before.needed == visit.needed)
            .map(|before| before.steps);
        state.visits.push(visit);
        let Some(start) = same else { return Ok(None) };
        let mut spin = state.clone();
        for step in start..state.steps.len() {
            spin.steps[step].round = 1;
            let action = state.steps[step].action.clone();
            spin.steps.push(Step { action, round: 2, repeats: Some(step) });
        }
        Ok(Some(spin.end(End::Spinning)))
    }
}

/// Adds the continuations after an atomic to `open`: one, or two if it is a `cas`.
fn atomic(mut state: State, instruction: &Instruction, open: &mut Vec<State>) {
    let Instruction::Atomic { to, at, update, access } = *instruction else { return };
    let reduction = to.is_none();
    let old = Value::Read(state.step(Action::Read { from: at, access, reduction }));
    let write = |mut state: State, value: Value, old: Value| {
        state.step(Action::Write { to: at, value, access, atomic: true });
        state.registers.extend(to.map(|to| (to, old)));
        state
    };
    match update {
        Update::Apply(function, operand) => {
            let value = Value::function(function, old.clone(), state.value(operand));
            open.push(write(state, value, old));
        }
        Update::CompareAndSwap(expected, new) => {
            let (expected, new) = (state.value(expected), state.value(new));
            if let Some(mut failed) = state.given(&old, Comparison::NotEqual, &expected) {
                failed.registers.extend(to.map(|to| (to, old.clone())));
                open.push(failed);
            }
            if let Some(swapped) = state.given(&old, Comparison::Equal, &expected) {
                // The old word is known on this path, so later branches on it are decided.
                open.push(write(swapped, new, expected));
            }
        }
    }
}
