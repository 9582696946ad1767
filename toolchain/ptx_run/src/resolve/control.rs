//! Branches and calls.

use ptx::{Label, Operand, Space, Symbol, Type};

use super::operands::Operands;
use crate::code::{Calling, Given, Op, Received};
use crate::synchronise::{Runtime, Synchronise};

/// The index of the instruction at a label.
fn target(label: Label, on: &Operands<'_>) -> usize {
    on.body.labels[label.0 as usize].at
}

pub(super) fn branch(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [Operand::Label(label)] = operands else { return None };
    Some(Op::Branch(target(*label, on)))
}

pub(super) fn branch_indexed(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [index, Operand::Targets(targets)] = operands else { return None };
    let labels = on.body.targets[*targets as usize].iter();
    let targets = labels.map(|label| target(*label, on)).collect();
    Some(Op::BranchIndexed(on.source(index, Type::U32)?, targets))
}

pub(super) fn sleep(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    on.source_at(operands, 0, Type::U32).map(Op::Sleep)
}

/// A call of a function with a body, through its address, or of the device runtime.
pub(super) fn call(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let (results, operands) = match operands {
        [Operand::List(results), rest @ ..] => (&**results, rest),
        rest => (&[][..], rest),
    };
    let (callee, arguments) = match operands {
        [callee, Operand::List(arguments), ..] => (callee, &**arguments),
        [callee, ..] => (callee, &[][..]),
        [] => return None,
    };
    let mut runtime = None;
    if let Operand::Symbol(Symbol::Function(index), _) = callee {
        let function = &on.module.functions[*index as usize];
        if function.body.is_none() {
            let known = Runtime::named(&function.name);
            runtime = Some(known.filter(|known| known.arguments() == arguments.len())?);
        } else if !is_callable(function) {
            return None;
        }
    }
    let callee = on.source(callee, Type::U64)?;
    let arguments: Option<Box<[Given]>> = arguments.iter().map(|it| given(it, on)).collect();
    let results: Option<Box<[Received]>> = results.iter().map(|it| received(it, on)).collect();
    let call = Calling { callee, arguments: arguments?, results: results? };
    Some(match runtime {
        Some(runtime) => Op::Synchronise(Box::new(Synchronise::Runtime(runtime, call))),
        None => Op::Call(Box::new(call)),
    })
}

/// Whether a function has a body, and all its parameters and results in memory.
pub(crate) fn is_callable(function: &ptx::Function) -> bool {
    let mut all = function.parameters.iter().chain(&function.results);
    function.body.is_some() && all.all(|it| it.variable.space == Space::Parameter)
}

fn given(operand: &Operand, on: &Operands<'_>) -> Option<Given> {
    if matches!(operand, Operand::Symbol(..)) {
        return on.offset(operand).map(Given::Bytes);
    }
    on.source(operand, Type::B64).map(Given::Value)
}

fn received(operand: &Operand, on: &Operands<'_>) -> Option<Received> {
    if matches!(operand, Operand::Symbol(..)) {
        return on.offset(operand).map(Received::Bytes);
    }
    on.slot(operand).map(Received::Register)
}
