//! Instructions that GPUs approximate: within the documented bounds, exact at the edges, and listed.

use ptx_run::Program;

use crate::support::{check, module, results};

const NUMBERS: [f32; 17] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    1e-3,
    -7.25,
    100.0,
    1e10,
    1e-30,
    1e-40,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// Checks an instruction against a function of f64, with a relative error of at most 2^-22.
fn compare(text: &str, of: fn(f64, f64) -> f64) {
    let count = NUMBERS.len();
    let bits = |at: usize| u64::from(NUMBERS[at].to_bits());
    let rows: Vec<[u64; 3]> =
        (0..count * count).map(|at| [bits(at / count), bits(at % count), 0]).collect();
    let found = results(text, ["f32"; 4], &rows);
    for ([a, b, _], found) in rows.into_iter().zip(found) {
        let value = |bits: u64| f64::from(f32::from_bits(bits as u32));
        let (found, expected) = (value(found), of(value(a), value(b)));
        let single = f64::from(expected as f32);
        let is_near = (found - expected).abs() <= expected.abs() * 2f64.powi(-22) + 2f64.powi(-149);
        let fits = if single.is_finite() { is_near } else { found.total_cmp(&single).is_eq() };
        assert!(
            fits || single.is_nan() && found.is_nan(),
            "{text} of {} and {}: {found}, not {expected}",
            value(a),
            value(b)
        );
    }
}

#[test]
fn approximations_are_within_the_bounds_of_the_isa() {
    compare("ex2.approx.f32 %d, %a;", |a, _| a.exp2());
    compare("lg2.approx.f32 %d, %a;", |a, _| a.log2());
    compare("rcp.approx.f32 %d, %a;", |a, _| 1.0 / a);
    compare("rsqrt.approx.f32 %d, %a;", |a, _| 1.0 / a.sqrt());
    compare("sqrt.approx.f32 %d, %a;", |a, _| a.sqrt());
    compare("sin.approx.f32 %d, %a;", |a, _| a.sin());
    compare("cos.approx.f32 %d, %a;", |a, _| a.cos());
    compare("tanh.approx.f32 %d, %a;", |a, _| a.tanh());
    compare("div.approx.f32 %d, %a, %b;", |a, b| a / b);
    compare("div.full.f32 %d, %a, %b;", |a, b| a / b);
    compare("ex2.approx.ftz.f32 %d, %a;", |a, _| {
        let result = a.exp2();
        if result < f64::from(f32::MIN_POSITIVE) { 0.0 } else { result }
    });
}

#[test]
fn approximations_of_halves_and_doubles() {
    // 2^-1 and 2^3, and the reciprocal of 3 in the upper half of a double.
    check("ex2.approx.f16x2 %d, %a;", ["b32"; 4], &[[0xbc00_4200, 0, 0]], |_, _, _| 0x3800_4800);
    check("tanh.approx.bf16 %d, %a;", ["b16"; 4], &[[0x7f80, 0, 0]], |_, _, _| 0x3f80);
    check("rcp.approx.ftz.f64 %d, %a;", ["f64"; 4], &[[3f64.to_bits() | 1, 0, 0]], |_, _, _| {
        (1f64 / 3.0).to_bits() >> 32 << 32
    });
}

#[test]
fn inexact_instructions_are_listed_with_their_lines() {
    let text = ".visible .entry k() {
        .reg .f32 %f<3>; .reg .f64 %d<2>;
        mov.f32 %f1, 0f3F800000;
        ex2.approx.ftz.f32  %f2, %f1;
        add.rz.f32 %f2, %f1, %f1;
        div.full.f32 %f2, %f1, %f2;
    }";
    let program = Program::new(&module(text), "k").expect("it is there");
    assert_eq!(
        program.inexact().collect::<Vec<_>>(),
        [
            "`ex2.approx.ftz.f32 %f2, %f1` in line 7 of the PTX",
            "`div.full.f32 %f2, %f1, %f2` in line 9 of the PTX",
        ]
    );
    assert_eq!(program.unsupported().count(), 0);
}
