//! Decodes instructions: from an opcode and modifiers in any order to what the instruction does.
//!
//! Only the mnemonic counts, so the result can be kept for all instructions with the same one. A
//! modifier that is not understood makes the whole instruction [`Operation::Unknown`].

mod arithmetic;
mod compare;
mod matrix;
mod memory;
mod operation;
mod synchronise;
mod words;

pub use arithmetic::{Arithmetic, Function, Rounding, Variant};
pub use compare::{Comparison, Convert, Relation};
pub use memory::{Access, AddressSpace, Fence, Order, Scope, Update};
pub use operation::{BarrierAction, MbarrierAction, Operation, Shuffle, Vote};

use self::memory::SPACES;
use self::words::Words;
use crate::instruction::{Mnemonic, refused};

/// The meaning of an instruction.
///
/// ```
/// use ptx::decode::{AddressSpace, Operation, Order, Scope, decode};
///
/// let text = ".version 8.0 .target sm_90 .entry k() { .reg .b64 %rd<2>; .reg .b32 %r<2>;
///     ld.global.gpu.acquire.b32 %r1, [%rd1]; }";
/// let module = ptx::parse(text)?;
/// let body = module.functions[0].body.as_ref().expect("a body");
/// let Operation::Load(access) = decode(&body.instructions[0].mnemonic) else { panic!("a load") };
/// assert_eq!((access.space, access.order), (AddressSpace::Global, Order::Acquire));
/// assert_eq!((access.scope, access.vector), (Scope::Device, 1));
/// # Ok::<(), ptx::ParseError>(())
/// ```
#[must_use]
pub fn decode(mnemonic: &Mnemonic) -> Operation {
    if let Some(group) = refused(mnemonic.opcode()) {
        return Operation::Refused(group);
    }
    let mut words = Words::new(mnemonic.modifiers());
    match operation(mnemonic.opcode(), &mut words) {
        Some(operation) if words.is_empty() => operation,
        _ => Operation::Unknown(mnemonic.text().into()),
    }
}

fn operation(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    match opcode {
        "ld" | "ldu" => memory::access(words).map(Operation::Load),
        "st" => memory::access(words).map(Operation::Store),
        "atom" => memory::atomic(words).map(|(access, update)| Operation::Atomic(access, update)),
        "red" => memory::atomic(words).map(|(access, update)| Operation::Reduction(access, update)),
        "fence" | "membar" => memory::fence(opcode, words),
        "bar" | "barrier" => synchronise::barrier(opcode, words),
        "mbarrier" => synchronise::mbarrier(words),
        "shfl" => synchronise::shuffle(words),
        "vote" => synchronise::vote(words),
        "match" => synchronise::matching(words),
        "mma" => matrix::product(words),
        "ldmatrix" | "stmatrix" => matrix::access(opcode, words),
        "redux" => arithmetic::redux(words),
        "cp" => synchronise::copy(words),
        "activemask" => words.take("b32").then_some(Operation::ActiveMask),
        "elect" => words.take("sync").then_some(Operation::Elect),
        "mov" => words.ty().map(Operation::Move),
        "selp" => words.ty().map(Operation::Select),
        "setp" | "set" => compare::comparison(opcode, words),
        "cvt" => compare::convert(words),
        "cvta" => {
            let to = words.take("to");
            words.ty()?;
            Some(Operation::ConvertAddress { space: words.choose(&SPACES)?, to })
        }
        "isspacep" => words.choose(&SPACES).map(Operation::IsInSpace),
        "mapa" => {
            words.ty()?;
            Some(Operation::MapShared { shared: words.take("shared::cluster") })
        }
        "bra" => {
            words.take("uni");
            Some(Operation::Branch)
        }
        "brx" => {
            words.take("uni");
            words.take("idx").then_some(Operation::BranchIndexed)
        }
        "call" => {
            words.take("uni");
            Some(Operation::Call)
        }
        "ret" => {
            words.take("uni");
            Some(Operation::Return)
        }
        "exit" => Some(Operation::Exit),
        "trap" => Some(Operation::Trap),
        "nanosleep" => words.take("u32").then_some(Operation::Sleep),
        "griddepcontrol" => {
            let waits = words.choose(&[("wait", true), ("launch_dependents", false)])?;
            Some(Operation::GridDependency { waits })
        }
        "prefetch" | "prefetchu" | "applypriority" | "setmaxnreg" | "pmevent" => {
            // Their modifiers choose a cache or a number of registers.
            words.clear();
            Some(Operation::Hint)
        }
        _ => arithmetic::arithmetic(opcode, words),
    }
}
