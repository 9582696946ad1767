//! Conversions between all types.

use crate::support::{EDGES, check, pairs};

fn rows(values: &[f32]) -> Vec<[u64; 3]> {
    values.iter().map(|it| [it.to_bits().into(), 0, 0]).collect()
}

#[test]
fn integers_are_extended_and_cut() {
    let rows = pairs(&EDGES);
    type Of = fn(u64) -> u64;
    let cases: [(&str, [&str; 2], Of); 9] = [
        ("cvt.u64.u32", ["b64", "b32"], |a| a as u32 as u64),
        ("cvt.s64.s32", ["b64", "b32"], |a| a as i32 as i64 as u64),
        ("cvt.u32.u64", ["b32", "b64"], |a| a as u32 as u64),
        ("cvt.s32.s8", ["b32", "b32"], |a| a as i8 as i32 as u32 as u64),
        ("cvt.u32.u8", ["b32", "b32"], |a| a as u8 as u64),
        ("cvt.s8.s32", ["b32", "b32"], |a| a as i8 as i32 as u32 as u64),
        ("cvt.u16.s64", ["b16", "b64"], |a| a as u16 as u64),
        ("cvt.s64.s16", ["b64", "b16"], |a| a as i16 as i64 as u64),
        ("cvt.u64.s8", ["b64", "b32"], |a| a as i8 as i64 as u64),
    ];
    for (text, [to, from], of) in cases {
        check(&format!("{text} %d, %a;"), [to, from, "b64", "b64"], &rows, |a, _, _| of(a));
    }
    let types = ["b32", "b64", "b64", "b64"];
    check("cvt.sat.s32.s64 %d, %a;", types, &rows, |a, _, _| {
        u64::from((a as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u32)
    });
    check("cvt.sat.u8.s64 %d, %a;", types, &rows, |a, _, _| (a as i64).clamp(0, 255) as u64);
}

#[test]
fn floats_become_integers_in_four_directions() {
    let values =
        [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.7, 1e10, -1e10, 3e38, f32::INFINITY, f32::NAN];
    let types = ["b32", "f32", "b64", "b64"];
    type Of = fn(f32) -> f32;
    let cases: [(&str, Of); 4] = [
        ("rni", f32::round_ties_even),
        ("rzi", f32::trunc),
        ("rmi", f32::floor),
        ("rpi", f32::ceil),
    ];
    for (direction, of) in cases {
        // Conversions of Rust are bounded, and make 0 of NaN, too.
        let of = |bits: u64| of(f32::from_bits(bits as u32));
        check(&format!("cvt.{direction}.s32.f32 %d, %a;"), types, &rows(&values), |a, _, _| {
            u64::from(of(a) as i32 as u32)
        });
        check(&format!("cvt.{direction}.u32.f32 %d, %a;"), types, &rows(&values), |a, _, _| {
            u64::from(of(a) as u32)
        });
        let numbers = &values[..values.len() - 1];
        check(&format!("cvt.{direction}.f32.f32 %d, %a;"), types, &rows(numbers), |a, _, _| {
            of(a).to_bits().into()
        });
    }
    let types = ["b64", "f32", "b64", "b64"];
    check("cvt.rzi.s64.f32 %d, %a;", types, &rows(&values), |a, _, _| {
        f32::from_bits(a as u32) as i64 as u64
    });
}

#[test]
fn integers_become_floats_in_four_directions() {
    let rows = pairs(&EDGES);
    let single = ["f32", "b64", "b64", "b64"];
    check("cvt.rn.f32.s64 %d, %a;", single, &rows, |a, _, _| (a as i64 as f32).to_bits().into());
    check("cvt.rn.f32.u64 %d, %a;", single, &rows, |a, _, _| (a as f32).to_bits().into());
    check("cvt.rn.f64.s64 %d, %a;", ["f64"; 4], &rows, |a, _, _| (a as i64 as f64).to_bits());
    let wide = [[(1u64 << 24) + 1, 0, 0], [(1 << 24) + 3, 0, 0]];
    let bits = |value: f32| u64::from(value.to_bits());
    let negative: Vec<[u64; 3]> = wide.iter().map(|row| [row[0].wrapping_neg(), 0, 0]).collect();
    for (direction, up, down) in [("rz", 0, 0), ("rm", 0, 2), ("rp", 2, 0)] {
        let text = format!("cvt.{direction}.f32.s64 %d, %a;");
        check(&text, single, &wide, |a, _, _| bits((a - 1 + up) as f32));
        check(&text, single, &negative, |a, _, _| bits(-((a.wrapping_neg() - 1 + down) as f32)));
    }
}

#[test]
fn doubles_are_rounded_to_singles() {
    let values = [0.1, -0.1, 1e-46, 1e-45, 2e-39, 1e39, -1e39, 16_777_217.0, f64::INFINITY, 0.0];
    let rows: Vec<[u64; 3]> = values.iter().map(|it| [it.to_bits(), 0, 0]).collect();
    let types = ["f32", "f64", "f64", "f64"];
    let value = |bits: u64| f64::from_bits(bits);
    check("cvt.rn.f32.f64 %d, %a;", types, &rows, |a, _, _| (value(a) as f32).to_bits().into());
    // The neighbour of the nearest float, if that is on the wrong side.
    let directed = |a: f64, up: bool| {
        let near = a as f32;
        let wrong = if up { f64::from(near) < a } else { f64::from(near) > a };
        let next = if up { near.next_up() } else { near.next_down() };
        u64::from(if wrong { next } else { near }.to_bits())
    };
    check("cvt.rp.f32.f64 %d, %a;", types, &rows, |a, _, _| directed(value(a), true));
    check("cvt.rm.f32.f64 %d, %a;", types, &rows, |a, _, _| directed(value(a), false));
    check("cvt.rz.f32.f64 %d, %a;", types, &rows, |a, _, _| directed(value(a), value(a) < 0.0));
    let types = ["f64", "f32", "f32", "f32"];
    let rows = [[0.1f32.to_bits().into(), 0, 0], [1e-45f32.to_bits().into(), 0, 0]];
    check("cvt.f64.f32 %d, %a;", types, &rows, |a, _, _| {
        f64::from(f32::from_bits(a as u32)).to_bits()
    });
    let rows: Vec<[u64; 3]> =
        [-0.5f32, 0.25, 7.0, f32::NAN].iter().map(|it| [it.to_bits().into(), 0, 0]).collect();
    check("cvt.sat.f32.f32 %d, %a;", ["f32"; 4], &rows, |a, _, _| {
        let value = f32::from_bits(a as u32);
        u64::from(if value > 0.0 { value.min(1.0) } else { 0.0 }.to_bits())
    });
}

#[test]
fn every_half_becomes_a_single_and_back() {
    let all: Vec<[u64; 3]> = (0..=u64::from(u16::MAX)).map(|bits| [bits, 0, 0]).collect();
    let (exponents, nan) = (0x7c00, |bits: u64| bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0);
    check("cvt.f32.f16 %d, %a;", ["f32", "b16", "b16", "b16"], &all, |a, _, _| {
        let magnitude = match a & 0x7fff {
            it if nan(it) => return 0x7fff_ffff,
            it if it >= exponents => f32::INFINITY,
            it if it < 0x400 => it as f32 / 16_777_216.0,
            it => ((it & 0x3ff | 0x400) as f32) * 2f32.powi((it >> 10) as i32 - 25),
        };
        u64::from(magnitude.to_bits()) | (a >> 15) << 31
    });
    let text = ".reg .f32 %f; cvt.f32.f16 %f, %a; cvt.rn.f16.f32 %d, %f;";
    check(text, ["b16"; 4], &all, |a, _, _| if nan(a) { 0x7fff } else { a });
    let text = ".reg .f32 %f; cvt.f32.bf16 %f, %a; cvt.rn.bf16.f32 %d, %f;";
    let nan = |bits: u64| bits & 0x7fff > 0x7f80;
    check(text, ["b16"; 4], &all, |a, _, _| if nan(a) { 0x7fff } else { a });
}

#[test]
fn singles_are_rounded_to_pairs_of_halves() {
    // Halfway between 1 and the next half, and above it; halfway to infinity.
    let ties = [1.0 + 2f32.powi(-11), 1.0 + 3.0 * 2f32.powi(-11), 65520.0, 65519.0, -1e-8];
    let halves = [0x3c00u64, 0x3c02, 0x7c00, 0x7bff, 0x8000];
    for (value, half) in ties.into_iter().zip(halves) {
        let rows = [[1f32.to_bits().into(), value.to_bits().into(), 0]];
        check("cvt.rn.f16x2.f32 %d, %a, %b;", ["b32", "f32", "f32", "b32"], &rows, |_, _, _| {
            0x3c00 << 16 | half
        });
    }
}

#[test]
fn conversions_to_short_floats_cut_negative_numbers_and_flush() {
    let values = [1.5f32, -1.5, -0.0, f32::NAN, f32::NEG_INFINITY, 1e-40];
    let types = ["b16", "f32", "f32", "f32"];
    let expected = |positive: u64| {
        move |a: u64, _: u64, _: u64| {
            let value = f32::from_bits(a as u32);
            if value.is_nan() {
                0x7fff
            } else if value == 1.5 {
                positive
            } else {
                0
            }
        }
    };
    check("cvt.rn.relu.f16.f32 %d, %a;", types, &rows(&values), expected(0x3e00));
    let values = &values[..5];
    check("cvt.rn.relu.bf16.f32 %d, %a;", types, &rows(values), expected(0x3fc0));
    check("cvt.rn.ftz.f16.f32 %d, %a;", types, &rows(&[1e-40, -1e-40]), |a, _, _| a >> 16 & 0x8000);
}

#[test]
fn singles_are_rounded_to_the_upper_bits_of_tf32() {
    let rows: Vec<[u64; 3]> = [0x3f80_0000, 0x3f80_1000, 0x3f80_0fff, 0x3f80_3000, 0xbf80_1000]
        .map(|it| [it, 0, 0])
        .into();
    let types = ["b32", "f32", "f32", "f32"];
    check("cvt.rna.tf32.f32 %d, %a;", types, &rows, |a, _, _| (a + 0x1000) >> 13 << 13);
    check("cvt.rn.tf32.f32 %d, %a;", types, &rows, |a, _, _| {
        (a + 0xfff + (a >> 13 & 1)) >> 13 << 13
    });
}
