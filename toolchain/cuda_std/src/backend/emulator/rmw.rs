//! Atomic read-modify-write operations: one checked access, then plain arithmetic. No other
//! emulated thread runs before the next access.

use super::access::announce;
use super::{order_of, scope_in, space_of};
use crate::memory::{Atomic, AtomicInt, Ordering, Scope, Space};
use simt::Access;

/// Replaces the value at `at` with `f(value)` and returns the old one.
#[track_caller]
pub(super) unsafe fn update<T: Copy + Default + 'static, S: Space>(
    at: S::Address,
    order: Ordering,
    scope: Scope,
    f: impl FnOnce(T) -> T,
) -> T {
    let pointer: *mut T = core::ptr::with_exposed_provenance_mut(S::to_bits(at) as usize);
    let access = Access::atomic(space_of::<S>(), order_of(order), scope_in::<S>(scope));
    if announce::<T>(pointer.cast(), size_of::<T>(), access) {
        // SAFETY: the emulator found these bytes live, aligned and written; only this thread runs.
        unsafe {
            let old = pointer.read();
            pointer.write(f(old));
            old
        }
    } else {
        T::default()
    }
}

macro_rules! operations {
    ($ty:ty: $($name:ident: $f:expr;)*) => {$(
        #[track_caller]
        unsafe fn $name<S: Space>(at: S::Address, value: $ty, order: Ordering, scope: Scope) -> $ty {
            let f: fn($ty, $ty) -> $ty = $f;
            // SAFETY: the contract of a view.
            unsafe { update::<$ty, S>(at, order, scope, |old| f(old, value)) }
        }
    )*};
}

macro_rules! atomic {
    ($ty:ty, $bits:expr, $add:expr) => {
        impl Atomic for $ty {
            operations! { $ty:
                add: $add;
                exchange: |_, new| new;
            }

            #[track_caller]
            unsafe fn compare_exchange<S: Space>(
                at: S::Address,
                current: $ty,
                new: $ty,
                order: Ordering,
                scope: Scope,
            ) -> $ty {
                let bits = $bits;
                // SAFETY: the contract of a view.
                unsafe {
                    update::<$ty, S>(at, order, scope, |old| {
                        if bits(old) == bits(current) { new } else { old }
                    })
                }
            }

            #[track_caller]
            unsafe fn reduce_add<S: Space>(
                at: S::Address,
                value: $ty,
                order: Ordering,
                scope: Scope,
            ) {
                if !matches!(order, Ordering::Relaxed | Ordering::Release) {
                    simt::trap("an addition without a result can be Relaxed or Release only");
                }
                // SAFETY: the contract of a view.
                unsafe { <$ty>::add::<S>(at, value, order, scope) };
            }
        }
    };
}
atomic!(u32, |x: u32| x, |a, b| a.wrapping_add(b));
atomic!(i32, |x: i32| x, |a, b| a.wrapping_add(b));
atomic!(u64, |x: u64| x, |a, b| a.wrapping_add(b));
atomic!(i64, |x: i64| x, |a, b| a.wrapping_add(b));
atomic!(f32, f32::to_bits, |a, b| a + b);
atomic!(f64, f64::to_bits, |a, b| a + b);

macro_rules! atomic_int {
    ($($ty:ty),*) => {$(
        impl AtomicInt for $ty {
            operations! { $ty:
                sub: |a, b| a.wrapping_sub(b);
                min: |a, b| a.min(b);
                max: |a, b| a.max(b);
                and: |a, b| a & b;
                or: |a, b| a | b;
                xor: |a, b| a ^ b;
            }
        }
    )*};
}
atomic_int!(u32, i32, u64, i64);

#[track_caller]
pub(crate) unsafe fn inc<S: Space>(
    at: S::Address,
    limit: u32,
    order: Ordering,
    scope: Scope,
) -> u32 {
    // SAFETY: the contract of a view.
    unsafe { update::<u32, S>(at, order, scope, |old| if old >= limit { 0 } else { old + 1 }) }
}
