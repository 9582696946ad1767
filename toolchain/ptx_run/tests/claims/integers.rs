//! Integers and bits, against Rust.

use crate::support::{EDGES, check, pairs};

/// Checks an instruction on a type against a closure of that type.
macro_rules! table {
    ($ty:ident as $ptx:literal in $bits:literal: $($text:literal => |$a:ident, $b:ident, $c:ident|
        $expected:expr;)*) => {$(
        let types = [$bits; 4];
        check(&format!($text, $ptx), types, &pairs(&EDGES), |a, b, c| {
            let ($a, $b, $c) = (a as $ty, b as $ty, c as $ty);
            let _ = ($a, $b, $c);
            let result: $ty = $expected;
            let mask = u64::MAX >> (64 - $ty::BITS);
            result as u64 & mask
        });
    )*};
}

macro_rules! arithmetic {
    ($($ty:ident as $ptx:literal in $bits:literal, $double:ident;)*) => {$(
        table! { $ty as $ptx in $bits:
            "add.{} %d, %a, %b;" => |a, b, _c| a.wrapping_add(b);
            "sub.{} %d, %a, %b;" => |a, b, _c| a.wrapping_sub(b);
            "mul.lo.{} %d, %a, %b;" => |a, b, _c| a.wrapping_mul(b);
            "mul.hi.{} %d, %a, %b;" => |a, b, _c| {
                ((a as $double).wrapping_mul(b as $double) >> $ty::BITS) as $ty
            };
            "mad.lo.{} %d, %a, %b, %c;" => |a, b, c| a.wrapping_mul(b).wrapping_add(c);
            "mad.hi.{} %d, %a, %b, %c;" => |a, b, c| {
                (((a as $double).wrapping_mul(b as $double) >> $ty::BITS) as $ty).wrapping_add(c)
            };
            "div.{} %d, %a, %b;" => |a, b, _c| if b == 0 { !0 } else { a.wrapping_div(b) };
            "rem.{} %d, %a, %b;" => |a, b, _c| if b == 0 { !0 } else { a.wrapping_rem(b) };
            "min.{} %d, %a, %b;" => |a, b, _c| a.min(b);
            "max.{} %d, %a, %b;" => |a, b, _c| a.max(b);
            "sad.{} %d, %a, %b, %c;" => |a, b, c| (a.abs_diff(b) as $ty).wrapping_add(c);
        }
    )*};
}

#[test]
fn arithmetic_wraps_like_that_of_rust() {
    arithmetic! {
        u16 as "u16" in "b16", u32;
        i16 as "s16" in "b16", i32;
        u32 as "u32" in "b32", u64;
        i32 as "s32" in "b32", i64;
        u64 as "u64" in "b64", u128;
        i64 as "s64" in "b64", i128;
    }
}

#[test]
fn signs_are_changed_and_removed() {
    table! { i16 as "s16" in "b16":
        "neg.{} %d, %a;" => |a, _b, _c| a.wrapping_neg();
        "abs.{} %d, %a;" => |a, _b, _c| a.wrapping_abs();
    }
    table! { i32 as "s32" in "b32":
        "neg.{} %d, %a;" => |a, _b, _c| a.wrapping_neg();
        "abs.{} %d, %a;" => |a, _b, _c| a.wrapping_abs();
        "add.sat.{} %d, %a, %b;" => |a, b, _c| a.saturating_add(b);
        "sub.sat.{} %d, %a, %b;" => |a, b, _c| a.saturating_sub(b);
    }
    table! { i64 as "s64" in "b64":
        "neg.{} %d, %a;" => |a, _b, _c| a.wrapping_neg();
        "abs.{} %d, %a;" => |a, _b, _c| a.wrapping_abs();
    }
}

#[test]
fn wide_products_have_all_bits() {
    let rows = pairs(&EDGES);
    let wide = |text: &str, from: &str, to: &str, of: fn(u64, u64, u64) -> u64| {
        check(text, [to, from, from, to], &rows, of);
    };
    wide("mul.wide.u16 %d, %a, %b;", "b16", "b32", |a, b, _| (a as u16 as u64) * (b as u16 as u64));
    wide("mul.wide.s16 %d, %a, %b;", "b16", "b32", |a, b, _| {
        u64::from(((a as i16 as i32) * (b as i16 as i32)) as u32)
    });
    wide("mul.wide.u32 %d, %a, %b;", "b32", "b64", |a, b, _| (a as u32 as u64) * (b as u32 as u64));
    wide("mad.wide.s32 %d, %a, %b, %c;", "b32", "b64", |a, b, c| {
        (((a as i32 as i64) * (b as i32 as i64)) as u64).wrapping_add(c)
    });
    wide("mad.wide.u16 %d, %a, %b, %c;", "b16", "b32", |a, b, c| {
        u64::from(((a as u16 as u32) * (b as u16 as u32)).wrapping_add(c as u32))
    });
    wide("mad.wide.s32 %d, %a, %b, -1;", "b32", "b64", |a, b, _| {
        ((a as i32 as i64) * (b as i32 as i64) - 1) as u64
    });
}

#[test]
fn carries_join_registers_to_longer_numbers() {
    // 128-bit sums, differences and products of 64-bit halves, one result at a time.
    let rows = pairs(&EDGES);
    let long = |a: u64, b: u64| u128::from(a) << 64 | u128::from(b);
    check("add.cc.u64 %d, %a, %b; addc.u64 %d, %b, %c;", ["b64"; 4], &rows, |a, b, c| {
        (long(b, a).wrapping_add(long(c, b)) >> 64) as u64
    });
    check("sub.cc.u64 %d, %a, %b; subc.u64 %d, %b, %c;", ["b64"; 4], &rows, |a, b, c| {
        (long(b, a).wrapping_sub(long(c, b)) >> 64) as u64
    });
    let text = "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, %c;";
    check(text, ["b32"; 4], &rows, |a, b, c| {
        let (a, b, c) = (u64::from(a as u32), u64::from(b as u32), u64::from(c as u32));
        (a * b).wrapping_add(c << 32 | c) >> 32
    });
    let text = "add.cc.u32 %d, %a, %b; addc.cc.u32 %d, %b, %c; addc.u32 %d, 0, 0;";
    check(text, ["b32"; 4], &rows, |a, b, c| {
        let half = |high: u64, low: u64| (high as u32 as u64) << 32 | low as u32 as u64;
        u64::from(half(b, a).overflowing_add(half(c, b)).1)
    });
}

#[test]
fn borrows_and_carries_of_products_go_through_three_registers() {
    let rows = pairs(&EDGES);
    let text = "sub.cc.u32 %d, %a, %b; subc.cc.u32 %d, %b, %c; subc.u32 %d, 0, 0;";
    check(text, ["b32"; 4], &rows, |a, b, c| {
        let half = |high: u64, low: u64| (high as u32 as u64) << 32 | low as u32 as u64;
        if half(b, a) < half(c, b) { 0xffff_ffff } else { 0 }
    });
    let text = "mad.lo.cc.u64 %d, %a, %b, %c; madc.hi.cc.u64 %d, %a, %b, %c; addc.u64 %d, %d, 0;";
    check(text, ["b64"; 4], &rows, |a, b, c| {
        let product = u128::from(a) * u128::from(b);
        let (_, carry) = (product as u64).overflowing_add(c);
        let sum = (product >> 64) + u128::from(c) + u128::from(carry);
        (sum as u64).wrapping_add((sum >> 64) as u64)
    });
}

#[test]
fn bits_are_combined_shifted_and_counted() {
    table! { u32 as "b32" in "b32":
        "and.{} %d, %a, %b;" => |a, b, _c| a & b;
        "or.{} %d, %a, %b;" => |a, b, _c| a | b;
        "xor.{} %d, %a, %b;" => |a, b, _c| a ^ b;
        "not.{} %d, %a;" => |a, _b, _c| !a;
        "cnot.{} %d, %a;" => |a, _b, _c| u32::from(a == 0);
        "shl.{} %d, %a, %b;" => |a, b, _c| a.checked_shl(b).unwrap_or(0);
        "shr.{} %d, %a, %b;" => |a, b, _c| a.checked_shr(b).unwrap_or(0);
        "popc.{} %d, %a;" => |a, _b, _c| a.count_ones();
        "clz.{} %d, %a;" => |a, _b, _c| a.leading_zeros();
        "brev.{} %d, %a;" => |a, _b, _c| a.reverse_bits();
        "lop3.{} %d, %a, %b, %c, 0xe8;" => |a, b, c| a & b | a & c | b & c;
        "lop3.{} %d, %a, %b, %c, 0x1c;" => |a, b, c| !a & b | a & !b & !c;
        "shf.l.wrap.{} %d, %a, %b, %c;" => |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
        };
        "shf.r.clamp.{} %d, %a, %b, %c;" => |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32
        };
    }
    table! { i32 as "s32" in "b32":
        "shr.{} %d, %a, %b;" => |a, b, _c| a >> (b as u32).min(31);
    }
    table! { u64 as "b64" in "b64":
        "not.{} %d, %a;" => |a, _b, _c| !a;
        "brev.{} %d, %a;" => |a, _b, _c| a.reverse_bits();
    }
    let rows = pairs(&EDGES);
    let types = ["b64", "b64", "b32", "b32"];
    check("shl.b64 %d, %a, %b;", types, &rows, |a, b, _| a.checked_shl(b as u32).unwrap_or(0));
    check("shr.s64 %d, %a, %b;", types, &rows, |a, b, _| (a as i64 >> (b as u32).min(63)) as u64);
    let types = ["b32", "b64", "b32", "b32"];
    check("clz.b64 %d, %a;", types, &rows, |a, _, _| a.leading_zeros().into());
    check("popc.b64 %d, %a;", types, &rows, |a, _, _| a.count_ones().into());
}

/// `bfe` as the ISA defines it, bit by bit.
fn extracted(a: u64, b: u64, c: u64, width: u64, signed: bool) -> u64 {
    let (position, length) = (b & 255, c & 255);
    let bit = |at: u64| a >> at & 1;
    let sign = if signed && length > 0 { bit((position + length - 1).min(width - 1)) } else { 0 };
    (0..width)
        .map(
            |at| if at < length && position + at < width { bit(position + at) } else { sign } << at,
        )
        .sum()
}

/// `bfi` as the ISA defines it, bit by bit.
fn inserted(a: u64, b: u64, position: u64, length: u64, width: u64) -> u64 {
    let within = |at: u64| at >= position && at < position + length;
    (0..width).map(|at| if within(at) { a >> (at - position) & 1 } else { b >> at & 1 } << at).sum()
}

#[test]
fn fields_of_bits_are_extracted_and_inserted() {
    let numbers = [0u64, 1, 5, 16, 31, 32, 33, 63, 64, 255, 0x8765_4321_0fed_cba9];
    let rows = pairs(&numbers);
    for (text, width, signed) in [
        ("bfe.u32 %d, %a, %b, %c;", 32, false),
        ("bfe.s32 %d, %a, %b, %c;", 32, true),
        ("bfe.u64 %d, %a, %b, %c;", 64, false),
        ("bfe.s64 %d, %a, %b, %c;", 64, true),
    ] {
        let value = if width == 32 { "b32" } else { "b64" };
        let types = [value, value, "b32", "b32"];
        let of = |a, b, c| extracted(a, b, c, width, signed);
        for rows in [&rows[..], &rows.iter().map(|&[a, b, c]| [!a, b, c]).collect::<Vec<_>>()] {
            check(text, types, rows, of);
        }
    }
    for (position, length) in [(0, 0), (3, 7), (0, 32), (31, 1), (31, 8), (32, 4), (60, 255)] {
        let text = format!("bfi.b32 %d, %a, %b, {position}, {length};");
        check(&text, ["b32"; 4], &rows, |a, b, _| inserted(a, b, position, length, 32));
        let text = format!("bfi.b64 %d, %a, %b, {position}, {length};");
        check(&text, ["b64"; 4], &rows, |a, b, _| inserted(a, b, position, length, 64));
    }
}

#[test]
fn bytes_are_permuted_by_a_selector_or_a_mode() {
    let rows = [[0x8877_6655, 0x4433_2211, 0]];
    // The bytes are 55 66 77 88 11 22 33 44.
    for (text, expected) in [
        ("prmt.b32 %d, %a, %b, 0x3210;", 0x8877_6655),
        ("prmt.b32 %d, %a, %b, 0x7654;", 0x4433_2211),
        ("prmt.b32 %d, %a, %b, 0x0725;", 0x5544_7722),
        ("prmt.b32 %d, %a, %b, 0xb8c3;", 0xff00_0088),
        ("prmt.b32.f4e %d, %a, %b, 3;", 0x3322_1188),
        ("prmt.b32.b4e %d, %a, %b, 1;", 0x3344_5566),
        ("prmt.b32.rc8 %d, %a, %b, 2;", 0x7777_7777),
        ("prmt.b32.ecl %d, %a, %b, 1;", 0x8877_6666),
        ("prmt.b32.ecr %d, %a, %b, 1;", 0x6666_6655),
        ("prmt.b32.rc16 %d, %a, %b, 1;", 0x8877_8877),
    ] {
        check(text, ["b32"; 4], &rows, |_, _, _| expected);
    }
}

#[test]
fn comparisons_of_integers_have_signs_and_combinations() {
    let rows = pairs(&EDGES);
    let chosen = |relation: &str, ty: &str| {
        format!("setp.{relation}.{ty} %p1, %a, %b; selp.b32 %d, 1, 0, %p1;")
    };
    let bits = |ty: &str| {
        if ty.ends_with("16") {
            "b16"
        } else if ty.ends_with("32") {
            "b32"
        } else {
            "b64"
        }
    };
    macro_rules! relations {
        ($($ty:ident as $ptx:literal;)*) => {$(
            let types = ["b32", bits($ptx), bits($ptx), "b64"];
            let of = |f: fn($ty, $ty) -> bool| {
                move |a: u64, b: u64, _: u64| u64::from(f(a as $ty, b as $ty))
            };
            check(&chosen("eq", $ptx), types, &rows, of(|a, b| a == b));
            check(&chosen("ne", $ptx), types, &rows, of(|a, b| a != b));
            check(&chosen("lt", $ptx), types, &rows, of(|a, b| a < b));
            check(&chosen("le", $ptx), types, &rows, of(|a, b| a <= b));
            check(&chosen("gt", $ptx), types, &rows, of(|a, b| a > b));
            check(&chosen("ge", $ptx), types, &rows, of(|a, b| a >= b));
        )*};
    }
    relations! { u16 as "u16"; i16 as "s16"; u32 as "u32"; i32 as "s32"; u64 as "u64"; i64 as "s64"; }
    let first = "setp.lo.u32 %p0, %a, %c;";
    for (combine, of) in [
        ("and", (|a, b| a & b) as fn(bool, bool) -> bool),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
    ] {
        let text = format!(
            "{first} setp.hs.{combine}.u32 %p1|%p2, %a, %b, !%p0; selp.b32 %d, 1, 0, %p1; \
             selp.b32 %t3, 2, 0, %p2; or.b32 %d, %d, %t3;"
        );
        check(&text, ["b32"; 4], &rows, |a, b, c| {
            let (a, b, c) = (a as u32, b as u32, c as u32);
            let third = a >= c;
            u64::from(of(a >= b, third)) | u64::from(of(a < b, third)) << 1
        });
    }
    check("set.lt.u32.s32 %d, %a, %b;", ["b32"; 4], &rows, |a, b, _| {
        if (a as i32) < b as i32 { 0xffff_ffff } else { 0 }
    });
}
