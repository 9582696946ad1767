//! Barriers in shared memory, clusters and copies.

use ptx::decode::{AddressSpace, Fence, MbarrierAction, Operation, Scope};
use ptx::{Operand, Type};

use super::operands::Operands;
use super::order_of;
use crate::code::{Op, Slot};
use crate::synchronise::{AsyncCopy, Mbarrier, Synchronise};

/// What an instruction does, if it is one of these and is supported.
pub(super) fn synchronise(
    operation: &Operation,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let done = match *operation {
        Operation::Mbarrier { action: MbarrierAction::PendingCount, .. } => {
            let state = on.source_at(operands, 1, Type::B64)?;
            Synchronise::PendingCount(on.slot(operands.first()?)?, state)
        }
        Operation::Mbarrier { action, space, order, scope } => {
            let (to, address, operand) = mbarrier(action, operands, on)?;
            let address = on.address(address)?;
            // Kernels for clusters rely on it.
            let scope = scope.unwrap_or(Scope::Cluster);
            Synchronise::Mbarrier(Mbarrier { action, space, order, scope, address, to, operand })
        }
        Operation::Fence(fence) => proxy_fence(fence)?,
        Operation::ClusterBarrier { waits: true, aligned, .. } => Synchronise::ClusterWait(aligned),
        Operation::ClusterBarrier { waits: false, order, aligned } => {
            Synchronise::ClusterArrive(order_of(order), aligned)
        }
        Operation::MapShared { shared } => Synchronise::MapShared {
            to: on.slot(operands.first()?)?,
            from: on.source_at(operands, 1, Type::U64)?,
            rank: on.source_at(operands, 2, Type::U32)?,
            generic: !shared,
        },
        Operation::BulkCopy { to, from, mbarrier } => bulk_copy(to, from, mbarrier, operands, on)?,
        Operation::CommitGroup { bulk: true } => Synchronise::CommitBulk,
        Operation::WaitGroup { bulk: true, read } => {
            Synchronise::WaitBulk { left: on.source_at(operands, 0, Type::U32)?, read }
        }
        Operation::AsyncCopy => Synchronise::AsyncCopy(async_copy(operands, on)?),
        Operation::AsyncArrive { space, increments } => {
            let address = on.address(operands.first()?)?;
            Synchronise::AsyncArrive { space, address, increments }
        }
        Operation::CommitGroup { bulk: false } => Synchronise::CommitAsync,
        Operation::WaitGroup { bulk: false, read: false } => {
            Synchronise::WaitAsync(if operands.is_empty() {
                None
            } else {
                Some(on.source_at(operands, 0, Type::U32)?)
            })
        }
        Operation::GridDependency { waits: true } => Synchronise::WaitForPrevious,
        Operation::GridDependency { waits: false } => Synchronise::LetNextStart,
        Operation::Elect => {
            let mask = on.source_at(operands, 1, Type::B32)?;
            Synchronise::Elect(on.pair(operands.first()?)?, mask)
        }
        _ => return None,
    };
    Some(Op::Synchronise(Box::new(done)))
}

/// The destination, the address and the operand of an operation of a barrier.
fn mbarrier<'o>(
    action: MbarrierAction,
    operands: &'o [Operand],
    on: &Operands<'_>,
) -> Option<(Slot, &'o Operand, Slot)> {
    use MbarrierAction as Action;
    let (to, operands) = match action {
        Action::Arrive { .. } | Action::Test { .. } => {
            let (to, operands) = operands.split_first()?;
            (on.slot(to)?, operands)
        }
        _ => (on.sink(), operands),
    };
    let (address, rest) = operands.split_first()?;
    let is_state = matches!(action, Action::Test { parity: false, .. });
    let ty = if is_state { Type::B64 } else { Type::U32 };
    let operand = match (action, rest) {
        (Action::Arrive { expects_bytes: false, completes: true, .. } | Action::Invalidate, []) => {
            on.value(1)
        }
        (Action::Invalidate, _) => return None,
        // A limit of time may follow.
        (Action::Test { waits: true, .. }, [operand, _]) | (_, [operand]) => {
            on.source(operand, ty)?
        }
        _ => return None,
    };
    Some((to, address, operand))
}

fn proxy_fence(fence: Fence) -> Option<Synchronise> {
    let (shared, global) = match fence {
        Fence::MbarrierInit => return Some(Synchronise::MbarrierFence),
        Fence::AsyncProxy(AddressSpace::Generic) => (true, true),
        Fence::AsyncProxy(AddressSpace::Global) => (false, true),
        Fence::AsyncProxy(AddressSpace::Shared | AddressSpace::SharedCluster) => (true, false),
        _ => return None,
    };
    Some(Synchronise::ProxyFence { shared, global })
}

/// A bulk copy. The policy of a cache may follow the operands.
fn bulk_copy(
    to: AddressSpace,
    from: AddressSpace,
    mbarrier: bool,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Synchronise> {
    use AddressSpace::{Global, Shared, SharedCluster};
    let [target, source, bytes, rest @ ..] = operands else { return None };
    let (target, source) = (on.address(target)?, on.address(source)?);
    let bytes = on.source(bytes, Type::U32)?;
    match (to, from, mbarrier) {
        (Shared | SharedCluster, Global, true) => {
            let barrier = on.address(rest.first()?)?;
            Some(Synchronise::BulkLoad { to: (to, target), from: source, bytes, barrier })
        }
        (Global, Shared, false) => Some(Synchronise::BulkStore { to: target, from: source, bytes }),
        _ => None,
    }
}

/// A copy of 4, 8 or 16 bytes. The policy of a cache may follow the operands.
fn async_copy(operands: &[Operand], on: &Operands<'_>) -> Option<AsyncCopy> {
    let [to, from, Operand::Integer(bytes @ (4 | 8 | 16)), rest @ ..] = operands else {
        return None;
    };
    let (to, from, bytes) = (on.address(to)?, on.address(from)?, *bytes as usize);
    let (mut read, mut ignore) = (None, None);
    match rest.first() {
        Some(Operand::Register(register)) => match on.body.registers.ty(*register) {
            Type::Pred => ignore = Some(on.predicate(&rest[0])?),
            ty if ty.bytes() == 4 => read = Some(on.source(&rest[0], ty)?),
            _ => {}
        },
        Some(negated @ Operand::Not(_)) => ignore = Some(on.predicate(negated)?),
        Some(size) => read = Some(on.source(size, Type::U32)?),
        None => {}
    }
    Some(AsyncCopy { to, from, bytes, read, ignore })
}
