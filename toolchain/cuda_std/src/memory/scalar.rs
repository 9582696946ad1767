//! The values in memory, single and in packs of 16 bytes.

use core::ops::Index;
use half::{bf16, f16};

/// A value of 1, 2, 4 or 8 bytes that one instruction loads or stores.
///
/// # Safety
///
/// `size_of::<Self>()` is 1, 2, 4 or 8 and equals the alignment, every bit pattern is valid, there is
/// no padding, and `Pack<A>` is `[A; 16 / size_of::<Self>()]`.
pub unsafe trait Scalar: Copy + Default + Send + Sync + 'static {
    /// An `A` for each value of this type that fits in 16 bytes, the widest access of a thread. One
    /// such access moves a `Pack<Self>`.
    type Pack<A: Copy>: Pack<A>;
    /// The number of values in a pack.
    const PACK: usize = 16 / size_of::<Self>();

    /// Applies `f` to each value of a pack.
    fn map_pack<A: Copy>(pack: Self::Pack<Self>, f: impl Fn(Self) -> A) -> Self::Pack<A>;
}

/// A short array; the element type determines its length. Its operations are unrolled, so that it
/// stays in registers on the device: an array indexed by a variable would be in local memory. So
/// indices must be constants, or come from [`from_fn`](Self::from_fn) or
/// [`for_each`](Self::for_each).
pub trait Pack<A: Copy>: Copy + Index<usize, Output = A> {
    /// A pack with every element equal to `value`.
    fn splat(value: A) -> Self;

    /// A pack whose element `i` is `f(i)`, called in order.
    fn from_fn(f: impl FnMut(usize) -> A) -> Self;

    /// Calls `f` with each index and its element, in order.
    fn for_each(self, f: impl FnMut(usize, A));

    /// Combines two packs element by element.
    fn zip(self, other: Self, f: impl Fn(A, A) -> A) -> Self;

    /// Combines all elements in order, as a balanced tree of neighbours.
    fn fold(self, f: impl Fn(A, A) -> A) -> A;

    /// Folds the elements into `start` one by one, from the first.
    fn in_order<B>(self, start: B, f: impl Fn(B, A) -> B) -> B;
}

macro_rules! packs {
    ($($len:literal: $($i:literal)*, $($left:literal $right:literal)*;)*) => {$(
        impl<A: Copy> Pack<A> for [A; $len] {
            #[inline(always)]
            fn splat(value: A) -> Self {
                [value; $len]
            }

            #[inline(always)]
            fn from_fn(mut f: impl FnMut(usize) -> A) -> Self {
                [$(f($i)),*]
            }

            #[inline(always)]
            fn for_each(self, mut f: impl FnMut(usize, A)) {
                $(f($i, self[$i]);)*
            }

            #[inline(always)]
            fn zip(self, other: Self, f: impl Fn(A, A) -> A) -> Self {
                [$(f(self[$i], other[$i])),*]
            }

            #[inline(always)]
            fn fold(self, f: impl Fn(A, A) -> A) -> A {
                [$(f(self[$left], self[$right])),*].fold(f)
            }

            #[inline(always)]
            fn in_order<B>(self, mut start: B, f: impl Fn(B, A) -> B) -> B {
                $(start = f(start, self[$i]);)*
                start
            }
        }
    )*};
}
packs! {
    2: 0 1, 0 1;
    4: 0 1 2 3, 0 1 2 3;
    8: 0 1 2 3 4 5 6 7, 0 1 2 3 4 5 6 7;
    16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
}

impl<A: Copy> Pack<A> for [A; 1] {
    #[inline(always)]
    fn splat(value: A) -> Self {
        [value]
    }

    #[inline(always)]
    fn from_fn(mut f: impl FnMut(usize) -> A) -> Self {
        [f(0)]
    }

    #[inline(always)]
    fn for_each(self, mut f: impl FnMut(usize, A)) {
        f(0, self[0]);
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(A, A) -> A) -> Self {
        [f(self[0], other[0])]
    }

    #[inline(always)]
    fn fold(self, _: impl Fn(A, A) -> A) -> A {
        self[0]
    }

    #[inline(always)]
    fn in_order<B>(self, start: B, f: impl Fn(B, A) -> B) -> B {
        f(start, self[0])
    }
}

macro_rules! scalars {
    ($($len:literal: $($ty:ident)*, $i:tt;)*) => {$(scalars!(@ $len $i $($ty)*);)*};
    (@ $len:literal [$($i:literal)*] $first:ident $($rest:ident)*) => {
        // SAFETY: a number of 16 / $len bytes, aligned to its size; every bit pattern is valid.
        unsafe impl Scalar for $first {
            type Pack<A: Copy> = [A; $len];

            #[inline(always)]
            fn map_pack<A: Copy>(pack: [Self; $len], f: impl Fn(Self) -> A) -> [A; $len] {
                [$(f(pack[$i])),*]
            }
        }
        scalars!(@ $len [$($i)*] $($rest)*);
    };
    (@ $len:literal [$($i:literal)*]) => {};
}
scalars! {
    16: u8 i8, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15];
    8: u16 i16 f16 bf16, [0 1 2 3 4 5 6 7];
    4: u32 i32 f32, [0 1 2 3];
    2: u64 i64 f64, [0 1];
}
