//! Arithmetic of f32 and f64 in all directions, with flushed subnormals and bounds.

use crate::support::{check, pairs};

const EDGES: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    0.1,
    -0.3,
    3.0,
    7.0,
    1e-7,
    16_777_217.0,
    -33_554_435.0,
    1e30,
    -1e-30,
    1.2e-38,
    -1e-40,
    1.4e-45,
    3.4e38,
    -3.4e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn singles() -> Vec<[u64; 3]> {
    pairs(&EDGES.map(|it| (it as f32).to_bits().into()))
}

fn doubles() -> Vec<[u64; 3]> {
    let large = [1.1, 4e200, -7e-200, 1.0 + f64::EPSILON, 1e16];
    let all = EDGES.into_iter().chain(large).map(f64::to_bits);
    pairs(&all.collect::<Vec<_>>())
}

/// A float, and a number with the sign of what its rounding to the nearest has lost.
type Rounded = (f64, f64);

fn sum(a: f64, b: f64) -> Rounded {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

fn product(a: f64, b: f64) -> Rounded {
    (a * b, a.mul_add(b, -(a * b)))
}

fn quotient(a: f64, b: f64) -> Rounded {
    let quotient = a / b;
    (quotient, (-quotient).mul_add(b, a) * b.signum())
}

fn root(a: f64) -> Rounded {
    (a.sqrt(), (-a.sqrt()).mul_add(a.sqrt(), a))
}

/// The result in a direction: 1 up, -1 down, 0 towards zero.
fn directed((near, lost): Rounded, direction: i32) -> f64 {
    let up = match direction {
        0 => near < 0.0,
        direction => direction > 0,
    };
    let (next, is_wrong) =
        if up { (near.next_up(), lost > 0.0) } else { (near.next_down(), lost < 0.0) };
    if is_wrong && near.is_finite() { next } else { near }
}

/// The same for f32, from a result of f64 and what it has lost.
fn directed_single((near, lost): Rounded, direction: i32) -> u64 {
    let single = near as f32;
    if single.is_nan() {
        return 0x7fff_ffff;
    }
    // The loss of both roundings has the sign of the first one that lost anything.
    let lost = if near.is_infinite() || f64::from(single) == near {
        lost
    } else {
        near - f64::from(single)
    };
    let up = match direction {
        0 => near < 0.0,
        direction => direction > 0,
    };
    let is_wrong = if up { lost > 0.0 } else { lost < 0.0 };
    let next = if up { single.next_up() } else { single.next_down() };
    u64::from(if is_wrong && !near.is_infinite() { next } else { single }.to_bits())
}

/// Exact zeros that come from numbers of different signs are negative only if rounded down.
fn with_zero(a: f64, b: f64, direction: i32, of: Rounded) -> Rounded {
    let cancels = of.0 == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    if cancels { (if direction < 0 { -0.0 } else { 0.0 }, 0.0) } else { of }
}

const DIRECTIONS: [(&str, i32); 3] = [("rz", 0), ("rm", -1), ("rp", 1)];

#[test]
fn singles_are_rounded_in_three_directions() {
    let value = |bits: u64| f64::from(f32::from_bits(bits as u32));
    for (name, direction) in DIRECTIONS {
        let compare = |text: &str, of: &dyn Fn(f64, f64, f64) -> Rounded| {
            let text = text.replace("RND", name);
            check(&text, ["f32"; 4], &singles(), |a, b, c| {
                directed_single(of(value(a), value(b), value(c)), direction)
            });
        };
        compare("add.RND.f32 %d, %a, %b;", &|a, b, _| with_zero(a, b, direction, sum(a, b)));
        compare("sub.RND.f32 %d, %a, %b;", &|a, b, _| with_zero(a, -b, direction, sum(a, -b)));
        compare("mul.RND.f32 %d, %a, %b;", &|a, b, _| product(a, b));
        compare("fma.RND.f32 %d, %a, %b, %c;", &|a, b, c| {
            with_zero(a * b, c, direction, sum(a * b, c))
        });
        compare("div.RND.f32 %d, %a, %b;", &|a, b, _| quotient(a, b));
        compare("rcp.RND.f32 %d, %a;", &|a, _, _| quotient(1.0, a));
        compare("sqrt.RND.f32 %d, %a;", &|a, _, _| root(a));
    }
}

#[test]
fn doubles_are_rounded_in_three_directions() {
    for (name, direction) in DIRECTIONS {
        let compare = |text: &str, of: &dyn Fn(f64, f64) -> Rounded| {
            let text = text.replace("RND", name);
            // The error is exact only without overflow and underflow; NaN has any payload.
            let fits = |&[a, b, _]: &[u64; 3]| {
                let (a, b) = (f64::from_bits(a), f64::from_bits(b));
                let (near, _) = of(a, b);
                near == 0.0 && (a == 0.0 || b == 0.0)
                    || near.is_finite() && near.abs() > 1e-280 && near.abs() < 1e300
            };
            let rows: Vec<_> = doubles().into_iter().filter(fits).collect();
            assert!(rows.len() > 200, "{text}: {}", rows.len());
            check(&text, ["f64"; 4], &rows, |a, b, _| {
                directed(of(f64::from_bits(a), f64::from_bits(b)), direction).to_bits()
            });
        };
        compare("add.RND.f64 %d, %a, %b;", &|a, b| with_zero(a, b, direction, sum(a, b)));
        compare("sub.RND.f64 %d, %a, %b;", &|a, b| with_zero(a, -b, direction, sum(a, -b)));
        compare("mul.RND.f64 %d, %a, %b;", &product);
        compare("div.RND.f64 %d, %a, %b;", &quotient);
        compare("rcp.RND.f64 %d, %a;", &|a, _| quotient(1.0, a));
        compare("sqrt.RND.f64 %d, %a;", &|a, _| root(a));
    }
}

#[test]
fn fma_of_doubles_is_exact_before_it_is_rounded() {
    // 1 + 2^-53 - 2^-106 times 1 + 2^-53 is above a tie by less than f64 shows.
    let (above, one) = (1.0 + f64::EPSILON, 1.0f64);
    let tiny = f64::from_bits(1);
    let rows = [
        ([above, above, -1.0], 0, above.mul_add(above, -1.0)),
        ([one, one, tiny], 1, above),
        ([one, one, -tiny], -1, one.next_down()),
        ([one, one, -tiny], 0, one.next_down()),
        ([-one, one, tiny], 0, -(one.next_down())),
        ([1e200, 1e200, -f64::MAX], 0, f64::MAX),
        ([1e200, -1e200, 1.0], 1, -f64::MAX),
        ([1e-200, 1e-200, 0.0], 1, tiny),
        ([1e-200, 1e-200, 0.0], -1, 0.0),
        ([f64::MAX, 2.0, f64::NEG_INFINITY], 1, f64::NEG_INFINITY),
    ];
    for (row, direction, expected) in rows {
        let (name, _) = DIRECTIONS.into_iter().find(|it| it.1 == direction).expect("a direction");
        let text = format!("fma.{name}.f64 %d, %a, %b, %c;");
        check(&text, ["f64"; 4], &[row.map(f64::to_bits)], |_, _, _| expected.to_bits());
    }
}

#[test]
fn subnormal_operands_and_results_are_flushed() {
    let flush = |bits: u64| if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
    let value = move |bits: u64| f32::from_bits(flush(bits) as u32);
    let compare = |text: &str, of: &dyn Fn(f32, f32, f32) -> f32| {
        check(text, ["f32"; 4], &singles(), |a, b, c| {
            let result = of(value(a), value(b), value(c));
            if result.is_nan() { 0x7fff_ffff } else { flush(result.to_bits().into()) }
        });
    };
    compare("add.ftz.f32 %d, %a, %b;", &|a, b, _| a + b);
    compare("mul.rn.ftz.f32 %d, %a, %b;", &|a, b, _| a * b);
    compare("fma.rn.ftz.f32 %d, %a, %b, %c;", &|a, b, c| a.mul_add(b, c));
    compare("div.rn.ftz.f32 %d, %a, %b;", &|a, b, _| a / b);
    compare("sqrt.rn.ftz.f32 %d, %a;", &|a, _, _| a.sqrt());
    let smallest = (f32::MIN_POSITIVE.to_bits()).into();
    let rows = pairs(&[0, 1, 0x8000_0001, smallest, smallest | 1 << 31, 0x0000_1234]);
    let text = "setp.lt.ftz.f32 %p1, %a, %b; selp.b32 %d, 1, 0, %p1;";
    check(text, ["b32", "f32", "f32", "f32"], &rows, |a, b, _| (value(a) < value(b)).into());
    check("cvt.ftz.f64.f32 %d, %a;", ["f64", "f32", "f32", "f32"], &rows, |a, _, _| {
        f64::from(value(a)).to_bits()
    });
}

#[test]
fn saturated_results_are_between_0_and_1() {
    let unit = |value: f32| if value > 0.0 { value.min(1.0) } else { 0.0 };
    let value = |bits: u64| f32::from_bits(bits as u32);
    check("add.sat.f32 %d, %a, %b;", ["f32"; 4], &singles(), |a, b, _| {
        unit(value(a) + value(b)).to_bits().into()
    });
    check("fma.rn.sat.f32 %d, %a, %b, %c;", ["f32"; 4], &singles(), |a, b, c| {
        unit(value(a).mul_add(value(b), value(c))).to_bits().into()
    });
}

#[test]
fn extremes_of_three_and_of_magnitudes() {
    let rows: Vec<_> = singles();
    let value = |bits: u64| f32::from_bits(bits as u32);
    let numbers = |all: [u64; 3]| all.map(value).into_iter().filter(|it| !it.is_nan());
    let bits = |it: Option<f32>| it.map_or(0x7fff_ffff, |it| u64::from(it.to_bits()));
    check("max.f32 %d, %a, %b, %c;", ["f32"; 4], &rows, |a, b, c| {
        bits(numbers([a, b, c]).max_by(f32::total_cmp))
    });
    check("min.NaN.abs.f32 %d, %a, %b, %c;", ["f32"; 4], &rows, |a, b, c| {
        let all = numbers([a, b, c]);
        bits(all.map(f32::abs).min_by(f32::total_cmp).filter(|_| numbers([a, b, c]).count() == 3))
    });
    check("max.xorsign.abs.f32 %d, %a, %b;", ["f32"; 4], &rows, |a, b, _| {
        let largest = numbers([a, b, b]).map(f32::abs).max_by(f32::total_cmp);
        match largest {
            Some(largest) => u64::from(largest.to_bits()) | (a ^ b) & 1 << 31,
            None => 0x7fff_ffff,
        }
    });
}

#[test]
fn pairs_of_singles_are_computed_apart() {
    let value = |bits: u64| f32::from_bits(bits as u32);
    let joined: Vec<[u64; 3]> =
        singles().iter().map(|[a, b, c]| [a | b << 32, c | a << 32, 0]).collect();
    check("add.rn.f32x2 %d, %a, %b;", ["b64"; 4], &joined, |a, b, _| {
        let sum = |a, b| {
            let sum = value(a) + value(b);
            if sum.is_nan() { 0x7fff_ffff } else { u64::from(sum.to_bits()) }
        };
        sum(a, b) | sum(a >> 32, b >> 32) << 32
    });
}
