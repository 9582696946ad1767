//! The functions of `f32`, against the standard library's functions of `f64`.

use crate::{Bound, random_bits};
use cuda_std::math;
use std::fmt::Debug;
use std::thread;

type Unary = Bound<fn(f32) -> f32, fn(f64) -> f64>;
type Binary = Bound<fn(f32, f32) -> f32, fn(f64, f64) -> f64>;

/// The table in the documentation of `math`.
const UNARY: [Unary; 23] = {
    const fn of(
        name: &'static str,
        ulp: f64,
        function: fn(f32) -> f32,
        reference: fn(f64) -> f64,
    ) -> Unary {
        Bound { name, function, reference, ulp }
    }
    [
        of("rsqrt", 1.5, math::rsqrt, |x| 1.0 / x.sqrt()),
        of("exp", 1.1, math::exp, f64::exp),
        of("exp2", 1.1, math::exp2, f64::exp2),
        of("exp_m1", 0.9, math::exp_m1, f64::exp_m1),
        of("ln", 1.0, math::ln, f64::ln),
        of("log2", 1.0, math::log2, f64::log2),
        of("log10", 0.9, math::log10, f64::log10),
        of("ln_1p", 0.9, math::ln_1p, f64::ln_1p),
        of("sin", 1.5, math::sin, f64::sin),
        of("cos", 1.5, math::cos, f64::cos),
        of("sin_cos.0", 1.5, |x| math::sin_cos(x).0, f64::sin),
        of("tan", 3.5, math::tan, f64::tan),
        of("asin", 0.8, math::asin, f64::asin),
        of("acos", 0.9, math::acos, f64::acos),
        of("atan", 0.9, math::atan, f64::atan),
        of("sinh", 1.9, math::sinh, f64::sinh),
        of("cosh", 1.4, math::cosh, f64::cosh),
        of("tanh", 1.4, math::tanh, f64::tanh),
        of("asinh", 1.8, math::asinh, f64::asinh),
        of("acosh", 2.0, math::acosh, f64::acosh),
        of("atanh", 1.7, math::atanh, f64::atanh),
        of("cbrt", 0.51, math::cbrt, f64::cbrt),
        of("sin_cos.1", 1.5, |x| math::sin_cos(x).1, f64::cos),
    ]
};

const BINARY: [Binary; 3] = [
    Bound { name: "powf", function: math::powf, reference: f64::powf, ulp: 0.9 },
    Bound { name: "atan2", function: math::atan2, reference: f64::atan2, ulp: 1.6 },
    Bound { name: "hypot", function: math::hypot, reference: f64::hypot, ulp: 0.9 },
];

/// The distance between `result` and `exact`, in units in the last place there. Infinite if only
/// one is NaN, or if a zero has the wrong sign.
fn error(result: f32, exact: f64) -> f64 {
    if exact.is_nan() || result.is_nan() {
        return if exact.is_nan() && result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 || exact.is_infinite() {
        let same = f64::from(result).to_bits() == exact.to_bits();
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let ulp = f64::powi(2.0, exponent.clamp(-126, 127) - 23);
    // If a result overflows, infinity counts as the next number after the largest.
    let number = |x: f64| x.clamp(-f64::powi(2.0, 128), f64::powi(2.0, 128));
    (number(result.into()) - number(exact)).abs() / ulp
}

#[test]
fn errors_are_measured_in_units_in_the_last_place() {
    assert_eq!(error(1.0, 1.0), 0.0);
    assert_eq!(error(1.0, 1.0 + f64::from(f32::EPSILON) / 2.0), 0.5);
    assert_eq!(error(f32::from_bits(3), f64::from(f32::from_bits(1))), 2.0);
    assert_eq!(error(f32::INFINITY, f32::MAX.into()), 1.0);
    assert_eq!(error(f32::INFINITY, 1e300), 0.0);
    assert_eq!(error(0.0, -0.0), f64::INFINITY);
    assert_eq!(error(f32::NAN, 1.0), f64::INFINITY);
}

/// The largest error among `inputs`, and the input that has it.
fn greatest<T: Debug>(inputs: impl Iterator<Item = T>, error: impl Fn(&T) -> f64) -> (f64, String) {
    let errors = inputs.map(|input| (error(&input), input));
    let found = errors.max_by(|a, b| a.0.total_cmp(&b.0));
    found.map_or((0.0, String::new()), |(error, input)| (error, format!("{input:?}")))
}

/// Pairs of any numbers, of numbers of similar size, and of a number and a small power.
fn pairs(seed: u64) -> impl Iterator<Item = (f32, f32)> {
    random_bits(seed).map(|bits| {
        let (x, y) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
        match bits % 3 {
            0 => (x, y),
            1 => (x, f32::from_bits((y.to_bits() & 0x83ff_ffff) | (x.to_bits() & 0x7c00_0000))),
            _ => (x.abs(), (bits >> 32) as i32 as f32 * 1e-8),
        }
    })
}

/// Tests every `step`-th number, and as many pairs, on all cores.
fn check(step: usize) {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let on_all = |part: &(dyn Fn(usize) -> (f64, String) + Sync)| {
        thread::scope(|scope| {
            let parts: Vec<_> =
                (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
            let errors = parts.into_iter().map(|part| part.join().expect("no panic"));
            errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a worker")
        })
    };
    let of_one = UNARY.iter().map(|bound| {
        let found = on_all(&|worker| {
            let bits = (worker * step..1 << 32).step_by(workers * step);
            greatest(bits.map(|bits| f32::from_bits(bits as u32)), |&x| {
                error((bound.function)(x), (bound.reference)(x.into()))
            })
        });
        (bound.name, bound.ulp, found)
    });
    let of_two = BINARY.iter().map(|bound| {
        let found = on_all(&|worker| {
            greatest(pairs(worker as u64).take((1 << 32) / step / workers), |&(x, y)| {
                error((bound.function)(x, y), (bound.reference)(x.into(), y.into()))
            })
        });
        (bound.name, bound.ulp, found)
    });
    let mut broken = Vec::new();
    for (name, ulp, (found, at)) in of_one.chain(of_two) {
        let line =
            format!("{name}: {found:.4} units in the last place at {at}, and {ulp} is the bound");
        println!("{line}");
        broken.extend((found > ulp).then_some(line));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn functions_of_f32_are_within_their_bounds() {
    // A prime, so that every exponent occurs, each with different last bits.
    check(3989);
}

/// The source of the bounds.
#[test]
#[ignore = "looks at every number, for minutes on 16 cores"]
fn functions_of_every_f32_are_within_their_bounds() {
    check(1);
}
