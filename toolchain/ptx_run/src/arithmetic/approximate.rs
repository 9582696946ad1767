//! Functions that GPUs only approximate (PTX ISA, "Floating Point Instructions"). Each is computed in
//! `f64` and rounded to the nearest, which is within the bounds of the ISA. GPUs differ in the last
//! bits, also from each other. `div.approx` by more than 2^126 may be 0 on a GPU; here it is not.

use ptx::decode::{Arithmetic, Function, Rounding};

use super::round::Format;

/// The value of the function for these floats of a format.
pub(super) fn approximate(it: &Arithmetic, format: Format, [a, b]: [u64; 2]) -> u64 {
    // `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` use the upper half of a number, and return
    // that of the result.
    let halves = it.flush && format.is_double();
    let upper = |bits: u64| if halves { bits >> 32 << 32 } else { bits };
    let a = format.value(upper(a));
    let value = match it.function {
        Function::Div => a / format.value(b),
        Function::Reciprocal => a.recip(),
        Function::SquareRoot => a.sqrt(),
        Function::ReciprocalRoot => a.sqrt().recip(),
        Function::Sine => a.sin(),
        Function::Cosine => a.cos(),
        Function::Log2 => a.log2(),
        Function::Exp2 => a.exp2(),
        _ => a.tanh(),
    };
    upper(format.round(value, Rounding::Nearest))
}
