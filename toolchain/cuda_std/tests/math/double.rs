//! The functions of `f64`, against 256-bit numbers.

use crate::{Bound, random_bits};
use astro_float::{BigFloat, Consts, RoundingMode};
use cuda_std::math;

/// Bits of a reference. If it differs from 1 by 2⁻¹⁰⁰, 156 bits remain.
const BITS: usize = 256;
const EXACT: RoundingMode = RoundingMode::None;

/// A reference with as many arguments as the function.
type Reference = fn(&[BigFloat], &mut Consts) -> BigFloat;

/// A function of one or two arguments, and their range: numbers up to a size, with either sign or
/// only positive.
struct Case {
    bound: Bound<fn(&[f64]) -> f64, Reference>,
    sizes: &'static [f64],
    signed: bool,
}

const fn case(
    name: &'static str,
    ulp: f64,
    (sizes, signed): (&'static [f64], bool),
    function: fn(&[f64]) -> f64,
    reference: Reference,
) -> Case {
    Case { bound: Bound { name, function, reference, ulp }, sizes, signed }
}

/// The same number. `from_f64` converts subnormal numbers wrongly, so they are scaled first.
fn big(x: f64) -> BigFloat {
    let scaled = |scale: f64| BigFloat::from_f64(x * scale, BITS);
    match x.is_subnormal() {
        true => scaled(2f64.powi(600)).mul(&big(2f64.powi(-600)), BITS, EXACT),
        false => scaled(1.0),
    }
}

macro_rules! method {
    ($name:ident) => {
        |x, constants| x[0].$name(BITS, EXACT, constants)
    };
}

/// The table in the documentation of `math`.
const CASES: [Case; 25] = [
    case(
        "rsqrt",
        1.5,
        (&[1e300], false),
        |x| math::rsqrt(x[0]),
        |x, _| big(1.0).div(&x[0].sqrt(BITS, EXACT), BITS, EXACT),
    ),
    case("exp", 0.9, (&[700.0], true), |x| math::exp(x[0]), method!(exp)),
    case(
        "exp2",
        0.6,
        (&[1020.0], true),
        |x| math::exp2(x[0]),
        |x, constants| big(2.0).pow(&x[0], BITS, EXACT, constants),
    ),
    case(
        "exp_m1",
        0.8,
        (&[700.0], true),
        |x| math::exp_m1(x[0]),
        |x, constants| x[0].exp(BITS, EXACT, constants).sub(&big(1.0), BITS, EXACT),
    ),
    case("ln", 0.7, (&[1e300], false), |x| math::ln(x[0]), method!(ln)),
    case("log2", 0.7, (&[1e300], false), |x| math::log2(x[0]), method!(log2)),
    case("log10", 0.6, (&[1e300], false), |x| math::log10(x[0]), method!(log10)),
    case(
        "ln_1p",
        0.7,
        (&[1e300], false),
        |x| math::ln_1p(x[0]),
        |x, constants| x[0].add(&big(1.0), BITS, EXACT).ln(BITS, EXACT, constants),
    ),
    case("sin", 0.8, (&[1e30], true), |x| math::sin(x[0]), method!(sin)),
    case("cos", 0.8, (&[1e30], true), |x| math::cos(x[0]), method!(cos)),
    case("sin_cos", 0.8, (&[1e30], true), |x| math::sin_cos(x[0]).1, method!(cos)),
    case("tan", 0.9, (&[1e30], true), |x| math::tan(x[0]), method!(tan)),
    case("asin", 1.0, (&[1.0], true), |x| math::asin(x[0]), method!(asin)),
    case("acos", 0.9, (&[1.0], true), |x| math::acos(x[0]), method!(acos)),
    case("atan", 0.8, (&[1e30], true), |x| math::atan(x[0]), method!(atan)),
    case("sinh", 1.6, (&[700.0], true), |x| math::sinh(x[0]), method!(sinh)),
    case("cosh", 1.3, (&[700.0], true), |x| math::cosh(x[0]), method!(cosh)),
    case("tanh", 1.9, (&[20.0], true), |x| math::tanh(x[0]), method!(tanh)),
    case("asinh", 1.6, (&[1e30], true), |x| math::asinh(x[0]), method!(asinh)),
    case("acosh", 1.5, (&[1e6], false), |x| math::acosh(x[0]), method!(acosh)),
    case("atanh", 1.7, (&[1.0], true), |x| math::atanh(x[0]), method!(atanh)),
    case(
        "atan2",
        1.6,
        (&[1e9, 1e9], false),
        |x| math::atan2(x[0], x[1]),
        |x, constants| x[0].div(&x[1], BITS, EXACT).atan(BITS, EXACT, constants),
    ),
    case("cbrt", 0.51, (&[1e300], true), |x| math::cbrt(x[0]), |x, _| x[0].cbrt(BITS, EXACT)),
    case(
        "powf",
        0.9,
        (&[1e9, 30.0], false),
        |x| math::powf(x[0], x[1]),
        |x, constants| x[0].pow(&x[1], BITS, EXACT, constants),
    ),
    case(
        "hypot",
        1.0,
        (&[1e100, 1e100], true),
        |x| math::hypot(x[0], x[1]),
        |x, _| {
            let square = |x: &BigFloat| x.mul(x, BITS, EXACT);
            square(&x[0]).add(&square(&x[1]), BITS, EXACT).sqrt(BITS, EXACT)
        },
    ),
];

/// The leading word of a number as a fraction of 1, and the number's exponent.
fn fraction_and_exponent(number: &BigFloat) -> (f64, i32) {
    let (words, ..) = number.as_raw_parts().expect("a number");
    let leading = *words.last().expect("a number has words");
    (leading as f64 / 2f64.powi(64), number.exponent().expect("a number"))
}

/// The distance between `result` and `exact`, in units in the last place there.
fn error(result: f64, exact: &BigFloat) -> f64 {
    if exact.is_nan() {
        return if result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let difference = exact.sub_full_prec(&big(result));
    if !result.is_finite() || exact.is_zero() || difference.is_zero() {
        return if difference.is_zero() { 0.0 } else { f64::INFINITY };
    }
    let (fraction, exponent) = fraction_and_exponent(&difference);
    let (_, of_exact) = fraction_and_exponent(exact);
    fraction * 2f64.powi(exponent - (of_exact - 53).max(-1074))
}

#[test]
fn errors_are_measured_in_units_in_the_last_place() {
    assert_eq!(error(1.0, &big(1.0)), 0.0);
    assert_eq!(error(1.0 + f64::EPSILON, &big(1.0)), 1.0);
    assert_eq!(error(4.0, &big(4.0 + 8.0 * f64::EPSILON)), 2.0);
    assert_eq!(error(f64::from_bits(3), &big(f64::from_bits(1))), 2.0);
    assert_eq!(error(f64::NAN, &big(1.0)), f64::INFINITY);
    assert_eq!(error(1.0, &BigFloat::nan(None)), f64::INFINITY);
}

/// A number of up to `size`. Half of the numbers are spread evenly, half by their exponents, down
/// to 2⁻¹⁰⁰.
fn number(bits: u64, size: f64, signed: bool) -> f64 {
    let spread = (bits >> 12) as f64 / 2f64.powi(52);
    let positive = match bits & 2 {
        0 => size * spread,
        _ => 2f64.powf(spread * (size.log2() + 100.0) - 100.0),
    };
    if signed && bits & 1 == 1 { -positive } else { positive }
}

/// Tests `count` numbers, or pairs, for each function.
fn check(count: usize) {
    let mut constants = Consts::new().expect("memory");
    let mut broken = Vec::new();
    for Case { bound, sizes, signed } in &CASES {
        let mut bits = random_bits(11);
        let mut worst = (0.0, Vec::new());
        for _ in 0..count {
            let bits = bits.by_ref();
            let x: Vec<f64> =
                sizes.iter().zip(bits).map(|(&size, bits)| number(bits, size, *signed)).collect();
            let exact: Vec<_> = x.iter().map(|&x| big(x)).collect();
            let found = error((bound.function)(&x), &(bound.reference)(&exact, &mut constants));
            if found > worst.0 {
                worst = (found, x);
            }
        }
        let (found, at) = worst;
        let line = format!(
            "{}: {found:.4} units in the last place at {at:?}, and {} is the bound",
            bound.name, bound.ulp
        );
        println!("{line}");
        broken.extend((found > bound.ulp).then_some(line));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn functions_of_f64_are_within_their_bounds() {
    check(2000);
}

/// The source of the bounds.
#[test]
#[ignore = "takes minutes"]
fn functions_of_many_f64_are_within_their_bounds() {
    check(200_000);
}
