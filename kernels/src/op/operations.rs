//! The basic operations.

use super::{Bits, Number, Operation, Widen};
use core::marker::PhantomData;
use cuda_std::memory::Scalar;

macro_rules! widening {
    ($($(#[$doc:meta])* $name:ident: $identity:ident $combine:ident, $exact:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<T, A = T>(PhantomData<fn(T) -> A>);

        impl<T, A> $name<T, A> {
            /// The operation.
            #[inline(always)]
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<T: Widen<A>, A: Number> Operation for $name<T, A> {
            type Element = T;
            type Accumulator = A;
            type Output = A;
            const COMMUTATIVE: bool = true;
            const EXACT: bool = $exact;

            #[inline(always)]
            fn identity(self) -> A {
                A::$identity
            }

            #[inline(always)]
            fn lift(self, element: T, _index: u64) -> A {
                element.widen()
            }

            #[inline(always)]
            fn combine(self, a: A, b: A) -> A {
                a.$combine(b)
            }

            #[inline(always)]
            fn settled(self, all: A) -> A {
                all.canonical()
            }

            #[inline(always)]
            fn finish(self, all: A) -> A {
                all.canonical()
            }
        }
    )*};
}
widening! {
    /// The sum of elements of `T`, accumulated in `A`. Sums of 32-bit integers need not fit in 32
    /// bits: use 64, and [`WideSum`](super::WideSum) for 64-bit integers.
    Sum: ZERO add, A::EXACT;
    /// The product of elements of `T`, accumulated in `A`.
    Product: ONE mul, A::EXACT;
    /// The minimum of elements of `T`, as `A`: NaN if any is NaN, and −0 < +0.
    Min: GREATEST min, true;
    /// The maximum of elements of `T`, as `A`: NaN if any is NaN, and −0 < +0.
    Max: LEAST max, true;
}

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident: $identity:ident $combine:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<T>(PhantomData<fn(T)>);

        impl<T> $name<T> {
            /// The operation.
            #[inline(always)]
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<T: Bits> Operation for $name<T> {
            type Element = T;
            type Accumulator = T;
            type Output = T;
            const COMMUTATIVE: bool = true;
            const EXACT: bool = true;

            #[inline(always)]
            fn identity(self) -> T {
                T::$identity
            }

            #[inline(always)]
            fn lift(self, element: T, _index: u64) -> T {
                element
            }

            #[inline(always)]
            fn combine(self, a: T, b: T) -> T {
                a.$combine(b)
            }

            #[inline(always)]
            fn finish(self, all: T) -> T {
                all
            }
        }
    )*};
}
bitwise! {
    /// The bitwise exclusive or of all elements.
    Xor: NONE xor;
    /// The bitwise and of all elements.
    And: ALL and;
    /// The bitwise or of all elements.
    Or: NONE or;
}

/// The number of elements that differ from zero: NaN does, −0 does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count<T>(PhantomData<fn(T)>);

impl<T> Count<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Scalar + PartialEq> Operation for Count<T> {
    type Element = T;
    type Accumulator = u64;
    type Output = u64;
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> u64 {
        0
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> u64 {
        u64::from(element != T::default())
    }

    #[inline(always)]
    fn combine(self, a: u64, b: u64) -> u64 {
        a + b
    }

    #[inline(always)]
    fn finish(self, all: u64) -> u64 {
        all
    }
}
