//! Whether a racing load can do harm: a flow of data through the registers of its function.

use std::collections::BTreeSet;
use std::fmt;

use ptx::decode::{AddressSpace, Operation, Order, Update, decode};
use ptx::{Address, Base, Body, Instruction, Module, Operand, Register};
use simt::{AccessKind, Race, RacingAccess};

use crate::resolve::innermost;
use crate::uses::Uses;

/// Why the load of a race can do no harm. By the memory model it is a race all the same, and its
/// value is undefined.
///
/// Compilers make such races from programs without one: they move loads out of branches, and LLVM
/// begins the loops that stand for atomics without an instruction with a weak load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Excuse {
    /// The value is only what a loop of compare-and-swap expects first.
    CompareAndSwap,
    /// The value reaches no address, branch, memory or call.
    Unused,
}

impl Excuse {
    /// The excuse of a race in this kernel of the module, if one of its accesses is a weak load and
    /// the other one is not weak. Racing writes have none.
    ///
    /// It is found only within the function of the load, so a call that gets the value ends the
    /// search. All loads of the same line and column need an excuse.
    pub fn of(module: &Module, entry: &str, race: &Race) -> Option<Self> {
        Self::in_file(module, entry, &format!("{entry}.ptx"), race)
    }

    /// As [`of`](Self::of), for a [`Program::in_file`](crate::Program::in_file) with this name of
    /// the file.
    pub fn in_file(module: &Module, entry: &str, file: &str, race: &Race) -> Option<Self> {
        let is_weak = |it: &RacingAccess| {
            it.access.order == simt::Order::Weak && it.access.kind != AccessKind::Atomic
        };
        let read = match [&race.earlier, &race.later] {
            [read, other] | [other, read]
                if is_weak(read) && read.access.kind == AccessKind::Read && !is_weak(other) =>
            {
                read
            }
            _ => return None,
        };
        let place = read.site.inside.unwrap_or(read.site.place);
        let found = module.functions.iter().position(|it| it.is_kernel && &*it.name == entry)?;
        let reached = Uses::of(module, found).functions;
        let bodies = reached.iter().filter_map(|&index| module.functions[index].body.as_ref());
        let loads = bodies.flat_map(|body| {
            let here = move |it: &&Instruction| innermost(module, file, it, body) == place;
            let all = body.instructions.iter().filter(here);
            all.filter(|it| is_weak_load(it)).map(move |it| excuse(body, it))
        });
        let excuses: Option<Vec<Self>> = loads.collect();
        excuses?.into_iter().min_by_key(|it| *it as u32)
    }
}

impl fmt::Display for Excuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CompareAndSwap => {
                "the load only begins a loop of compare-and-swap, which corrects an old value: make \
                 it relaxed to end the race, or ignore it if the compiler made the loop (LLVM loads \
                 weakly there)"
            }
            Self::Unused => {
                "the loaded value reaches no address, branch, memory or call: the compiler has \
                 probably moved the load out of a branch"
            }
        })
    }
}

/// Whether an instruction is a weak load of memory that other threads can write.
fn is_weak_load(it: &Instruction) -> bool {
    let Operation::Load(access) = decode(&it.mnemonic) else { return false };
    let is_private = matches!(access.space, AddressSpace::Parameter | AddressSpace::Local);
    access.order == Order::Weak && !is_private
}

/// The excuse of a load in a function: follows its value from register to register.
fn excuse(body: &Body, load: &Instruction) -> Option<Excuse> {
    let operations: Vec<_> = body.instructions.iter().map(|it| decode(&it.mnemonic)).collect();
    let steps = || body.instructions.iter().zip(&operations);
    let is_swap =
        |operation: &Operation| matches!(operation, Operation::Atomic(_, Update::CompareAndSwap));
    // A comparison of the old value with the expected one depends on the swap only.
    let swaps: Vec<[&Operand; 2]> = steps()
        .filter(|(_, operation)| is_swap(operation))
        .filter_map(|(it, _)| Some([it.operands.first()?, it.operands.get(2)?]))
        .collect();
    let tells_success = |sources: &[Operand]| matches!(sources, [a, b] if swaps.contains(&[a, b]) || swaps.contains(&[b, a]));
    let mut values = BTreeSet::new();
    for_each_register(load.operands.first()?, &mut |register| _ = values.insert(register));
    let mut found = Excuse::Unused;
    loop {
        let before = values.len();
        for (it, operation) in steps() {
            if it.guard.is_some_and(|guard| values.contains(&guard.register)) {
                return None;
            }
            let Some((first, sources)) = it.operands.split_first() else { continue };
            let reads = |operand: &Operand| {
                let mut reads = false;
                for_each_register(operand, &mut |register| reads |= values.contains(&register));
                reads
            };
            let is_read = sources.iter().any(reads);
            let escapes = match operation {
                Operation::Move(_) | Operation::Select(_) | Operation::Convert(_) => false,
                // The carry is not followed.
                Operation::Compute(_) => {
                    is_read && it.mnemonic.modifiers().any(|word| word == "cc")
                }
                Operation::Compare(_) if tells_success(sources) => continue,
                Operation::Compare(_) => false,
                Operation::Load(_) => is_read,
                operation if is_swap(operation) => {
                    if is_read {
                        found = Excuse::CompareAndSwap;
                    }
                    sources.first().is_some_and(reads)
                }
                _ => is_read || reads(first),
            };
            if escapes {
                return None;
            }
            if is_read && !is_swap(operation) {
                for_each_register(first, &mut |register| _ = values.insert(register));
            }
        }
        if values.len() == before {
            return Some(found);
        }
    }
}

fn for_each_register(operand: &Operand, found: &mut impl FnMut(Register)) {
    match operand {
        Operand::Register(register)
        | Operand::Part(register, _)
        | Operand::Not(register)
        | Operand::Memory(Address { base: Base::Register(register), .. }) => found(*register),
        Operand::Vector(all) | Operand::List(all) | Operand::Tensor(all) => {
            all.iter().for_each(|operand| for_each_register(operand, found));
        }
        Operand::Pair(both) => both.iter().for_each(|operand| for_each_register(operand, found)),
        _ => {}
    }
}
