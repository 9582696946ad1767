//! Fields, positions and parts of integers, bit by bit as the ISA defines them.

use crate::support::{EDGES, check, pairs};

const MISSING: u64 = 0xffff_ffff;

#[test]
fn the_highest_bit_is_found() {
    let rows = pairs(&EDGES);
    let highest = |a: u64, width: u32, signed: bool| {
        let sign = signed && a >> (width - 1) & 1 == 1;
        (0..width).rev().find(|at| (a >> at & 1 == 1) != sign)
    };
    for (ty, width, signed) in
        [("u32", 32, false), ("s32", 32, true), ("u64", 64, false), ("s64", 64, true)]
    {
        let source = if width == 32 { "b32" } else { "b64" };
        let types = ["b32", source, source, source];
        check(&format!("bfind.{ty} %d, %a;"), types, &rows, |a, _, _| {
            highest(a, width, signed).map_or(MISSING, u64::from)
        });
        check(&format!("bfind.shiftamt.{ty} %d, %a;"), types, &rows, |a, _, _| {
            highest(a, width, signed).map_or(MISSING, |at| u64::from(width - 1 - at))
        });
    }
}

#[test]
fn the_nth_one_is_found_in_both_directions() {
    let numbers = [0, 1, 2, 3, 5, 30, 31, 32, 0xffff_ffff, 0xffff_fffe, 0x8000_0000, 0x1248_9631];
    check("fns.b32 %d, %a, %b, %c;", ["b32"; 4], &pairs(&numbers), |mask, from, n| {
        let n = n as u32 as i32;
        let (mut at, mut left) = (from as i64, n.unsigned_abs());
        while (0..32).contains(&at) {
            if mask >> at & 1 == 1 {
                if left <= 1 {
                    return at as u64;
                }
                left -= 1;
            }
            at += i64::from(n.signum());
            if n == 0 {
                break;
            }
        }
        MISSING
    });
}

#[test]
fn masks_and_signs_have_widths_that_are_bounded_or_wrap() {
    let rows = pairs(&[0, 1, 4, 15, 31, 32, 33, 63, 64, 0xffff_ffff, 0x8765_4321]);
    let mask = |from: u64, count: u64| {
        (0..32).filter(|it| (from..from + count).contains(it)).map(|it| 1 << it).sum()
    };
    check("bmsk.clamp.b32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| mask(a, b));
    check("bmsk.wrap.b32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| mask(a & 31, b & 31));
    let extended = |a: u64, bits: u64, signed: bool| -> u64 {
        let sign = signed && bits > 0 && a >> (bits.min(32) - 1) & 1 == 1;
        (0..32).map(|at| if at < bits { a >> at & 1 } else { sign.into() } << at).sum()
    };
    check("szext.clamp.u32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| extended(a, b, false));
    check("szext.clamp.s32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| extended(a, b, true));
    check("szext.wrap.u32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| extended(a, b & 31, false));
    check("szext.wrap.s32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| extended(a, b & 31, true));
}

#[test]
fn products_of_24_bits_ignore_the_upper_ones() {
    let rows = pairs(&[0, 1, 0x00ff_ffff, 0x0080_0000, 0x007f_ffff, 0xff12_3456, 0xffff_ffff]);
    let signed = |a: u64| (a as i32) << 8 >> 8;
    let unsigned = |a: u64| a & 0x00ff_ffff;
    let of = move |a: u64, b: u64| i64::from(signed(a)) * i64::from(signed(b));
    check("mul24.lo.u32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| {
        u64::from((unsigned(a) * unsigned(b)) as u32)
    });
    check("mul24.hi.u32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| {
        u64::from(((unsigned(a) * unsigned(b)) >> 16) as u32)
    });
    check("mul24.lo.s32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| u64::from(of(a, b) as u32));
    check("mul24.hi.s32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| {
        u64::from((of(a, b) >> 16) as u32)
    });
    check("mad24.lo.s32 %d, %a, %b, %c;", ["b32"; 4], &rows, |a, b, c| {
        u64::from((of(a, b) as u32).wrapping_add(c as u32))
    });
    check("mad24.hi.u32 %d, %a, %b, %c;", ["b32"; 4], &rows, |a, b, c| {
        u64::from((((unsigned(a) * unsigned(b)) >> 16) as u32).wrapping_add(c as u32))
    });
    check("mad24.hi.sat.s32 %d, %a, %b, %c;", ["b32"; 4], &rows, |a, b, c| {
        u64::from(((of(a, b) >> 16) as i32).saturating_add(c as i32) as u32)
    });
}

#[test]
fn scalar_products_extend_each_part() {
    let rows = pairs(&[0, 0x7f80_ff01, 0x8080_8080, 0xffff_ffff, 0x7fff_8000, 0x0102_0304]);
    let byte = |a: u64, at: u32, signed: bool| {
        let byte = (a >> (8 * at)) as u8;
        if signed { i64::from(byte as i8) } else { i64::from(byte) }
    };
    let half = |a: u64, at: u32, signed: bool| {
        let half = (a >> (16 * at)) as u16;
        if signed { i64::from(half as i16) } else { i64::from(half) }
    };
    for (first, second) in [("u32", "u32"), ("u32", "s32"), ("s32", "u32"), ("s32", "s32")] {
        let signs = (first == "s32", second == "s32");
        let text = format!("dp4a.{first}.{second} %d, %a, %b, %c;");
        check(&text, ["b32"; 4], &rows, |a, b, c| {
            let sum: i64 = (0..4).map(|at| byte(a, at, signs.0) * byte(b, at, signs.1)).sum();
            u64::from((c as i64 + sum) as u32)
        });
        for (part, from) in [("lo", 0), ("hi", 2)] {
            let text = format!("dp2a.{part}.{first}.{second} %d, %a, %b, %c;");
            check(&text, ["b32"; 4], &rows, |a, b, c| {
                let sum: i64 =
                    (0..2).map(|at| half(a, at, signs.0) * byte(b, from + at, signs.1)).sum();
                u64::from((c as i64 + sum) as u32)
            });
        }
    }
}

#[test]
fn integers_are_bounded_and_packed() {
    let rows = pairs(&[
        0,
        1,
        7,
        8,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff_ffff,
        0xffff_ff80,
        0x8000_0000,
    ]);
    let bound = |a: u64, bits: u32, signed: bool| {
        let (low, high) =
            if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        (i64::from(a as i32).clamp(low, high) as u64) & ((1 << bits) - 1)
    };
    for (ty, bits, signed) in [("u16", 16, false), ("s16", 16, true)] {
        check(&format!("cvt.pack.sat.{ty}.s32 %d, %a, %b;"), ["b32"; 4], &rows, |a, b, _| {
            bound(a, bits, signed) << 16 | bound(b, bits, signed)
        });
    }
    for (ty, bits, signed) in [("u8", 8, false), ("s8", 8, true), ("u4", 4, false), ("s2", 2, true)]
    {
        check(
            &format!("cvt.pack.sat.{ty}.s32.b32 %d, %a, %b, %c;"),
            ["b32"; 4],
            &rows,
            |a, b, c| {
                let parts = bound(a, bits, signed) << bits | bound(b, bits, signed);
                (c << (2 * bits) | parts) & 0xffff_ffff
            },
        );
    }
}

#[test]
fn a_sign_selects_and_is_copied() {
    let floats = [0.0f32, -0.0, 1.0, -1.0, 1e-40, -1e-40, f32::INFINITY, f32::NAN];
    let rows: Vec<[u64; 3]> = floats.iter().map(|it| [7, 9, it.to_bits().into()]).collect();
    let value = |bits: u64| f32::from_bits(bits as u32);
    check("slct.b32.f32 %d, %a, %b, %c;", ["b32", "b32", "b32", "f32"], &rows, |a, b, c| {
        if value(c) >= 0.0 { a } else { b }
    });
    check("slct.ftz.u64.f32 %d, %a, %b, %c;", ["b64", "b64", "b64", "f32"], &rows, |a, b, c| {
        if value(c) >= -f32::MIN_POSITIVE && value(c) != -f32::MIN_POSITIVE { a } else { b }
    });
    check(
        "slct.s32.s32 %d, %a, %b, %c;",
        ["b32"; 4],
        &rows,
        |a, b, c| {
            if (c as i32) >= 0 { a } else { b }
        },
    );
    let all: Vec<u64> = floats.iter().map(|it| it.to_bits().into()).collect();
    check("copysign.f32 %d, %a, %b;", ["f32"; 4], &pairs(&all), |a, b, _| {
        b & 0x7fff_ffff | a & 0x8000_0000
    });
    let all: Vec<u64> = floats.iter().map(|it| f64::from(*it).to_bits()).collect();
    check("copysign.f64 %d, %a, %b;", ["f64"; 4], &pairs(&all), |a, b, _| {
        b & i64::MAX as u64 | a & 1 << 63
    });
}

#[test]
fn floats_are_tested_for_their_class() {
    let floats = [0.0f32, -0.0, 1.0, 1e-40, -1e-45, f32::MAX, f32::NEG_INFINITY, f32::NAN];
    type Of = fn(f64, bool) -> bool;
    let cases: [(&str, Of); 6] = [
        ("finite", |a, _| a.is_finite()),
        ("infinite", |a, _| a.is_infinite()),
        ("number", |a, _| !a.is_nan()),
        ("notanumber", |a, _| a.is_nan()),
        ("normal", |a, subnormal| a.is_finite() && a != 0.0 && !subnormal),
        ("subnormal", |_, subnormal| subnormal),
    ];
    for (class, of) in cases {
        let rows: Vec<[u64; 3]> = floats.iter().map(|it| [it.to_bits().into(), 0, 0]).collect();
        let text = format!("testp.{class}.f32 %p1, %a; selp.b32 %d, 1, 0, %p1;");
        check(&text, ["b32", "f32", "f32", "f32"], &rows, |a, _, _| {
            let value = f32::from_bits(a as u32);
            of(value.into(), value.is_subnormal()).into()
        });
        let rows: Vec<[u64; 3]> =
            floats.iter().map(|it| [f64::from(*it).to_bits(), 0, 0]).collect();
        let text = format!("testp.{class}.f64 %p1, %a; selp.b32 %d, 1, 0, %p1;");
        check(&text, ["b32", "f64", "f64", "f64"], &rows, |a, _, _| {
            of(f64::from_bits(a), f64::from_bits(a).is_subnormal()).into()
        });
    }
}
