//! Computations.

use super::operation::Operation;
use super::words::Words;
use crate::variable::Type;

macro_rules! functions {
    ($($name:ident, $opcode:literal, $doc:literal;)*) => {
        /// The function of a computation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function {
            $(#[doc = concat!("`", $opcode, "`: ", $doc)] $name,)*
        }

        impl Function {
            fn named(opcode: &str) -> Option<Self> {
                match opcode {
                    $($opcode => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

functions! {
    Add, "add", "a + b";
    AddCarry, "addc", "a + b + carry";
    Sub, "sub", "a - b";
    SubCarry, "subc", "a - b - carry";
    Mul, "mul", "a b, or a part of it";
    Mul24, "mul24", "a b of 24 bits";
    Mad, "mad", "a b + c, or a part of a b";
    MadCarry, "madc", "a b + c + carry";
    Mad24, "mad24", "a b + c of 24 bits";
    Fma, "fma", "a b + c, rounded once";
    Div, "div", "a / b";
    Rem, "rem", "the remainder of a / b";
    Sad, "sad", "|a - b| + c";
    Abs, "abs", "|a|";
    Neg, "neg", "-a";
    Min, "min", "the smaller one";
    Max, "max", "the larger one";
    And, "and", "bits";
    Or, "or", "bits";
    Xor, "xor", "bits";
    Not, "not", "bits";
    LogicalNot, "cnot", "1 if a is 0, otherwise 0";
    Logic3, "lop3", "bits of a, b and c by a table of eight bits";
    ShiftLeft, "shl", "a 2^b";
    ShiftRight, "shr", "a / 2^b";
    FunnelShift, "shf", "32 bits of 64 that are shifted";
    CountOnes, "popc", "the number of ones";
    LeadingZeros, "clz", "the number of zeros above the highest one";
    FindHighest, "bfind", "the highest bit that differs from the sign";
    FindNth, "fns", "the n-th one";
    Reverse, "brev", "the bits in reverse";
    ExtractBits, "bfe", "a field of a";
    InsertBits, "bfi", "b with a field from a";
    MaskOfBits, "bmsk", "a mask from a position and a width";
    ExtendSign, "szext", "a extended from a width";
    Permute, "prmt", "bytes of a and b by a selector";
    Dot4, "dp4a", "a scalar product of four bytes, plus c";
    Dot2, "dp2a", "a scalar product of two halves and bytes, plus c";
    Reciprocal, "rcp", "1 / a";
    SquareRoot, "sqrt", "the square root";
    ReciprocalRoot, "rsqrt", "1 by the square root";
    Sine, "sin", "the sine";
    Cosine, "cos", "the cosine";
    Log2, "lg2", "the logarithm to base 2";
    Exp2, "ex2", "2^a";
    Tanh, "tanh", "the hyperbolic tangent";
    CopySign, "copysign", "b with the sign of a";
    TestFloat, "testp", "whether a belongs to a class of floats";
    SelectBySign, "slct", "a if c is at least 0, otherwise b";
}

/// How a float is rounded, or how accurate it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`, `.rni`: to the nearest, ties to even.
    Nearest,
    /// `.rz`, `.rzi`: towards zero.
    Zero,
    /// `.rm`, `.rmi`: down.
    Down,
    /// `.rp`, `.rpi`: up.
    Up,
    /// `.rna`: to the nearest, ties away from zero.
    NearestAway,
    /// `.approx`: as the device does it.
    Approximate,
    /// `.full`: as the device does it, over the whole range.
    Full,
}

pub(super) const ROUNDINGS: [(&str, Rounding); 11] = [
    ("rn", Rounding::Nearest),
    ("rni", Rounding::Nearest),
    ("rz", Rounding::Zero),
    ("rzi", Rounding::Zero),
    ("rm", Rounding::Down),
    ("rmi", Rounding::Down),
    ("rp", Rounding::Up),
    ("rpi", Rounding::Up),
    ("rna", Rounding::NearestAway),
    ("approx", Rounding::Approximate),
    ("full", Rounding::Full),
];

/// A variant of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The lower half of a product, or of the second operand of `dp2a`.
    Low,
    /// The upper half.
    High,
    /// The whole product, twice as wide.
    Wide,
    /// `shf.l`, with the shift bounded to 32 (`clamp`) or taken modulo 32.
    Left {
        /// Whether it is bounded.
        clamps: bool,
    },
    /// `shf.r`, the same.
    Right {
        /// Whether it is bounded.
        clamps: bool,
    },
    /// `bfind.shiftamt`: the shift that moves the bit to the top.
    ShiftAmount,
    /// `.clamp` of a width or position.
    Clamp,
    /// `.wrap` of a width or position.
    Wrap,
    /// `prmt`: four bytes forward from the selected one.
    Forward4,
    /// `prmt`: four bytes backward.
    Backward4,
    /// `prmt`: one byte in all places.
    Replicate8,
    /// `prmt`: one half in both places.
    Replicate16,
    /// `prmt`: the bytes to the left of an edge are kept.
    EdgeLeft,
    /// `prmt`: those to the right.
    EdgeRight,
    /// `testp.finite`
    Finite,
    /// `testp.infinite`
    Infinite,
    /// `testp.number`
    Number,
    /// `testp.notanumber`
    NotANumber,
    /// `testp.normal`
    Normal,
    /// `testp.subnormal`
    Subnormal,
}

const VARIANTS: [(&str, Variant); 18] = [
    ("lo", Variant::Low),
    ("hi", Variant::High),
    ("wide", Variant::Wide),
    ("shiftamt", Variant::ShiftAmount),
    ("clamp", Variant::Clamp),
    ("wrap", Variant::Wrap),
    ("f4e", Variant::Forward4),
    ("b4e", Variant::Backward4),
    ("rc8", Variant::Replicate8),
    ("rc16", Variant::Replicate16),
    ("ecl", Variant::EdgeLeft),
    ("ecr", Variant::EdgeRight),
    ("finite", Variant::Finite),
    ("infinite", Variant::Infinite),
    ("number", Variant::Number),
    ("notanumber", Variant::NotANumber),
    ("normal", Variant::Normal),
    ("subnormal", Variant::Subnormal),
];

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// The function.
    pub function: Function,
    /// The type of its operands, or of the first ones.
    pub ty: Type,
    /// The type of the others, for `dp4a`, `dp2a` and `slct`.
    pub second: Option<Type>,
    /// Rounding. A float without one is rounded to the nearest, and may be contracted to `fma`.
    pub rounding: Option<Rounding>,
    /// Variant.
    pub variant: Option<Variant>,
    /// `.ftz`: subnormal operands and results become 0.
    pub flush: bool,
    /// `.sat`: the result is bounded, to its type or to 0..=1.
    pub saturate: bool,
    /// `.relu`: negative results become 0.
    pub relu: bool,
    /// `.NaN`: the smaller or larger of a number and NaN is NaN.
    pub nan: bool,
    /// `.abs`, `.xorsign.abs`: of the operands.
    pub absolute: bool,
    /// `.xorsign`: the sign is that of the product.
    pub xor_sign: bool,
    /// `.cc`: sets the carry.
    pub sets_carry: bool,
}

/// A computation with this function.
pub(super) fn compute(function: Function, words: &mut Words<'_>) -> Option<Arithmetic> {
    let direction = match function {
        Function::FunnelShift => Some(words.choose(&[("l", true), ("r", false)])?),
        _ => None,
    };
    let variant = match (direction, words.choose(&VARIANTS)) {
        (None, variant) => variant,
        (Some(left), Some(bound @ (Variant::Clamp | Variant::Wrap))) => {
            let clamps = bound == Variant::Clamp;
            Some(if left { Variant::Left { clamps } } else { Variant::Right { clamps } })
        }
        (Some(_), _) => return None,
    };
    let ty = words.ty()?;
    let product = matches!(function, Function::Mul | Function::Mad | Function::MadCarry);
    if product && !ty.is_float() && variant.is_none() {
        return None;
    }
    Some(Arithmetic {
        function,
        ty,
        second: words.ty(),
        rounding: words.choose(&ROUNDINGS),
        variant,
        flush: words.take("ftz"),
        saturate: words.take("sat"),
        relu: words.take("relu"),
        nan: words.take("NaN"),
        xor_sign: words.take("xorsign"),
        absolute: words.take("abs"),
        sets_carry: words.take("cc"),
    })
}

/// The computation of an opcode.
pub(super) fn arithmetic(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    compute(Function::named(opcode)?, words).map(Operation::Compute)
}

/// `redux.sync`.
pub(super) fn redux(words: &mut Words<'_>) -> Option<Operation> {
    let function = words.choose(&[
        ("add", Function::Add),
        ("min", Function::Min),
        ("max", Function::Max),
        ("and", Function::And),
        ("or", Function::Or),
        ("xor", Function::Xor),
    ])?;
    if !words.take("sync") {
        return None;
    }
    compute(function, words).map(Operation::Redux)
}
