//! Floats, bit for bit against Rust.

use crate::support::{check, pairs};

const SINGLES: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    3.0,
    1e-45,
    -1e-40,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    16_777_217.0,
    1e-20,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

fn singles() -> Vec<[u64; 3]> {
    pairs(&SINGLES.map(|it| it.to_bits().into()))
}

fn doubles() -> Vec<[u64; 3]> {
    let large = [1e300, -1e-308, 5e-324, f64::MAX, 0.1, 9_007_199_254_740_993.0];
    let all = SINGLES.iter().map(|&it| f64::from(it).to_bits()).chain(large.map(f64::to_bits));
    pairs(&all.collect::<Vec<_>>())
}

/// The NaN of `f32` on a GPU.
const NAN: u64 = 0x7fff_ffff;

fn single(of: impl Fn(f32, f32, f32) -> f32) -> impl Fn(u64, u64, u64) -> u64 {
    move |a, b, c| {
        let value = |bits: u64| f32::from_bits(bits as u32);
        let result = of(value(a), value(b), value(c));
        if result.is_nan() { NAN } else { result.to_bits().into() }
    }
}

fn double(of: impl Fn(f64, f64, f64) -> f64) -> impl Fn(u64, u64, u64) -> u64 {
    move |a, b, c| of(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits()
}

#[test]
fn arithmetic_of_f32_is_rounded_to_the_nearest() {
    let check = |text: &str, of: fn(f32, f32, f32) -> f32| {
        check(text, ["f32"; 4], &singles(), single(of));
    };
    check("add.f32 %d, %a, %b;", |a, b, _| a + b);
    check("sub.rn.f32 %d, %a, %b;", |a, b, _| a - b);
    check("mul.f32 %d, %a, %b;", |a, b, _| a * b);
    check("div.rn.f32 %d, %a, %b;", |a, b, _| a / b);
    check("fma.rn.f32 %d, %a, %b, %c;", |a, b, c| a.mul_add(b, c));
    check("sqrt.rn.f32 %d, %a;", |a, _, _| a.sqrt());
    check("rcp.rn.f32 %d, %a;", |a, _, _| 1.0 / a);
}

#[test]
fn arithmetic_of_f64_is_rounded_to_the_nearest() {
    // The payload of a NaN that an operation makes depends on the machine: numbers only.
    let check = |text: &str, of: fn(f64, f64, f64) -> f64| {
        let is_number = |&[a, b, c]: &[u64; 3]| !f64::from_bits(double(of)(a, b, c)).is_nan();
        let rows: Vec<_> = doubles().into_iter().filter(is_number).collect();
        assert!(rows.len() > 200);
        check(text, ["f64"; 4], &rows, double(of));
    };
    check("add.f64 %d, %a, %b;", |a, b, _| a + b);
    check("sub.rn.f64 %d, %a, %b;", |a, b, _| a - b);
    check("mul.f64 %d, %a, %b;", |a, b, _| a * b);
    check("div.rn.f64 %d, %a, %b;", |a, b, _| a / b);
    check("fma.rn.f64 %d, %a, %b, %c;", |a, b, c| a.mul_add(b, c));
    check("sqrt.rn.f64 %d, %a;", |a, _, _| a.sqrt());
}

#[test]
fn extremes_prefer_numbers_and_order_zeros() {
    let less = |a: f32, b: f32| a < b || a == b && a.is_sign_negative();
    check(
        "min.f32 %d, %a, %b;",
        ["f32"; 4],
        &singles(),
        single(|a, b, _| if a.is_nan() || !b.is_nan() && less(b, a) { b } else { a }),
    );
    check(
        "max.f32 %d, %a, %b;",
        ["f32"; 4],
        &singles(),
        single(|a, b, _| if a.is_nan() || !b.is_nan() && less(a, b) { b } else { a }),
    );
    check(
        "max.NaN.f32 %d, %a, %b;",
        ["f32"; 4],
        &singles(),
        single(|a, b, _| {
            if a.is_nan() || b.is_nan() {
                f32::NAN
            } else if less(a, b) {
                b
            } else {
                a
            }
        }),
    );
}

#[test]
fn signs_of_floats_are_bits() {
    check("neg.f32 %d, %a;", ["f32"; 4], &singles(), |a, _, _| a ^ 1 << 31);
    check("abs.f32 %d, %a;", ["f32"; 4], &singles(), |a, _, _| a & 0x7fff_ffff);
    check("neg.f64 %d, %a;", ["f64"; 4], &doubles(), |a, _, _| a ^ 1 << 63);
    check("abs.f64 %d, %a;", ["f64"; 4], &doubles(), |a, _, _| a & !(1 << 63));
}

#[test]
fn comparisons_of_floats_know_nan() {
    type Of = fn(f32, f32) -> bool;
    let cases: [(&str, Of); 14] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a < b || b < a),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| a == b || a.is_nan() || b.is_nan()),
        ("neu", |a, b| a != b),
        ("ltu", |a, b| a < b || a.is_nan() || b.is_nan()),
        ("leu", |a, b| a <= b || a.is_nan() || b.is_nan()),
        ("gtu", |a, b| a > b || a.is_nan() || b.is_nan()),
        ("geu", |a, b| a >= b || a.is_nan() || b.is_nan()),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ];
    for (relation, of) in cases {
        let text = format!("setp.{relation}.f32 %p1, %a, %b; selp.b32 %d, 1, 0, %p1;");
        check(&text, ["b32", "f32", "f32", "f32"], &singles(), |a, b, _| {
            u64::from(of(f32::from_bits(a as u32), f32::from_bits(b as u32)))
        });
    }
}

#[test]
fn literals_are_bits_or_decimal() {
    let rows = [[1f32.to_bits().into(), 0, 0]];
    check("add.f32 %d, %a, 0f3F000000;", ["f32"; 4], &rows, single(|_, _, _| 1.5));
    check("add.f32 %d, %a, 0.1;", ["f32"; 4], &rows, single(|_, _, _| 1.1));
    let rows = [[1f64.to_bits(), 0, 0]];
    check("add.f64 %d, %a, 0d3FB999999999999A;", ["f64"; 4], &rows, double(|_, _, _| 1.1));
}
