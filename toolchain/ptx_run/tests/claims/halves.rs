//! Arithmetic of f16 and bf16, against exact numbers.

use crate::support::{check, pairs};

/// A format of 16 bits.
#[derive(Clone, Copy)]
struct Half {
    name: &'static str,
    mantissa: i32,
    bias: i32,
}

const F16: Half = Half { name: "f16", mantissa: 10, bias: 15 };
const BF16: Half = Half { name: "bf16", mantissa: 7, bias: 127 };
const NAN: u64 = 0x7fff;

impl Half {
    fn infinity(self) -> u64 {
        0x7fff >> self.mantissa << self.mantissa
    }

    fn value(self, bits: u64) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, mantissa) = (bits & 0x7fff, bits & ((1 << self.mantissa) - 1));
        let exponent = (exponent >> self.mantissa) as i32;
        let magnitude = if bits & 0x7fff > self.infinity() {
            f64::NAN
        } else if bits & 0x7fff == self.infinity() {
            f64::INFINITY
        } else {
            let whole = mantissa + if exponent > 0 { 1 << self.mantissa } else { 0 };
            whole as f64 * 2f64.powi(exponent.max(1) - self.bias - self.mantissa)
        };
        sign * magnitude
    }

    /// The nearest half, found among all of them. Infinity is where the next number would be.
    fn nearest(self, value: f64) -> u64 {
        if value.is_nan() {
            return NAN;
        }
        let sign = u64::from(value.is_sign_negative()) << 15;
        let beyond = 2f64.powi(self.bias + 1);
        let at = |bits: u64| if bits == self.infinity() { beyond } else { self.value(bits) };
        let magnitude = value.abs();
        if magnitude >= beyond {
            return sign | self.infinity();
        }
        let (mut low, mut high) = (0, self.infinity());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if at(middle) <= magnitude { low = middle } else { high = middle }
        }
        let (below, above) = (magnitude - at(low), at(high) - magnitude);
        let up = above < below || above == below && low & 1 == 1;
        sign | if up { high } else { low }
    }

    /// The sum of two numbers, rounded to odd, which keeps it on its side of every half and tie.
    fn sum(a: f64, b: f64) -> f64 {
        let sum = a + b;
        let part = sum - a;
        let error = (a - (sum - part)) + (b - part);
        if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
            sum
        } else if error > 0.0 {
            sum.next_up()
        } else {
            sum.next_down()
        }
    }

    /// Numbers at the edges, and some with many bits.
    fn edges(self) -> Vec<u64> {
        let one = (self.bias as u64) << self.mantissa;
        let (infinity, smallest) = (self.infinity(), 1 << self.mantissa);
        let some = [
            0,
            1,
            2,
            smallest - 1,
            smallest,
            smallest + 1,
            one - 1,
            one,
            one + 1,
            one + 3,
            one + smallest,
            infinity - 1,
            infinity - smallest,
            infinity,
            infinity + 1,
            NAN,
            0x1234,
            0x2bcd,
            0x3001,
            0x4155,
            0x55aa,
        ];
        some.into_iter().flat_map(|bits| [bits, bits | 0x8000]).collect()
    }
}

/// Checks an instruction on halves and on pairs of them.
fn compare(half: Half, text: &str, of: impl Fn(f64, f64, f64) -> f64) {
    compare_bits(half, text, |a, b, c| {
        half.nearest(of(half.value(a), half.value(b), half.value(c)))
    });
}

fn compare_bits(half: Half, text: &str, of: impl Fn(u64, u64, u64) -> u64) {
    let rows = pairs(&half.edges());
    check(&text.replace("TYPE", half.name), ["b16"; 4], &rows, &of);
    // The upper halves are those of another row.
    let joined: Vec<[u64; 3]> = (0..rows.len())
        .map(|at| {
            let (low, high) = (rows[at], rows[(at * 5 + 3) % rows.len()]);
            [0, 1, 2].map(|place| low[place] | high[place] << 16)
        })
        .collect();
    let text = text.replace("TYPE", &format!("{}x2", half.name));
    check(&text, ["b32"; 4], &joined, |a, b, c| {
        of(a & 0xffff, b & 0xffff, c & 0xffff) | of(a >> 16, b >> 16, c >> 16) << 16
    });
}

#[test]
fn sums_products_and_fma_are_rounded_once() {
    for half in [F16, BF16] {
        compare(half, "add.TYPE %d, %a, %b;", |a, b, _| Half::sum(a, b));
        compare(half, "sub.rn.TYPE %d, %a, %b;", |a, b, _| Half::sum(a, -b));
        compare(half, "mul.TYPE %d, %a, %b;", |a, b, _| a * b);
        compare(half, "fma.rn.TYPE %d, %a, %b, %c;", |a, b, c| Half::sum(a * b, c));
    }
}

#[test]
fn fma_with_a_subnormal_or_odd_half_is_right() {
    let rows = |other: u64| (0..=0xffff).step_by(13).map(move |bits| [bits, other, bits ^ 0x5a5a]);
    for half in [F16, BF16] {
        for other in [0x0001, 0x8155, 0x3c01, 0xc7ff] {
            let rows: Vec<[u64; 3]> = rows(other).collect();
            let text = format!("fma.rn.{} %d, %a, %b, %c;", half.name);
            check(&text, ["b16"; 4], &rows, |a, b, c| {
                half.nearest(Half::sum(half.value(a) * half.value(b), half.value(c)))
            });
        }
    }
}

#[test]
fn modifiers_bound_and_flush_halves() {
    let unit = |value: f64| if value > 0.0 { value.min(1.0) } else { 0.0 };
    let positive = |value: f64| if value <= 0.0 { value.max(0.0).abs() } else { value };
    for half in [F16, BF16] {
        compare(half, "fma.rn.relu.TYPE %d, %a, %b, %c;", move |a, b, c| {
            positive(Half::sum(a * b, c))
        });
    }
    compare(F16, "add.sat.TYPE %d, %a, %b;", move |a, b, _| unit(Half::sum(a, b)));
    compare(F16, "fma.rn.sat.TYPE %d, %a, %b, %c;", move |a, b, c| unit(Half::sum(a * b, c)));
    let flush = |bits: u64| if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits };
    compare_bits(F16, "mul.ftz.TYPE %d, %a, %b;", move |a, b, _| {
        flush(F16.nearest(F16.value(flush(a)) * F16.value(flush(b))))
    });
}

#[test]
fn extremes_and_signs_of_halves() {
    // -0 is below 0.
    let less = |a: f64, b: f64| a < b || a == b && a.is_sign_negative() && b.is_sign_positive();
    let smaller = move |a: f64, b: f64| if a.is_nan() || less(b, a) { b } else { a };
    let larger = move |a: f64, b: f64| if a.is_nan() || less(a, b) { b } else { a };
    for half in [F16, BF16] {
        compare(half, "min.TYPE %d, %a, %b;", move |a, b, _| smaller(a, b));
        compare(half, "max.TYPE %d, %a, %b;", move |a, b, _| larger(a, b));
        compare(half, "max.NaN.TYPE %d, %a, %b;", move |a, b, _| {
            if a.is_nan() || b.is_nan() { f64::NAN } else { larger(a, b) }
        });
        compare(half, "min.xorsign.abs.TYPE %d, %a, %b;", move |a, b, _| {
            let magnitude = smaller(a.abs(), b.abs());
            if a.is_sign_negative() == b.is_sign_negative() { magnitude } else { -magnitude }
        });
        compare_bits(half, "neg.TYPE %d, %a;", |a, _, _| a ^ 0x8000);
        compare_bits(half, "abs.TYPE %d, %a;", |a, _, _| a & 0x7fff);
    }
}

#[test]
fn halves_are_compared() {
    for half in [F16, BF16] {
        let rows = pairs(&half.edges());
        let less = |a: u64, b: u64| half.value(a) < half.value(b);
        let text = format!("setp.lt.{} %p1|%p2, %a, %b; selp.b32 %d, 1, 0, %p1;", half.name);
        let types = ["b32", "b16", "b16", "b16"];
        check(&text, types, &rows, |a, b, _| less(a, b).into());
        let text = format!("setp.geu.{} %p1, %a, %b; selp.b32 %d, 1, 0, %p1;", half.name);
        check(&text, types, &rows, |a, b, _| (!less(a, b)).into());
        let one = half.nearest(1.0);
        let text = format!("set.lt.{0}.{0} %d, %a, %b;", half.name);
        check(&text, ["b16"; 4], &rows, |a, b, _| if less(a, b) { one } else { 0 });
        let joined: Vec<[u64; 3]> =
            rows.iter().map(|[a, b, c]| [a | c << 16, b | a << 16, 0]).collect();
        let both = |a: u64, b: u64| (less(a & 0xffff, b & 0xffff), less(a >> 16, b >> 16));
        let text = format!(
            "setp.eq.u32 %p3, 0, 0; setp.lt.and.{}x2 %p1|%p2, %a, %b, %p3;
            selp.b32 %d, 1, 0, %p1; selp.b32 %t3, 2, 0, %p2; or.b32 %d, %d, %t3;",
            half.name
        );
        check(&text, ["b32"; 4], &joined, |a, b, _| {
            let (low, high) = both(a, b);
            u64::from(low) | u64::from(high) << 1
        });
        let text = format!("set.lt.{0}x2.{0}x2 %d, %a, %b;", half.name);
        check(&text, ["b32"; 4], &joined, |a, b, _| {
            let (low, high) = both(a, b);
            let bits = |is: bool| if is { one } else { 0 };
            bits(low) | bits(high) << 16
        });
    }
}
