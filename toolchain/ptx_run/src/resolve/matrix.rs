//! Matrices in the registers of a warp.

use ptx::decode::{Access, AddressSpace, Order, Scope};
use ptx::{Operand, Type};

use super::operands::Operands;
use crate::code::{MovingMatrices, Multiplying, Op, Slot};

/// The registers of a part of a matrix.
fn slots<const N: usize>(operand: &Operand, on: &Operands<'_>) -> Option<[Slot; N]> {
    let slots: Option<Vec<Slot>> = on.elements(operand).iter().map(|it| on.slot(it)).collect();
    slots?.try_into().ok()
}

/// The same for values.
fn sources(operand: &Operand, count: u32, ty: Type, on: &Operands<'_>) -> Option<Box<[Slot]>> {
    let elements = on.elements(operand);
    let sources: Option<Box<[Slot]>> = elements.iter().map(|it| on.source(it, ty)).collect();
    sources.filter(|sources| sources.len() == count as usize)
}

/// `mma`
pub(super) fn product(ty: Type, depth: u32, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, a, b, c] = operands else { return None };
    // A register has four bytes of a row or column, and a warp 32 of each.
    let registers = depth * ty.bytes() / 16;
    let sums = sources(c, 4, Type::F32, on)?;
    Some(Op::MatrixProduct(Box::new(Multiplying {
        ty,
        depth,
        to: slots(to, on)?,
        a: sources(a, 2 * registers, Type::B32, on)?,
        b: sources(b, registers, Type::B32, on)?,
        c: [sums[0], sums[1], sums[2], sums[3]],
    })))
}

/// `ldmatrix`: registers, address; `stmatrix`: address, registers.
pub(super) fn access(
    (loads, count, transposes): (bool, u32, bool),
    space: AddressSpace,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let [first, second] = operands else { return None };
    let (registers, address) = if loads { (first, second) } else { (second, first) };
    let slots: Option<Box<[Slot]>> = on
        .elements(registers)
        .iter()
        .map(|it| if loads { on.slot(it) } else { on.source(it, Type::B32) })
        .collect();
    let slots = slots.filter(|slots| slots.len() == count as usize)?;
    // Transposed, the two elements of a register are in different rows.
    let ty = if transposes { Type::B16 } else { Type::B32 };
    let is_shared = matches!(space, AddressSpace::Shared | AddressSpace::Generic);
    let (order, scope) = (Order::Weak, Scope::Block);
    let access = Access { space, order, scope, ty, vector: 1, non_coherent: false };
    let address = on.address(address)?;
    is_shared.then(|| Op::MatrixMove(Box::new(MovingMatrices { loads, access, address, slots })))
}
