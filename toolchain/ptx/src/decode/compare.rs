//! Comparisons and conversions.

use super::arithmetic::{Function, ROUNDINGS, Rounding};
use super::operation::Operation;
use super::words::Words;
use crate::variable::Type;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `eq`
    Equal,
    /// `ne`
    NotEqual,
    /// `lt`, and `lo` of unsigned integers.
    Less,
    /// `le`, `ls`
    LessOrEqual,
    /// `gt`, `hi`
    Greater,
    /// `ge`, `hs`
    GreaterOrEqual,
    /// `num`: both are numbers.
    Numbers,
    /// `nan`: one of them is NaN.
    NotNumbers,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// The relation.
    pub relation: Relation,
    /// Whether it is true if one of the floats is NaN (`equ`, `ltu`, …).
    pub unordered: bool,
    /// How the result is combined with a predicate, if it is: and, or, xor.
    pub combined: Option<Function>,
    /// The type of the values.
    pub ty: Type,
    /// The type of the result of `set`. `None` for a predicate.
    pub result: Option<Type>,
    /// `.ftz`
    pub flush: bool,
}

/// `setp` or `set`.
pub(super) fn comparison(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    use Relation::{
        Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NotNumbers, Numbers,
    };
    let (relation, unordered) = words.choose(&[
        ("eq", (Equal, false)),
        ("ne", (NotEqual, false)),
        ("lt", (Less, false)),
        ("lo", (Less, false)),
        ("le", (LessOrEqual, false)),
        ("ls", (LessOrEqual, false)),
        ("gt", (Greater, false)),
        ("hi", (Greater, false)),
        ("ge", (GreaterOrEqual, false)),
        ("hs", (GreaterOrEqual, false)),
        ("equ", (Equal, true)),
        ("neu", (NotEqual, true)),
        ("ltu", (Less, true)),
        ("leu", (LessOrEqual, true)),
        ("gtu", (Greater, true)),
        ("geu", (GreaterOrEqual, true)),
        ("num", (Numbers, false)),
        ("nan", (NotNumbers, true)),
    ])?;
    let combinations = [("and", Function::And), ("or", Function::Or), ("xor", Function::Xor)];
    let combined = words.choose(&combinations);
    let result = if opcode == "set" { Some(words.ty()?) } else { None };
    let (ty, flush) = (words.ty()?, words.take("ftz"));
    Some(Operation::Compare(Comparison { relation, unordered, combined, ty, result, flush }))
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convert {
    /// The type of the result.
    pub to: Type,
    /// The type of the source.
    pub from: Type,
    /// Rounding. A conversion that loses nothing has none.
    pub rounding: Option<Rounding>,
    /// `.rni` and others: a float is rounded to an integer, also if the result is a float.
    pub to_integer: bool,
    /// `.ftz`
    pub flush: bool,
    /// `.sat`
    pub saturate: bool,
    /// `.relu`
    pub relu: bool,
}

/// `cvt`
pub(super) fn convert(words: &mut Words<'_>) -> Option<Operation> {
    let integers = [
        ("rni", Rounding::Nearest),
        ("rzi", Rounding::Zero),
        ("rmi", Rounding::Down),
        ("rpi", Rounding::Up),
    ];
    if words.take("pack") {
        return pack(words);
    }
    let whole = words.choose(&integers);
    Some(Operation::Convert(Convert {
        to_integer: whole.is_some(),
        rounding: whole.or_else(|| words.choose(&ROUNDINGS)),
        to: words.ty()?,
        from: words.ty()?,
        flush: words.take("ftz"),
        saturate: words.take("sat"),
        relu: words.take("relu"),
    }))
}

/// `cvt.pack`
fn pack(words: &mut Words<'_>) -> Option<Operation> {
    let (bits, signed) = words.choose(&[
        ("u16", (16, false)),
        ("s16", (16, true)),
        ("u8", (8, false)),
        ("s8", (8, true)),
        ("u4", (4, false)),
        ("s4", (4, true)),
        ("u2", (2, false)),
        ("s2", (2, true)),
    ])?;
    let known = words.take("sat") && words.take("s32");
    words.take("b32");
    known.then_some(Operation::Pack { bits, signed })
}
