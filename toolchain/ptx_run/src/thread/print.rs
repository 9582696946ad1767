//! `vprintf`: formats as C does, and writes to stderr.

use std::io::Write as _;

use ptx::Type;
use ptx::decode::{Access, AddressSpace, Order, Scope};
use simt::AccessKind;

use super::memory::{Place, announce};
use super::{Thread, number};
use crate::code::Instruction;

/// The longest text that is read, to stop at one without an end.
const LONGEST: u64 = 1 << 16;

/// One conversion of a format.
#[derive(Clone, Copy, Debug, Default)]
struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    prefix: bool,
    width: usize,
    precision: Option<usize>,
    is_long: bool,
}

impl Thread<'_> {
    /// Writes the text of a format with the arguments in a buffer. Returns their number.
    pub(super) fn print(&self, format: u64, arguments: u64, at: &Instruction) -> u64 {
        let format = self.text(format, at);
        let (mut next, mut count) = (arguments, 0);
        let mut argument = |bytes: usize| {
            let address = next.next_multiple_of(bytes as u64);
            next = address + bytes as u64;
            count += 1;
            self.number_at(address, bytes, at)
        };
        let text = formatted(&format, &mut argument, &|address| self.text(address, at));
        // A closed stream is not the kernel's fault.
        let _lost = std::io::stderr().write_all(text.as_bytes());
        count
    }

    /// The text at a generic address, up to its end.
    fn text(&self, address: u64, at: &Instruction) -> String {
        let bytes =
            (address..address + LONGEST).map(|at_byte| self.number_at(at_byte, 1, at) as u8);
        let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A number at a generic address.
    fn number_at(&self, address: u64, bytes: usize, at: &Instruction) -> u64 {
        let access = Access {
            space: AddressSpace::Generic,
            order: Order::Weak,
            scope: Scope::Block,
            ty: Type::B64,
            vector: 1,
            non_coherent: false,
        };
        match self.place(&access, address, bytes, at) {
            Place::Private(owner, from) => self.private_of(owner).read(from, bytes).0,
            Place::Checked(pointer, space) => {
                if !announce(&access, AccessKind::Read, pointer, bytes, space) {
                    return 0;
                }
                // SAFETY: the emulator found these bytes live, aligned and written.
                unsafe { number::read(pointer, bytes) }
            }
        }
    }
}

/// The text of a format. `argument` returns the next argument of so many bytes, and `text` the text at
/// an address.
fn formatted(
    format: &str,
    argument: &mut impl FnMut(usize) -> u64,
    text: &impl Fn(u64) -> String,
) -> String {
    let mut out = String::new();
    let mut rest = format.chars();
    while let Some(next) = rest.next() {
        if next != '%' {
            out.push(next);
            continue;
        }
        let mut it = Conversion::default();
        let mut in_precision = false;
        for next in rest.by_ref() {
            match next {
                '-' => it.left = true,
                '0' if it.width == 0 && !in_precision => it.zeros = true,
                '+' => it.plus = true,
                ' ' => it.space = true,
                '#' => it.prefix = true,
                '.' => {
                    in_precision = true;
                    it.precision = Some(0);
                }
                '*' => it.add(argument(4) as usize, in_precision),
                '0'..='9' => {
                    let digit = next as usize - '0' as usize;
                    let before = if in_precision { it.precision.unwrap_or(0) } else { it.width };
                    it.add((before * 10 + digit).min(1 << 10), in_precision);
                }
                'l' | 'j' | 'z' | 't' => it.is_long = true,
                'h' => {}
                '%' => {
                    out.push('%');
                    break;
                }
                conversion => {
                    out.push_str(&it.convert(conversion, argument, text));
                    break;
                }
            }
        }
    }
    out
}

impl Conversion {
    fn add(&mut self, number: usize, in_precision: bool) {
        if in_precision {
            self.precision = Some(number);
        } else {
            self.width = number;
        }
    }

    fn convert(
        self,
        conversion: char,
        argument: &mut impl FnMut(usize) -> u64,
        text: &impl Fn(u64) -> String,
    ) -> String {
        let integer = if self.is_long { 8 } else { 4 };
        match conversion {
            'd' | 'i' => {
                let bits = argument(integer);
                let value = if self.is_long { bits as i64 } else { i64::from(bits as i32) };
                self.number(value < 0, "", &value.unsigned_abs().to_string())
            }
            'u' => self.number(false, "", &argument(integer).to_string()),
            'o' => self.number(false, "", &format!("{:o}", argument(integer))),
            'x' => {
                let prefix = if self.prefix { "0x" } else { "" };
                self.number(false, prefix, &format!("{:x}", argument(integer)))
            }
            'X' => {
                let prefix = if self.prefix { "0X" } else { "" };
                self.number(false, prefix, &format!("{:X}", argument(integer)))
            }
            'p' => self.padded("0x", &format!("{:x}", argument(8)), false),
            'c' => self.padded("", &char::from(argument(4) as u8).to_string(), false),
            's' => {
                let mut text = text(argument(8));
                if let Some(most) = self.precision {
                    text = text.chars().take(most).collect();
                }
                self.padded("", &text, false)
            }
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                let value = f64::from_bits(argument(8));
                let digits = self.float(conversion.to_ascii_lowercase(), value.abs());
                let digits = if conversion.is_uppercase() { digits.to_uppercase() } else { digits };
                let sign = self.sign(value.is_sign_negative());
                self.padded(sign, &digits, self.zeros && value.is_finite())
            }
            other => format!("%{other}"),
        }
    }

    fn sign(self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn number(self, negative: bool, prefix: &str, digits: &str) -> String {
        let digits = format!("{digits:0>width$}", width = self.precision.unwrap_or(1));
        let head = format!("{}{prefix}", self.sign(negative));
        self.padded(&head, &digits, self.zeros && self.precision.is_none())
    }

    fn padded(self, head: &str, body: &str, zeros: bool) -> String {
        let missing = self.width.saturating_sub(head.chars().count() + body.chars().count());
        let fill = |with: &str| with.repeat(missing);
        if self.left {
            format!("{head}{body}{}", fill(" "))
        } else if zeros {
            format!("{head}{}{body}", fill("0"))
        } else {
            format!("{}{head}{body}", fill(" "))
        }
    }

    /// The digits of a number that is not negative.
    fn float(self, conversion: char, value: f64) -> String {
        if !value.is_finite() {
            return if value.is_nan() { "nan" } else { "inf" }.to_owned();
        }
        let precision = self.precision.unwrap_or(6);
        match conversion {
            'f' => format!("{value:.precision$}"),
            'e' => scientific(value, precision),
            'g' => {
                let digits = precision.max(1);
                let rounded = format!("{value:.places$e}", places = digits - 1);
                let exponent: i32 = exponent_of(&rounded).1;
                let is_short = exponent >= -4 && exponent < digits as i32;
                let (body, tail) = if is_short {
                    let places = (digits as i32 - 1 - exponent) as usize;
                    (format!("{value:.places$}"), String::new())
                } else {
                    let text = scientific(value, digits - 1);
                    let at = text.find('e').unwrap_or(text.len());
                    (text[..at].to_owned(), text[at..].to_owned())
                };
                let is_cut = !self.prefix && body.contains('.');
                let body =
                    if is_cut { body.trim_end_matches('0').trim_end_matches('.') } else { &body };
                format!("{body}{tail}")
            }
            _ => format!("{value:?}"),
        }
    }
}

/// The number as C writes it: with a sign and at least two digits in the exponent.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = exponent_of(&text);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// The digits and the exponent of a number in Rust's notation.
fn exponent_of(text: &str) -> (&str, i32) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (digits, exponent.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: &str, arguments: &[u64]) -> String {
        let mut arguments = arguments.iter();
        let mut next = |_| *arguments.next().expect("an argument");
        formatted(format, &mut next, &|address| format!("text {address}"))
    }

    #[test]
    fn formats_are_those_of_c() {
        let minus = u64::from((-5i32).cast_unsigned());
        let half = 2.5f64.to_bits();
        for (format, arguments, expected) in [
            ("a %d%% %i|", &[minus, 7][..], "a -5% 7|"),
            ("%5d|%-5d|%05d|%+d|% d|%.3d", &[1, 2, minus, 4, 5, 6], "    1|2    |-0005|+4| 5|006"),
            (
                "%u %lu %llx %#X %o %*d",
                &[9, 1 << 40, 255, 255, 8, 4, 1],
                "9 1099511627776 ff 0XFF 10    1",
            ),
            ("%c%s|%.2s|%8s|%p", &[65, 3, 3, 1, 16], "Atext 3|te|  text 1|0x10"),
            (
                "%f|%.1f|%8.2f|%e|%G",
                &[half, half, half, half, half],
                "2.500000|2.5|    2.50|2.500000e+00|2.5",
            ),
            (
                "%g %g %g",
                &[1e-7f64.to_bits(), 123_456_789f64.to_bits(), 100f64.to_bits()],
                "1e-07 1.23457e+08 100",
            ),
            ("%05.1f %f", &[(-2.5f64).to_bits(), f64::INFINITY.to_bits()], "-02.5 inf"),
        ] {
            assert_eq!(text(format, arguments), expected, "{format}");
        }
    }
}
