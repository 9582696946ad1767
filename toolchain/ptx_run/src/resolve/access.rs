//! Accesses to memory, fences and addresses.

use ptx::decode::{Access, AddressSpace, Fence, Order, Scope, Update};
use ptx::{Operand, Type};

use super::operands::Operands;
use crate::arithmetic::update::update;
use crate::code::{Loading, Op, Slot, Storing, Updating, Window};

/// Whether the elements of an access are supported: they have at most 64 bits.
fn is_supported(access: Access) -> bool {
    (1..=8).contains(&access.ty.bytes())
}

pub(super) fn load(access: Access, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, address, ..] = operands else { return None };
    let to: Option<Box<[Slot]>> = on.elements(to).iter().map(|it| on.slot(it)).collect();
    let (to, address) = (to?, on.address(address)?);
    let extend_to = access.ty.is_signed().then_some(on.width(*to.first()?));
    let fits = is_supported(access) && to.len() == access.vector as usize;
    fits.then(|| Op::Load(Box::new(Loading { access, address, to, extend_to })))
}

pub(super) fn store(access: Access, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [address, value, ..] = operands else { return None };
    let values: Option<Box<[_]>> =
        on.elements(value).iter().map(|it| on.source(it, access.ty)).collect();
    let (address, values) = (on.address(address)?, values?);
    let fits = is_supported(access) && values.len() == access.vector as usize;
    fits.then(|| Op::Store(Box::new(Storing { access, address, values })))
}

pub(super) fn atomic(
    access: Access,
    update: Update,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let (to, operands) = operands.split_first()?;
    let to: Option<Box<[Slot]>> = on.elements(to).iter().map(|it| on.slot(it)).collect();
    updating(access, update, to?, operands, on)
}

pub(super) fn reduction(
    access: Access,
    update: Update,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let to = vec![on.sink(); access.vector as usize].into();
    updating(access, update, to, operands, on)
}

fn updating(
    access: Access,
    by: Update,
    to: Box<[Slot]>,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let function = update(by, access.ty);
    let swaps = by == Update::CompareAndSwap;
    let count = access.vector as usize;
    let fits = matches!(access.ty.bytes(), 2 | 4 | 8) && to.len() == count;
    if !is_supported(access) || !fits || function.is_none() && !swaps {
        return None;
    }
    let address = on.address(operands.first()?)?;
    let values = |at: usize| -> Option<Vec<Slot>> {
        let elements = on.elements(operands.get(at)?);
        let slots: Option<Vec<Slot>> = elements.iter().map(|it| on.source(it, access.ty)).collect();
        slots.filter(|slots| slots.len() == count)
    };
    let first = values(1)?;
    let second = if swaps { values(2)? } else { first.clone() };
    let sources = first.into_iter().zip(second).map(|(first, second)| [first, second]).collect();
    Some(Op::Update(Box::new(Updating { access, address, to, function, sources })))
}

pub(super) fn fence(fence: Fence) -> Option<Op> {
    match fence {
        Fence::Thread(order, scope) => Some(Op::Fence(scope_of(scope), order_of(order))),
        // Each byte has one address.
        Fence::Alias => Some(Op::Nothing),
        Fence::AsyncProxy(_) | Fence::MbarrierInit => None,
    }
}

fn window(space: AddressSpace) -> Option<Window> {
    Some(match space {
        AddressSpace::Global | AddressSpace::Constant => Window::Global,
        AddressSpace::Shared => Window::Shared,
        AddressSpace::Local => Window::Local,
        AddressSpace::Parameter => Window::Parameter,
        AddressSpace::SharedCluster => Window::Cluster,
        AddressSpace::Generic => return None,
    })
}

pub(super) fn convert_address(
    space: AddressSpace,
    to_space: bool,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let (to, space) = (on.slot(operands.first()?)?, window(space)?);
    let from = on.source_at(operands, 1, Type::U64)?;
    Some(Op::ConvertAddress { to, from, space, to_space })
}

pub(super) fn is_in_space(
    space: AddressSpace,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let address = on.source_at(operands, 1, Type::U64)?;
    Some(Op::IsInSpace(on.slot(operands.first()?)?, address, window(space)?))
}

/// The emulator's type for an order.
pub(crate) fn order_of(order: Order) -> simt::Order {
    match order {
        Order::Weak => simt::Order::Weak,
        Order::Volatile | Order::Mmio => simt::Order::Volatile,
        Order::Relaxed => simt::Order::Relaxed,
        Order::Acquire => simt::Order::Acquire,
        Order::Release => simt::Order::Release,
        Order::AcquireRelease => simt::Order::AcqRel,
        Order::SequentiallyConsistent => simt::Order::SeqCst,
    }
}

/// The emulator's type for a scope.
pub(crate) fn scope_of(scope: Scope) -> simt::Scope {
    match scope {
        Scope::Block => simt::Scope::Block,
        Scope::Cluster => simt::Scope::Cluster,
        Scope::Device => simt::Scope::Device,
        Scope::System => simt::Scope::System,
    }
}
