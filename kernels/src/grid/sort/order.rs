//! Keys, and the order in which they are sorted.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// The bits of a key.
pub trait Word: Scalar + PartialEq {
    /// Digits of 8 bits.
    const DIGITS: u32 = size_of::<Self>() as u32;

    /// Digit `at`: 0 is the lowest.
    fn digit(self, at: u32) -> u32;

    /// Exclusive or.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// The bits of a floating-point number as an unsigned number in the total order of IEEE 754:
    /// the complement of negative ones, and the sign bit set in the others.
    #[must_use]
    fn in_total_order(self) -> Self;

    /// The word without its sign bit.
    #[must_use]
    fn magnitude(self) -> Self;

    /// Whether the word is greater, as an unsigned number.
    fn is_above(self, other: Self) -> bool;

    /// The word, computed here.
    #[must_use]
    fn here(self) -> Self;

    /// All bits.
    const ONES: Self;
    /// The sign bit.
    const SIGN: Self;
}

/// Byte `at` of a word: one `prmt`.
#[inline(always)]
fn byte(word: u32, at: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let digit: u32;
        // SAFETY: arithmetic.
        unsafe {
            core::arch::asm!("prmt.b32 {}, {}, 0, {};", out(reg32) digit, in(reg32) word,
                in(reg32) 0x4440 | at, options(pure, nomem, nostack, preserves_flags));
        }
        digit
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        word >> (8 * at) & 0xff
    }
}

/// A value, computed here: the compiler neither moves it nor keeps what it was computed from.
macro_rules! here {
    ($value:expr => $reg:ident) => {{
        let mut value = $value;
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: no instruction.
        unsafe {
            core::arch::asm!("// {}", inout($reg) value, options(nostack));
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            value = core::convert::identity(value);
        }
        value
    }};
}

macro_rules! words {
    ($($ty:ident: $signed:ident $reg:ident, $word:ident, $at:ident => $digit:expr;)*) => {$(
        impl Word for $ty {
            const ONES: Self = $ty::MAX;
            const SIGN: Self = 1 << ($ty::BITS - 1);

            #[inline(always)]
            fn digit(self, $at: u32) -> u32 {
                let $word = self;
                $digit
            }

            #[inline(always)]
            fn here(self) -> Self {
                here!(self => $reg)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn in_total_order(self) -> Self {
                self ^ ((self as $signed >> ($ty::BITS - 1)) as Self | Self::SIGN)
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self & !Self::SIGN
            }

            #[inline(always)]
            fn is_above(self, other: Self) -> bool {
                self > other
            }
        }
    )*};
}
words! {
    u16: i16 reg16, word, at => byte(word.into(), at);
    u32: i32 reg32, word, at => byte(word, at);
    u64: i64 reg64, word, at => byte((word >> (32 * (at / 4))) as u32, at % 4);
}

/// An order of keys.
pub trait Order: KernelArg + Copy {
    /// The bits of a key.
    type Word: Word;

    /// A key whose number is the greatest.
    fn last(self) -> Self::Word;

    /// An unsigned number for each key; with the bits of [`flipped`](Self::flipped) inverted, keys
    /// are sorted by it, and keys with the same number keep their order.
    fn bits(self, key: Self::Word) -> Self::Word;

    /// The bits of a number that are inverted. The kernels do this once for each value of a digit,
    /// not for each key.
    fn flipped(self) -> Self::Word;

    /// The number by which a key is sorted.
    fn number(self, key: Self::Word) -> Self::Word {
        self.bits(key).xor(self.flipped())
    }
}

/// The order of integers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Integers<W> {
    flipped: W,
}

// SAFETY: `repr(C)` of a plain number.
unsafe impl<W: Word> KernelArg for Integers<W> {}

impl<W: Word> Integers<W> {
    /// The order of signed or unsigned integers, from the smallest or the greatest.
    #[must_use]
    pub fn new(is_signed: bool, is_descending: bool) -> Self {
        let zero = W::default();
        let sign = if is_signed { W::SIGN } else { zero };
        Self { flipped: sign.xor(if is_descending { W::ONES } else { zero }) }
    }
}

impl<W: Word> Order for Integers<W> {
    type Word = W;

    #[inline(always)]
    fn last(self) -> W {
        W::ONES.xor(self.flipped)
    }

    #[inline(always)]
    fn bits(self, key: W) -> W {
        key
    }

    #[inline(always)]
    fn flipped(self) -> W {
        self.flipped
    }
}

/// An order of floating-point numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Floats<W> {
    flipped: W,
    /// The word that counts as +0.
    zero: W,
    /// The greatest magnitude that is not a NaN. All that are above it are equal.
    most: W,
    /// A word with the greatest number.
    last: W,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl<W: Word> KernelArg for Floats<W> {}

impl<W: Word> Floats<W> {
    /// NumPy's order: −0 equals +0, and all NaNs are equal and come last, whatever their sign.
    /// `infinity` is the word of +∞.
    #[must_use]
    pub fn numpy(infinity: W, is_descending: bool) -> Self {
        let last = if is_descending { infinity.xor(W::SIGN) } else { W::ONES.magnitude() };
        Self { zero: W::SIGN, most: infinity, last, ..Self::total(is_descending) }
    }

    /// The total order of IEEE 754: negative NaNs, −∞ … −0, +0 … +∞, positive NaNs.
    #[must_use]
    pub fn total(is_descending: bool) -> Self {
        let zero = W::default();
        let flipped = if is_descending { W::ONES } else { zero };
        // +0 counts as +0, and nothing is above all magnitudes.
        let last = if is_descending { W::ONES } else { W::ONES.magnitude() };
        Self { flipped, zero, most: W::ONES.magnitude(), last }
    }
}

impl<W: Word> Order for Floats<W> {
    type Word = W;

    #[inline(always)]
    fn last(self) -> W {
        self.last
    }

    #[inline(always)]
    fn bits(self, key: W) -> W {
        let key = if key == self.zero { W::default() } else { key };
        if key.magnitude().is_above(self.most) { W::ONES } else { key.in_total_order() }
    }

    #[inline(always)]
    fn flipped(self) -> W {
        self.flipped
    }
}
