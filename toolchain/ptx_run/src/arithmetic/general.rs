//! Computations of floats of any format with any modifiers, which are looked at when they run.
//!
//! [`float`](super::float) has the frequent ones of `f32` and `f64`, which are faster.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Rounding};

use super::approximate::approximate;
use super::exact::Exact;
use super::round::Format;
use super::{from_lanes, lane};

/// A computation of one float, or of each float of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General {
    it: Arithmetic,
    format: Format,
    /// The bits of a float.
    width: u32,
    lanes: u32,
    /// The number of operands.
    pub(crate) operands: usize,
}

/// The type of an element, and how many a register has.
pub(crate) fn element(ty: Type) -> (Type, u32) {
    match ty {
        Type::F16x2 => (Type::F16, 2),
        Type::Bf16x2 => (Type::Bf16, 2),
        Type::F32x2 => (Type::F32, 2),
        one => (one, 1),
    }
}

impl General {
    /// The computation with this number of operands, if it is supported with all its modifiers.
    pub(crate) fn of(it: &Arithmetic, operands: usize) -> Option<Self> {
        use Function::{
            Abs, Add, CopySign, Cosine, Div, Exp2, Fma, Log2, Mad, Max, Min, Mul, Neg, Reciprocal,
            ReciprocalRoot, Sine, SquareRoot, Sub, Tanh,
        };
        let (ty, lanes) = element(it.ty);
        let format = Format::of(ty).filter(|_| ty != Type::Tf32)?;
        let exact = matches!(
            it.rounding,
            Some(Rounding::Nearest | Rounding::Zero | Rounding::Down | Rounding::Up)
        );
        let approximate = it.rounding == Some(Rounding::Approximate);
        let full = it.rounding == Some(Rounding::Full);
        let (counts, rounded) = match it.function {
            Add | Sub | Mul => (2..=2, exact || it.rounding.is_none()),
            Fma | Mad => (3..=3, exact),
            Div => (2..=2, exact || approximate || full),
            Reciprocal | SquareRoot => (1..=1, exact || approximate),
            ReciprocalRoot | Sine | Cosine | Log2 | Exp2 | Tanh => (1..=1, approximate),
            Abs | Neg => (1..=1, it.rounding.is_none()),
            CopySign => (2..=2, it.rounding.is_none()),
            Min | Max => (2..=3, it.rounding.is_none()),
            _ => return None,
        };
        let is_extreme = matches!(it.function, Min | Max);
        let has_bounds = matches!(it.function, Add | Sub | Mul | Fma | Mad);
        let of_extremes = it.nan || it.absolute || it.xor_sign;
        let of_others = it.variant.is_some() || it.second.is_some() || it.sets_carry;
        let fits = rounded
            && counts.contains(&operands)
            && (is_extreme || !of_extremes)
            && (has_bounds || !it.saturate)
            && (it.function == Fma || !it.relu)
            && !of_others;
        let width = ty.bytes() * 8;
        fits.then_some(Self { it: *it, format, width, lanes, operands })
    }

    /// Whether GPUs may return other results, within documented bounds.
    pub(crate) fn is_inexact(&self) -> bool {
        matches!(self.it.rounding, Some(Rounding::Approximate | Rounding::Full))
    }

    /// The result for these registers.
    pub(crate) fn compute(&self, sources: [u64; 3]) -> u64 {
        from_lanes(self.lanes, self.width, |index| {
            self.one(sources.map(|source| lane(source, index, self.width)))
        })
    }

    fn one(&self, mut sources: [u64; 3]) -> u64 {
        let (it, format) = (&self.it, self.format);
        if it.flush {
            sources = sources.map(|source| format.flushed(source));
        }
        let [a, b, _] = sources;
        let result = match it.function {
            Function::Neg => a ^ format.sign(),
            Function::Abs => a & !format.sign(),
            Function::CopySign => b & !format.sign() | a & format.sign(),
            Function::Min | Function::Max => self.extreme(&sources[..self.operands]),
            _ if self.is_inexact() => approximate(it, format, [a, b]),
            _ => self.rounded(sources.map(|source| format.value(source))),
        };
        let result = if it.flush { format.flushed(result) } else { result };
        self.bounded(result)
    }

    /// A result that is rounded once.
    fn rounded(&self, [a, b, c]: [f64; 3]) -> u64 {
        let rounding = self.it.rounding.unwrap_or(Rounding::Nearest);
        // Without a finite result the machine has the same one, in every format and direction.
        let (native, finite) = match self.it.function {
            Function::Add => (a + b, a.is_finite() && b.is_finite()),
            Function::Sub => (a - b, a.is_finite() && b.is_finite()),
            Function::Mul => (a * b, a.is_finite() && b.is_finite()),
            Function::Div => (a / b, a.is_finite() && b.is_finite() && b != 0.0),
            Function::Reciprocal => (1.0 / a, a.is_finite() && a != 0.0),
            Function::SquareRoot => (a.sqrt(), a.is_finite() && a >= 0.0),
            _ => (a.mul_add(b, c), a.is_finite() && b.is_finite() && c.is_finite()),
        };
        if !finite {
            return self.format.round(native, rounding);
        }
        let [first, second, third] = [a, b, c].map(|value| {
            // The operands that a function does not have are not numbers.
            if value.is_finite() { Exact::of(value) } else { Exact::of(0.0) }
        });
        let exact = match self.it.function {
            Function::Add => first.plus(second, rounding),
            Function::Sub => first.plus(second.negated(), rounding),
            Function::Mul => first.times(second),
            Function::Div => first.over(second),
            Function::Reciprocal => Exact::of(1.0).over(first),
            Function::SquareRoot => first.root(),
            _ => first.times(second).plus(third, rounding),
        };
        exact.round(self.format, rounding)
    }

    /// The smallest or largest operand. -0 is below 0, and a number wins over NaN unless `.NaN`.
    fn extreme(&self, sources: &[u64]) -> u64 {
        let (it, format) = (&self.it, self.format);
        let sign = format.sign();
        let signs = sources.iter().fold(0, |all, source| all ^ source & sign);
        let magnitudes =
            sources.iter().map(|&source| if it.absolute { source & !sign } else { source });
        let numbers = || magnitudes.clone().filter(|&bits| !format.is_nan(bits));
        // As integers in two's complement, floats of one sign are in order.
        let key = |bits: &u64| {
            let magnitude = (bits & !sign).cast_signed();
            if bits & sign == 0 { magnitude } else { -1 - magnitude }
        };
        let chosen = if it.function == Function::Min {
            numbers().min_by_key(key)
        } else {
            numbers().max_by_key(key)
        };
        match chosen {
            Some(_) if it.nan && numbers().count() < sources.len() => format.nan(),
            Some(bits) if it.xor_sign => bits & !sign | signs,
            Some(bits) => bits,
            None => format.nan(),
        }
    }

    /// `.sat` bounds a result to 0..=1, and `.relu` makes a negative one 0.
    fn bounded(&self, bits: u64) -> u64 {
        let (it, format) = (&self.it, self.format);
        let (nan, negative) = (format.is_nan(bits), bits & format.sign() != 0);
        if it.saturate {
            if nan || negative { 0 } else { bits.min(format.one()) }
        } else if it.relu && negative && !nan {
            0
        } else {
            bits
        }
    }
}
