//! Exact functions, and results that are not rounded.

use cuda_std::math::{self, Float, approx};

#[test]
fn exact_functions_equal_those_of_std_bit_for_bit() {
    fn same<T: Float>(x: T) -> [T; 8] {
        [
            x.sqrt(),
            x.mul_add(x, x),
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round(),
            x.round_ties_even(),
            x.fract(),
        ]
    }
    for bits in crate::random_bits(3).take(10_000) {
        let (x, y) = (f64::from_bits(bits), f32::from_bits(bits as u32));
        let of_std = [
            x.sqrt(),
            x.mul_add(x, x),
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round(),
            x.round_ties_even(),
            x.fract(),
        ];
        assert_eq!(same(x).map(f64::to_bits), of_std.map(f64::to_bits), "{x:e}");
        let of_std = [
            y.sqrt(),
            y.mul_add(y, y),
            y.floor(),
            y.ceil(),
            y.trunc(),
            y.round(),
            y.round_ties_even(),
            y.fract(),
        ];
        assert_eq!(same(y).map(f32::to_bits), of_std.map(f32::to_bits), "{y:e}");
    }
    assert_eq!(math::sqrt(2.0f64), std::f64::consts::SQRT_2);
    assert_eq!(math::mul_add(0.1f32, 10.0, -1.0), 1.490_116_1e-8);
}

#[test]
fn functions_of_f32_have_the_same_limits_as_std() {
    type Function = fn(f32) -> f32;
    let functions: [(Function, Function); 8] = [
        (math::exp, f32::exp),
        (math::exp2, f32::exp2),
        (math::ln, f32::ln),
        (math::log2, f32::log2),
        (math::sin, f32::sin),
        (math::cos, f32::cos),
        (math::tan, f32::tan),
        (math::tanh, f32::tanh),
    ];
    let edges = [0.0, f32::INFINITY, f32::MAX, 1e-45, 1e-38];
    for (i, (ours, of_std)) in functions.into_iter().enumerate() {
        for x in edges.into_iter().flat_map(|x| [x, -x]) {
            let (ours, of_std) = (ours(x), of_std(x));
            let near = (ours - of_std).abs() <= 4.0 * f32::EPSILON * of_std.abs();
            let same = ours.to_bits() == of_std.to_bits();
            assert!(
                near || same || (ours.is_nan() && of_std.is_nan()),
                "function {i} of {x:e}: {ours:e}, {of_std:e}"
            );
            assert!(
                ours.is_nan() || ours.is_sign_negative() == of_std.is_sign_negative(),
                "function {i} of {x:e}"
            );
        }
        assert!(ours(f32::NAN).is_nan(), "function {i}");
    }
    assert_eq!((math::exp2(-3.0f32), math::log2(0.125f32)), (0.125, -3.0));
    assert_eq!((math::exp(0.0f32), math::ln(1.0f32), math::cos(0.0f32)), (1.0, 0.0, 1.0));
}

#[test]
fn approximations_are_within_their_bounds_on_the_host() {
    let relative = |found: f32, exact: f64| ((f64::from(found) - exact) / exact).abs();
    for bits in crate::random_bits(5).take(100_000) {
        let x = (bits >> 40) as f32 / (1 << 20) as f32 + 1e-3;
        let exact = f64::from(x);
        for (name, error, bound) in [
            ("sqrt", relative(approx::sqrt(x), exact.sqrt()), -23.0),
            ("rsqrt", relative(approx::rsqrt(x), 1.0 / exact.sqrt()), -22.9),
            ("recip", relative(approx::recip(x), 1.0 / exact), -23.0),
            ("div", relative(approx::div(3.0, x), 3.0 / exact), -22.0),
            ("exp2", relative(approx::exp2(x), exact.exp2()), -22.0),
            ("tanh", relative(approx::tanh(x), exact.tanh()), -11.0),
            ("sin", (f64::from(approx::sin(x)) - exact.sin()).abs(), -20.5),
            ("cos", (f64::from(approx::cos(x)) - exact.cos()).abs(), -20.5),
        ] {
            assert!(error <= f64::exp2(bound), "{name} of {x}: {error:e}");
        }
        let of_exp = 2f64.powi(-22) + exact * 2f64.powi(-23);
        assert!(relative(approx::exp(x), exact.exp()) <= of_exp, "exp of {x}");
        let logarithms =
            [(approx::ln(x), exact.ln(), -21.0), (approx::log2(x), exact.log2(), -22.0)];
        for (found, exact, relative_bound) in logarithms {
            let bound = if (0.5..2.0).contains(&x) { -22.0f64 } else { relative_bound };
            let error = (f64::from(found) - exact).abs();
            let size = if (0.5..2.0).contains(&x) { 1.0 } else { exact.abs() };
            assert!(error <= bound.exp2() * size, "logarithm of {x}: {error:e}");
        }
    }
}
