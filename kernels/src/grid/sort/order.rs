//! Keys, and the order in which they are sorted.

use super::numbered::{Numbered, Numbered64};
use crate::op::Carried;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// The bits of a key.
pub trait Word: Scalar + Ord {
    /// The narrowest number that lanes can exchange.
    type Lane: Carried + Ord + From<Self>;

    /// A number together with the index of its key.
    type Numbered: Numbered<Self>;

    /// Digits of 8 bits.
    const DIGITS: u32 = size_of::<Self>() as u32;

    /// Digit `at`: 0 is the lowest. Those beyond the highest are 0.
    fn digit(self, at: u32) -> u32;

    /// Exclusive or.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// An unsigned number for the bits of a floating-point number, as described at [`Floats`].
    #[must_use]
    fn of_float(self, floats: &Floats<Self>) -> Self;

    /// The [place](Order::place) of the bits of a floating-point number.
    #[must_use]
    fn place_of_float(self) -> Self;

    /// A number for the bits of a floating-point number, in the total order.
    #[must_use]
    fn total_of_float(self) -> Self;

    /// The bits of the floating-point number with this number in the total order.
    #[must_use]
    fn float_of_total(self) -> Self;

    /// The difference, which wraps around.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// The number after twice this one.
    #[must_use]
    fn after_twice(self) -> Self;

    /// The word, computed here.
    #[must_use]
    fn here(self) -> Self;

    /// All bits.
    const ONES: Self;
    /// The lowest bit.
    const ONE: Self;
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
    ($($ty:ident: $signed:ident $held:ident $reg:ident $lane:ident $numbered:ident, $word:ident, $at:ident => $digit:expr;)*) => {$(
        impl Word for $ty {
            type Lane = $lane;
            type Numbered = $numbered;

            const ONES: Self = $ty::MAX;
            const ONE: Self = 1;
            const SIGN: Self = 1 << ($ty::BITS - 1);

            #[inline(always)]
            fn digit(self, $at: u32) -> u32 {
                let $word = self;
                $digit
            }

            #[inline(always)]
            fn here(self) -> Self {
                here!(self as $held => $reg) as Self
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn after_twice(self) -> Self {
                2 * self + 1
            }

            #[inline(always)]
            fn of_float(self, floats: &Floats<Self>) -> Self {
                let sign = (self as $signed >> ($ty::BITS - 1)) as Self;
                let number = self ^ (sign & !Self::SIGN);
                let number = sign.wrapping_mul(floats.zeros).wrapping_add(number);
                number.wrapping_add(floats.bias).min(floats.most).wrapping_add(floats.up)
            }

            #[inline(always)]
            fn place_of_float(self) -> Self {
                let sign = (self as $signed >> ($ty::BITS - 1)) as Self;
                self ^ (sign & !Self::SIGN)
            }

            #[inline(always)]
            fn total_of_float(self) -> Self {
                self ^ ((self as $signed >> ($ty::BITS - 1)) as Self | Self::SIGN)
            }

            #[inline(always)]
            fn float_of_total(self) -> Self {
                self ^ (!(self as $signed >> ($ty::BITS - 1)) as Self | Self::SIGN)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}
words! {
    // No register has 8 bits.
    u8: i8 u16 reg16 u32 u32, word, at => byte(word.into(), at);
    u16: i16 u16 reg16 u32 u32, word, at => byte(word.into(), at);
    u32: i32 u32 reg32 u32 u64, word, at => byte(word, at);
    u64: i64 u64 reg64 u64 Numbered64, word, at => byte((word >> (32 * (at / 4))) as u32, at % 4);
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

    /// A number that no other key has. Keys are sorted by it too, if none of them
    /// [is special](Self::is_special).
    fn exact(self, key: Self::Word) -> Self::Word;

    /// The key with this [exact](Self::exact) number.
    fn of_exact(self, number: Self::Word) -> Self::Word;

    /// Whether keys can be [special](Self::is_special).
    const HAS_SPECIAL: bool;

    /// Whether the key has the number of another key.
    fn is_special(self, key: Self::Word) -> bool;

    /// Whether the greatest keys come first.
    #[inline(always)]
    fn is_descending(self) -> bool {
        self.flipped().digit(0) & 1 != 0
    }

    /// The place of a key on the circle of all words, of fewer instructions than its number. Going
    /// up from [`origin`](Self::origin), keys come in the order of their numbers, or in the opposite
    /// one if that is [descending](Self::is_descending). Keys with the same number may have
    /// different places, but no other key is between them.
    fn place(self, key: Self::Word) -> Self::Word;

    /// The place where the circle begins.
    fn origin(self) -> Self::Word;

    /// The first and the last place, going up, of the keys with the number of `key`.
    fn span(self, key: Self::Word) -> [Self::Word; 2] {
        [self.place(key); 2]
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

    const HAS_SPECIAL: bool = false;

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

    #[inline(always)]
    fn exact(self, key: W) -> W {
        self.number(key)
    }

    #[inline(always)]
    fn of_exact(self, number: W) -> W {
        number.xor(self.flipped)
    }

    #[inline(always)]
    fn is_special(self, _: W) -> bool {
        false
    }

    #[inline(always)]
    fn place(self, key: W) -> W {
        key
    }

    #[inline(always)]
    fn origin(self) -> W {
        // The lowest number: 0, or only the sign bit.
        if self.is_descending() { self.flipped.xor(W::ONES) } else { self.flipped }
    }
}

/// An order of floating-point numbers.
///
/// A float is a sign and a magnitude. Its number is the magnitude or its complement, plus `bias`. If
/// `zeros` is all bits, it is the magnitude or its negative, so that both zeros have one number. And
/// `bias` then puts −∞ at 0, so that NaNs of both signs come after +∞, where `most` cuts them off. At
/// last `up` is added, so that all digits of the greatest number are 255; if descending, those of
/// the smallest are 0 already.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Floats<W> {
    flipped: W,
    /// All bits if −0 equals +0, otherwise 0.
    zeros: W,
    bias: W,
    most: W,
    up: W,
    /// A word with the last number.
    last: W,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl<W: Word> KernelArg for Floats<W> {}

impl<W: Word> Floats<W> {
    /// NumPy's order: −0 equals +0, and all NaNs are equal and come last, whatever their sign; if
    /// descending, they come first. `infinity` is the word of +∞.
    #[must_use]
    pub fn numpy(infinity: W, is_descending: bool) -> Self {
        let total = Self::total(is_descending);
        let last = if is_descending { infinity.xor(W::SIGN) } else { total.last };
        let most = infinity.after_twice();
        let up = if is_descending { W::default() } else { most.xor(W::ONES) };
        Self { zeros: W::ONES, bias: infinity, most, up, last, ..total }
    }

    /// The total order of IEEE 754: negative NaNs, −∞ … −0, +0 … +∞, positive NaNs.
    #[must_use]
    pub fn total(is_descending: bool) -> Self {
        let zero = W::default();
        let (flipped, last) =
            if is_descending { (W::ONES, W::ONES) } else { (zero, W::ONES.xor(W::SIGN)) };
        Self { flipped, zeros: zero, bias: W::SIGN, most: W::ONES, up: zero, last }
    }
}

impl<W: Word> Order for Floats<W> {
    type Word = W;

    const HAS_SPECIAL: bool = true;

    #[inline(always)]
    fn last(self) -> W {
        self.last
    }

    #[inline(always)]
    fn bits(self, key: W) -> W {
        key.of_float(&self)
    }

    #[inline(always)]
    fn flipped(self) -> W {
        self.flipped
    }

    #[inline(always)]
    fn exact(self, key: W) -> W {
        key.total_of_float().xor(self.flipped)
    }

    #[inline(always)]
    fn of_exact(self, number: W) -> W {
        number.xor(self.flipped).float_of_total()
    }

    #[inline(always)]
    fn is_special(self, key: W) -> bool {
        // One of the zeros, and all NaNs, are enough. In the total order `bias` is the sign.
        let is_zero = (key == W::SIGN) & (self.zeros != W::default());
        let magnitude = if key < W::SIGN { key } else { key.xor(W::SIGN) };
        is_zero | (magnitude > self.bias)
    }

    #[inline(always)]
    fn place(self, key: W) -> W {
        key.place_of_float()
    }

    #[inline(always)]
    fn origin(self) -> W {
        // The number of a key, without what cuts off NaNs, is its place plus `bias` minus `zeros`.
        self.zeros.minus(self.bias)
    }

    #[inline(always)]
    fn span(self, key: W) -> [W; 2] {
        // The first NaN after +∞, in the order of bits.
        let (number, nan) = (self.number(key), self.bias.minus(W::ONES));
        let ends = if self.zeros == W::default() {
            [key; 2]
        } else if number == self.number(W::SIGN) {
            [W::SIGN, W::default()]
        } else if number == self.number(nan) {
            [nan, nan.xor(W::SIGN)]
        } else {
            [key; 2]
        };
        ends.map(|key| self.place(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::{Debug, LowerHex};

    /// The numbers and the places of all `keys` of a type are in the same order.
    fn places_are_in_order<W: Word + Debug + LowerHex>(
        keys: impl Iterator<Item = W>,
        order: impl Order<Word = W>,
    ) {
        let mut keys: Vec<W> = keys.collect();
        keys.sort_by_key(|&key| order.place(key).minus(order.origin()));
        if order.is_descending() {
            keys.reverse();
        }
        for pair in keys.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|key| order.number(key));
            assert!(a <= b, "the numbers {a:x} and {b:x} of {pair:x?}");
        }
        for same in keys.chunk_by(|&a, &b| order.number(a) == order.number(b)) {
            let mut ends = [same[0], same[same.len() - 1]].map(|key| order.place(key));
            if order.is_descending() {
                ends.reverse();
            }
            for &key in same {
                assert_eq!(order.span(key), ends, "{key:x}");
            }
        }
        let mut exact: Vec<W> = keys.iter().map(|&key| order.exact(key)).collect();
        for (&key, &number) in keys.iter().zip(&exact) {
            assert_eq!(order.of_exact(number), key, "{number:x} is of {key:x}");
        }
        exact.sort();
        let numbers = exact.iter().map(|&number| order.of_exact(number));
        let numbers = numbers.filter(|&key| !order.is_special(key)).map(|key| order.number(key));
        assert!(
            numbers.is_sorted_by(|a, b| a < b),
            "keys that are not special have their own numbers"
        );
    }

    #[test]
    fn places_and_exact_numbers_have_the_order_of_numbers() {
        let bytes = || 0..=u8::MAX;
        let halves = || 0..=u16::MAX;
        for is_descending in [false, true] {
            places_are_in_order(bytes(), Integers::<u8>::new(false, is_descending));
            places_are_in_order(bytes(), Integers::<u8>::new(true, is_descending));
            places_are_in_order(halves(), Integers::<u16>::new(false, is_descending));
            places_are_in_order(halves(), Integers::<u16>::new(true, is_descending));
            places_are_in_order(halves(), Floats::<u16>::total(is_descending));
            // +∞ of f16 and of bf16.
            for infinity in [0x7c00, 0x7f80] {
                let order = Floats::<u16>::numpy(infinity, is_descending);
                places_are_in_order(halves(), order);
            }
        }
    }
}
