//! The minimum or maximum, and its index.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Number, Operation, Widen, Words};
use core::marker::PhantomData;

/// An element of an array and its index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Indexed<A> {
    /// The element.
    pub value: A,
    /// Its index from 0, below 2^63. The identity of [`ArgMin`] and [`ArgMax`] is not an element
    /// and has [`u64::MAX`].
    pub index: u64,
}

impl<A> Indexed<A> {
    #[inline(always)]
    const fn is_identity(&self) -> bool {
        // Testing the sign needs only one word of the index.
        (self.index as i64) < 0
    }
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<A: Carried> Carried for Indexed<A> {
    const WORDS: usize = count_of_two::<A, u64>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(self.value, self.index)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (value, index) = two_of_words(words);
        Self { value, index }
    }
}

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident: $worst:ident $better:tt;)*) => {$(
        $(#[$doc])*
        /// Of equal elements, the first; −0 and +0 are equal. A NaN counts as the extreme, and the
        /// first NaN wins (as in NumPy). `None` for an empty array.
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

        impl<T, A: Number> $name<T, A> {
            /// Whether `a` is better than `b`, whatever their indices.
            // `|` and `&` here and below, because `||` and `&&` would branch.
            #[inline(always)]
            fn is_better(a: A, b: A) -> bool {
                (a $better b) | (a.is_nan() & !b.is_nan())
            }
        }

        impl<T: Widen<A>, A: Number> Operation for $name<T, A> {
            type Element = T;
            type Accumulator = Indexed<A>;
            type Output = Option<Indexed<A>>;
            const COMMUTATIVE: bool = true;
            const EXACT: bool = true;

            #[inline(always)]
            fn identity(self) -> Indexed<A> {
                Indexed { value: A::$worst, index: u64::MAX }
            }

            #[inline(always)]
            fn lift(self, element: T, index: u64) -> Indexed<A> {
                Indexed { value: element.widen(), index }
            }

            #[inline(always)]
            fn combine(self, a: Indexed<A>, b: Indexed<A>) -> Indexed<A> {
                let b_wins = Self::is_better(b.value, a.value)
                    | (!Self::is_better(a.value, b.value) & (b.index < a.index));
                if b_wins { b } else { a }
            }

            // `all` comes before the element, so an equal element never wins and indices need no
            // comparison.
            #[inline(always)]
            fn take(self, all: Indexed<A>, element: T, index: u64) -> Indexed<A> {
                let value = element.widen();
                if Self::is_better(value, all.value) | all.is_identity() {
                    Indexed { value, index }
                } else {
                    all
                }
            }

            #[inline(always)]
            fn finish(self, all: Indexed<A>) -> Option<Indexed<A>> {
                let value = all.value.canonical();
                (!all.is_identity()).then_some(Indexed { value, index: all.index })
            }
        }
    )*};
}
arguments! {
    /// The minimum of elements of `T`, as `A`, and its index.
    ArgMin: GREATEST <;
    /// The maximum of elements of `T`, as `A`, and its index.
    ArgMax: LEAST >;
}
