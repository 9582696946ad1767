//! Atomic read-modify-write operations on views (PTX ISA, `atom` and `red`).
//!
//! The orderings are those of the PTX ISA, not those that rustc implements for `core::sync::atomic`
//! on nvptx64. Up to LLVM 22 rustc loses the ordering of read-modify-write operations there, and
//! the scope is always the system. `SeqCst` puts a `fence.sc` of the same scope before an `acq_rel`
//! operation.

use super::{
    ClusterShared, ClusterSpace, Global, GlobalSpace, Ordering, Scalar, Scope, Shared, SharedSpace,
    Space,
};
use crate::backend::rmw;
use cuda_std_macros::instruction;

/// A number with atomic addition, exchange and compare-and-swap: u32, i32, u64, i64, f32 and f64.
/// Each backend implements it; kernels use the methods of the views.
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait Atomic: Scalar {
    unsafe fn add<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn exchange<S: Space>(
        at: S::Address,
        value: Self,
        order: Ordering,
        scope: Scope,
    ) -> Self;
    unsafe fn compare_exchange<S: Space>(
        at: S::Address,
        current: Self,
        new: Self,
        order: Ordering,
        scope: Scope,
    ) -> Self;
    unsafe fn reduce_add<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope);
}

/// An integer with all atomic operations: u32, i32, u64 and i64.
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait AtomicInt: Atomic {
    unsafe fn sub<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn min<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn max<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn and<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn or<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
    unsafe fn xor<S: Space>(at: S::Address, value: Self, order: Ordering, scope: Scope) -> Self;
}

macro_rules! operations {
    ($space:ident: $($(#[$doc:meta])* $name:ident => $call:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Returns the old value of element `i`.
        #[instruction]
        pub fn $name(self, i: usize, value: T, order: Ordering, scope: Scope) -> T {
            // SAFETY: the contract of the view.
            unsafe { T::$call::<$space>(self.at(i), value, order, scope) }
        }
    )*};
}

macro_rules! atomics {
    ($($name:ident: $space:ident;)*) => {$(
        impl<T: Atomic> $name<T> {
            operations! { $space:
                /// Adds `value` to element `i`: `atom.add`. Integers wrap around.
                fetch_add => add;
                /// Sets element `i` to `value`: `atom.exch`.
                exchange => exchange;
            }

            /// Sets element `i` to `new` if it holds `current`: `atom.cas`. It compares bits, so
            /// for floating point −0 and +0 differ and a NaN equals itself.
            ///
            /// Returns the old value of element `i`. The swap happened if its bits equal those of
            /// `current`.
            #[instruction]
            pub fn compare_exchange(
                self,
                i: usize,
                current: T,
                new: T,
                order: Ordering,
                scope: Scope,
            ) -> T {
                // SAFETY: the contract of the view.
                unsafe { T::compare_exchange::<$space>(self.at(i), current, new, order, scope) }
            }

            /// Adds `value` to element `i` without returning the old value: `red.add`, which the
            /// thread does not wait for. `order` is `Relaxed` or `Release`, because without a
            /// result there is nothing to acquire.
            ///
            /// # Panics
            ///
            /// In the emulator, for any other `order`.
            #[instruction]
            pub fn add(self, i: usize, value: T, order: Ordering, scope: Scope) {
                // SAFETY: the contract of the view.
                unsafe { T::reduce_add::<$space>(self.at(i), value, order, scope) }
            }
        }

        impl<T: AtomicInt> $name<T> {
            operations! { $space:
                /// Subtracts `value` from element `i`: `atom.add` of the negated value. Wraps
                /// around.
                fetch_sub => sub;
                /// Sets element `i` to the smaller of itself and `value`: `atom.min`.
                fetch_min => min;
                /// Sets element `i` to the larger of itself and `value`: `atom.max`.
                fetch_max => max;
                /// Bitwise and: `atom.and`.
                fetch_and => and;
                /// Bitwise or: `atom.or`.
                fetch_or => or;
                /// Bitwise exclusive or: `atom.xor`.
                fetch_xor => xor;
            }
        }

        impl $name<u32> {
            /// Adds one to element `i`, or sets it to 0 if it holds `limit` or more: `atom.inc`
            /// (CUDA's `atomicInc`).
            ///
            /// Returns the old value of element `i`.
            #[instruction]
            pub fn fetch_inc(self, i: usize, limit: u32, order: Ordering, scope: Scope) -> u32 {
                // SAFETY: the contract of the view.
                unsafe { rmw::inc::<$space>(self.at(i), limit, order, scope) }
            }
        }
    )*};
}
atomics! {
    Global: GlobalSpace;
    Shared: SharedSpace;
    ClusterShared: ClusterSpace;
}
