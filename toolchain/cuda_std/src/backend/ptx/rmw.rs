//! Atomic read-modify-write instructions (PTX ISA, "atom", "red").

use super::fence::fence_if_seq_cst;
use crate::memory::{Atomic, AtomicInt, Ordering, Scope, Space, SpaceKind};
use core::arch::asm;

/// Runs `$one!(ordering, scope, space, class, …)` with the parts of the instruction's name. Shared
/// memory belongs to one block, so its scope is always the block; that of a cluster is the cluster.
macro_rules! by_order_scope_space {
    ($S:ty, $order:expr, $scope:expr, $one:ident!($($rest:tt)*)) => {
        match (<$S>::KIND, $order, $scope) {
            (SpaceKind::Shared, Ordering::Relaxed, _) => $one!("relaxed", "cta", "shared", reg32, u32, $($rest)*),
            (SpaceKind::Shared, Ordering::Acquire, _) => $one!("acquire", "cta", "shared", reg32, u32, $($rest)*),
            (SpaceKind::Shared, Ordering::Release, _) => $one!("release", "cta", "shared", reg32, u32, $($rest)*),
            (SpaceKind::Shared, _, _) => $one!("acq_rel", "cta", "shared", reg32, u32, $($rest)*),
            (SpaceKind::Cluster, Ordering::Relaxed, _) => $one!("relaxed", "cluster", "shared::cluster", reg32, u32, $($rest)*),
            (SpaceKind::Cluster, Ordering::Acquire, _) => $one!("acquire", "cluster", "shared::cluster", reg32, u32, $($rest)*),
            (SpaceKind::Cluster, Ordering::Release, _) => $one!("release", "cluster", "shared::cluster", reg32, u32, $($rest)*),
            (SpaceKind::Cluster, _, _) => $one!("acq_rel", "cluster", "shared::cluster", reg32, u32, $($rest)*),
            (_, Ordering::Relaxed, Scope::Block) => $one!("relaxed", "cta", "global", reg64, u64, $($rest)*),
            (_, Ordering::Relaxed, Scope::Device) => $one!("relaxed", "gpu", "global", reg64, u64, $($rest)*),
            (_, Ordering::Relaxed, Scope::System) => $one!("relaxed", "sys", "global", reg64, u64, $($rest)*),
            (_, Ordering::Acquire, Scope::Block) => $one!("acquire", "cta", "global", reg64, u64, $($rest)*),
            (_, Ordering::Acquire, Scope::Device) => $one!("acquire", "gpu", "global", reg64, u64, $($rest)*),
            (_, Ordering::Acquire, Scope::System) => $one!("acquire", "sys", "global", reg64, u64, $($rest)*),
            (_, Ordering::Release, Scope::Block) => $one!("release", "cta", "global", reg64, u64, $($rest)*),
            (_, Ordering::Release, Scope::Device) => $one!("release", "gpu", "global", reg64, u64, $($rest)*),
            (_, Ordering::Release, Scope::System) => $one!("release", "sys", "global", reg64, u64, $($rest)*),
            (_, _, Scope::Block) => $one!("acq_rel", "cta", "global", reg64, u64, $($rest)*),
            (_, _, Scope::Device) => $one!("acq_rel", "gpu", "global", reg64, u64, $($rest)*),
            (_, _, Scope::System) => $one!("acq_rel", "sys", "global", reg64, u64, $($rest)*),
        }
    };
}

macro_rules! atom {
    ($order:literal, $scope:literal, $space:literal, $class:ident, $address:ty,
     $bits:expr, $op:literal, $value_class:ident, $ty:ty, $value:expr) => {{
        let old: $ty;
        asm!(concat!("atom.", $order, ".", $scope, ".", $space, ".", $op, " {}, [{}], {};"),
             out($value_class) old, in($class) $bits as $address, in($value_class) $value,
             options(nostack, preserves_flags));
        old
    }};
}

macro_rules! cas {
    ($order:literal, $scope:literal, $space:literal, $class:ident, $address:ty,
     $bits:expr, $cas:literal, $value_class:ident, $ty:ty, $current:expr, $new:expr) => {{
        let old: $ty;
        asm!(concat!("atom.", $order, ".", $scope, ".", $space, ".", $cas, " {}, [{}], {}, {};"),
             out($value_class) old, in($class) $bits as $address, in($value_class) $current,
             in($value_class) $new, options(nostack, preserves_flags));
        old
    }};
}

macro_rules! red {
    ($order:literal, $scope:literal, $space:literal, $class:ident, $address:ty,
     $bits:expr, $op:literal, $value_class:ident, $value:expr) => {
        asm!(concat!("red.", $order, ".", $scope, ".", $space, ".", $op, " [{}], {};"),
             in($class) $bits as $address, in($value_class) $value,
             options(nostack, preserves_flags))
    };
}

macro_rules! operation {
    ($name:ident, $op:literal, $class:ident, $ty:ty) => {
        #[inline(always)]
        unsafe fn $name<S: Space>(
            at: S::Address,
            value: $ty,
            order: Ordering,
            scope: Scope,
        ) -> $ty {
            fence_if_seq_cst::<S>(order, scope);
            let bits = S::to_bits(at);
            // SAFETY: the contract of a view.
            unsafe { by_order_scope_space!(S, order, scope, atom!(bits, $op, $class, $ty, value)) }
        }
    };
}

/// Implements [`Atomic`] for a type, given the instructions of addition, exchange and
/// compare-and-swap. Registers are untyped, so a float is exchanged and compared by its bits.
macro_rules! atomic {
    ($ty:ty, $class:ident, $add:literal, $exch:literal, $cas:literal) => {
        impl Atomic for $ty {
            operation!(add, $add, $class, $ty);
            operation!(exchange, $exch, $class, $ty);

            #[inline(always)]
            unsafe fn compare_exchange<S: Space>(
                at: S::Address,
                current: $ty,
                new: $ty,
                order: Ordering,
                scope: Scope,
            ) -> $ty {
                fence_if_seq_cst::<S>(order, scope);
                let bits = S::to_bits(at);
                // SAFETY: the contract of a view.
                unsafe {
                    by_order_scope_space!(
                        S,
                        order,
                        scope,
                        cas!(bits, $cas, $class, $ty, current, new)
                    )
                }
            }

            #[inline(always)]
            unsafe fn reduce_add<S: Space>(
                at: S::Address,
                value: $ty,
                order: Ordering,
                scope: Scope,
            ) {
                fence_if_seq_cst::<S>(order, scope);
                let bits = S::to_bits(at);
                // Without a result there is nothing to acquire, so anything stronger is a release.
                let order = match order {
                    Ordering::Relaxed => Ordering::Relaxed,
                    _ => Ordering::Release,
                };
                // SAFETY: the contract of a view.
                unsafe { by_order_scope_space!(S, order, scope, red!(bits, $add, $class, value)) }
            }
        }
    };
}
atomic!(u32, reg32, "add.u32", "exch.b32", "cas.b32");
atomic!(i32, reg32, "add.s32", "exch.b32", "cas.b32");
atomic!(f32, reg32, "add.f32", "exch.b32", "cas.b32");
atomic!(u64, reg64, "add.u64", "exch.b64", "cas.b64");
// PTX has no add.s64: two's complement addition is the same.
atomic!(i64, reg64, "add.u64", "exch.b64", "cas.b64");
atomic!(f64, reg64, "add.f64", "exch.b64", "cas.b64");

macro_rules! atomic_int {
    ($ty:ty, $class:ident, $min:literal, $max:literal, $and:literal, $or:literal, $xor:literal) => {
        impl AtomicInt for $ty {
            operation!(min, $min, $class, $ty);
            operation!(max, $max, $class, $ty);
            operation!(and, $and, $class, $ty);
            operation!(or, $or, $class, $ty);
            operation!(xor, $xor, $class, $ty);

            #[inline(always)]
            unsafe fn sub<S: Space>(
                at: S::Address,
                value: $ty,
                order: Ordering,
                scope: Scope,
            ) -> $ty {
                // SAFETY: the contract of a view.
                unsafe { <$ty>::add::<S>(at, value.wrapping_neg(), order, scope) }
            }
        }
    };
}
atomic_int!(u32, reg32, "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32");
atomic_int!(i32, reg32, "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32");
atomic_int!(u64, reg64, "min.u64", "max.u64", "and.b64", "or.b64", "xor.b64");
atomic_int!(i64, reg64, "min.s64", "max.s64", "and.b64", "or.b64", "xor.b64");

#[inline(always)]
pub(crate) unsafe fn inc<S: Space>(
    at: S::Address,
    limit: u32,
    order: Ordering,
    scope: Scope,
) -> u32 {
    operation!(inc_u32, "inc.u32", reg32, u32);
    // SAFETY: the contract of a view.
    unsafe { inc_u32::<S>(at, limit, order, scope) }
}
