//! Numbers of keys with indices, which are all different.

/// The number of a key, and below it the index of the key, so that no two are equal.
pub trait Numbered<W>: Copy + Default {
    /// Joins them. The index is below 2^16.
    fn new(number: W, index: u32) -> Self;

    /// The index.
    fn index(self) -> u32;

    /// The smaller one first.
    #[must_use]
    fn in_order(a: Self, b: Self) -> [Self; 2];
}

macro_rules! numbered {
    ($($word:ident in $ty:ident << $shift:literal)*) => {$(
        impl Numbered<$word> for $ty {
            #[inline(always)]
            fn new(number: $word, index: u32) -> Self {
                $ty::from(number) << $shift | $ty::from(index)
            }

            #[inline(always)]
            fn index(self) -> u32 {
                self as u32 & 0xffff
            }

            #[inline(always)]
            fn in_order(a: Self, b: Self) -> [Self; 2] {
                if b < a { [b, a] } else { [a, b] }
            }
        }
    )*};
}
numbered! { u8 in u32 << 16 u16 in u32 << 16 u32 in u64 << 32 }

/// A number of 64 bits, and an index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbered64 {
    number: u64,
    index: u32,
}

impl Numbered<u64> for Numbered64 {
    #[inline(always)]
    fn new(number: u64, index: u32) -> Self {
        Self { number, index }
    }

    #[inline(always)]
    fn index(self) -> u32 {
        self.index
    }

    #[inline(always)]
    fn in_order(a: Self, b: Self) -> [Self; 2] {
        let is_before = (b.number < a.number) | ((b.number == a.number) & (b.index < a.index));
        if is_before { [b, a] } else { [a, b] }
    }
}
