//! Computations on registers. A register has 64 bits, and those above its type are 0.
//!
//! Each function of this module chooses a plain function for a type when a program is resolved, so
//! that running an instruction is one call.

mod approximate;
pub(crate) mod bits;
pub(crate) mod carry;
pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod dot;
pub(crate) mod exact;
pub(crate) mod float;
pub(crate) mod general;
pub(crate) mod integer;
pub(crate) mod pack;
pub(crate) mod round;
pub(crate) mod update;

use self::general::General;

pub(crate) type Unary = fn(u64) -> u64;
pub(crate) type Binary = fn(u64, u64) -> u64;
pub(crate) type Ternary = fn(u64, u64, u64) -> u64;
pub(crate) type Quaternary = fn(u64, u64, u64, u64) -> u64;

/// A computation of one to four registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compute {
    One(Unary),
    Two(Binary),
    /// `and` or `or`, of which one operand may determine the result.
    Masking(Binary),
    Three(Ternary),
    Four(Quaternary),
}

impl Compute {
    /// The number of registers.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) | Self::Masking(_) => 2,
            Self::Three(_) => 3,
            Self::Four(_) => 4,
        }
    }
}

/// A function of two values, as atomics and reductions have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Join {
    Plain(Binary),
    Float(General),
}

impl Join {
    /// The function of two registers.
    pub(crate) fn of(&self, a: u64, b: u64) -> u64 {
        match self {
            Self::Plain(function) => function(a, b),
            Self::Float(general) => general.compute([a, b, 0]),
        }
    }
}

/// A closure for an integer type, as a function of registers. `$width` is the number of bits.
macro_rules! integers {
    ($ty:expr, $function:ty, |$($name:ident),*; $width:ident| $body:expr) => {
        integers!(@ $ty, $function, ($($name),*), $width, $body;
            U16 | Type::B16, u16, u16; U32 | Type::B32, u32, u32; U64 | Type::B64, u64, u64;
            S16, i16, u16; S32, i32, u32; S64, i64, u64)
    };
    (@ $ty:expr, $function:ty, $names:tt, $width:ident, $body:expr;
        $($pattern:ident $(| $other:path)?, $number:ty, $unsigned:ty);*) => {
        match $ty {
            $(Type::$pattern $(| $other)? => Some(
                integers!(@closure $function, $names, $number, $unsigned, $width, $body)
            ),)*
            _ => None,
        }
    };
    (@closure $function:ty, ($($name:ident),*), $number:ty, $unsigned:ty, $width:ident,
        $body:expr) => {{
        let function: $function = |$($name: u64),*| {
            $(let $name = $name as $number;)*
            let $width = <$number>::BITS;
            let _ = $width;
            let result: $number = $body;
            u64::from(result as $unsigned)
        };
        function
    }};
}
pub(crate) use integers;

/// The lowest `width` bits.
pub(crate) fn low_bits(value: u64, width: u32) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// A number of `width` bits in two's complement, extended to 64.
pub(crate) fn extended(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (value << unused).cast_signed() >> unused
}

/// The element of a register at an index.
pub(crate) fn lane(value: u64, index: u32, width: u32) -> u64 {
    low_bits(value >> (index * width), width)
}

/// A register with these elements.
pub(crate) fn from_lanes(lanes: u32, width: u32, of: impl Fn(u32) -> u64) -> u64 {
    (0..lanes).fold(0, |all, index| all | low_bits(of(index), width) << (index * width))
}
