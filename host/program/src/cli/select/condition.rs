//! The condition of `--where`.

use crate::cli::exit::Usage;
use cuda_std::{bf16, f16};
use gridsync::primitives::select::{Comparable, Within};
use std::fmt;
use std::str::FromStr;

/// A comparison with a number whose type is not known yet, or a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A sign of [`SIGNS`], and the number after it.
    Compare(&'static str, String),
    /// One of [`WORDS`].
    Word(&'static str),
}

/// A sign comes before its prefixes.
const SIGNS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

const WORDS: [&str; 3] = ["nonzero", "finite", "notnan"];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Some(word) = WORDS.into_iter().find(|&word| word == text) {
            return Ok(Self::Word(word));
        }
        let is_sign = |c: char| "<>=!~≤≥≠".contains(c);
        let (written, bound) = text.split_at(text.find(|c| !is_sign(c)).unwrap_or(text.len()));
        let sign = SIGNS.into_iter().find(|&sign| sign == written);
        let bound = bound.trim();
        match sign {
            Some(_) if bound.contains(is_sign) => Err(format!(
                "a condition is one comparison; for two, select twice: --where \"{}\" -o - | gridsync select - --where …",
                first_of(text)
            )),
            // The number is parsed once the element type is known.
            Some(sign) if !bound.is_empty() => Ok(Self::Compare(sign, bound.into())),
            None if meant(written).is_some() => Err(format!(
                "{written} is not a comparison; write \"{} {bound}\"",
                meant(written).unwrap_or_default()
            )),
            _ => Err(
                "a condition is one of < <= > >= == != and a number, as in \"> 0.5\", or one of nonzero, finite and notnan"
                    .into(),
            ),
        }
    }
}

/// The gridsync operator for an operator of another language.
fn meant(written: &str) -> Option<&'static str> {
    Some(match written {
        "<>" | "~=" | "≠" | "=!" | "!==" => "!=",
        "=" | "===" => "==",
        "=<" | "≤" => "<=",
        "=>" | "≥" => ">=",
        _ => return None,
    })
}

/// The first of several comparisons: a sign, and the word after it.
fn first_of(text: &str) -> String {
    let number = text.find(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)).unwrap_or(0);
    let end = text[number..].find([' ', ',', '<', '>', '=', '!', '&', '|']);
    text[..end.map_or(text.len(), |end| number + end)].to_owned()
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(sign, bound) => write!(f, "{sign} {bound}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl Condition {
    /// The condition for elements of `T`.
    pub(super) fn within<T: Bounded>(&self) -> anyhow::Result<Within<T>> {
        Ok(match self {
            Self::Word("nonzero") => Within::nonzero(),
            Self::Word("finite") => Within::finite(),
            Self::Word(_) => Within::not_nan(),
            Self::Compare(sign, bound) => T::compared(sign, bound)
                .ok_or_else(|| Usage(format!("{bound} is not a number: write 3, -0.5 or 1e6")))?,
        })
    }
}

/// An element that can be compared with a number from the command line.
pub(super) trait Bounded: Comparable {
    /// The condition for elements that compare with the bound according to the sign, or `None` if
    /// the bound is not a number.
    fn compared(sign: &str, bound: &str) -> Option<Within<Self>>;
}

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Bounded for $ty {
            fn compared(sign: &str, bound: &str) -> Option<Within<Self>> {
                let bound = bound.parse().ok()?;
                Some(match sign {
                    "<" => Within::less_than(bound),
                    "<=" => Within::at_most(bound),
                    ">" => Within::greater_than(bound),
                    ">=" => Within::at_least(bound),
                    "==" => Within::equal_to(bound),
                    _ => Within::not_equal_to(bound),
                })
            }
        }
    )*};
}
floats!(f32, f64, f16, bf16);

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Bounded for $ty {
            fn compared(sign: &str, bound: &str) -> Option<Within<Self>> {
                let range = (<$ty>::MIN.into(), <$ty>::MAX.into());
                let within = |low, high| match interval((low, high), range) {
                    Some((low, high)) => Within::between(low as $ty, high as $ty),
                    None => Within::between(<$ty>::MAX, <$ty>::MIN),
                };
                let Some(Decimal { floor, is_whole }) = Decimal::of(bound)? else {
                    // NaN differs from every number, and all other comparisons with it are false.
                    let none = within(1, 0);
                    return Some(if sign == "!=" { none.others() } else { none });
                };
                let above = floor + i128::from(!is_whole);
                Some(match sign {
                    "<" => within(i128::MIN, above - 1),
                    "<=" => within(i128::MIN, floor),
                    ">" => within(floor + 1, i128::MAX),
                    ">=" => within(above, i128::MAX),
                    "==" => within(above, floor),
                    _ => within(above, floor).others(),
                })
            }
        }
    )*};
}
integers!(i32, u32, i64, u64);

/// The intersection of two intervals, or `None` if it is empty.
fn interval((low, high): (i128, i128), (least, most): (i128, i128)) -> Option<(i128, i128)> {
    let common = (low.max(least), high.min(most));
    (common.0 <= common.1).then_some(common)
}

/// A decimal number, exact enough to compare integers with it.
struct Decimal {
    /// Its floor. A number far beyond 64 bits counts as [`BEYOND`].
    floor: i128,
    is_whole: bool,
}

/// Larger than any 64-bit integer.
const BEYOND: i128 = 1 << 100;

impl Decimal {
    /// The exact number of `text`; `Some(None)` for NaN, and `None` if `text` is not a number.
    fn of(text: &str) -> Option<Option<Self>> {
        // Only text that Rust reads as an f64 counts as a number.
        let nearest: f64 = text.parse().ok()?;
        if nearest.is_nan() {
            return Some(None);
        }
        let is_negative = text.starts_with('-');
        let (magnitude, has_part) = match nearest.abs() {
            // A number that rounds to 0 in f64 also counts as 0.
            0.0 => (0, false),
            1e30.. => (BEYOND, false),
            _ => magnitude(text.trim_start_matches(['-', '+']))?,
        };
        let floor = match is_negative {
            true => -magnitude - i128::from(has_part),
            false => magnitude,
        };
        Some(Some(Self { floor, is_whole: !has_part }))
    }
}

/// The integer part of a number up to 1e30, given as digits with a point and an exponent, and
/// whether it has a fraction.
fn magnitude(text: &str) -> Option<(i128, bool)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let digits = digits.trim_start_matches('0');
    // How many digits are before the point, or 0 if negative. Here, only the number 0 can have an
    // exponent beyond i64, so the exponent is taken as 0 then.
    let before = exponent.parse::<i64>().unwrap_or(0).saturating_add(digits.len() as i64)
        - part.len() as i64;
    let before = before.max(0) as usize;
    let (integer, rest) = digits.split_at(before.min(digits.len()));
    let zeros = match integer {
        "" => 0,
        integer => before - integer.len(),
    };
    let integer = format!("0{integer}{}", "0".repeat(zeros)).parse().ok()?;
    Some((integer, rest.contains(|digit| digit != '0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::grid::select::Predicate;

    #[test]
    fn conditions_parse_with_any_blanks() {
        let parse = |text: &str| text.parse::<Condition>().map(|c| c.to_string());
        assert_eq!(parse("> 0.5"), Ok("> 0.5".into()));
        assert_eq!(parse("<=-3"), Ok("<= -3".into()));
        assert_eq!(parse(" nonzero "), Ok("nonzero".into()));
        for wrong in ["", ">", "0.5", "= 3", "positive"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    /// Which of the elements are kept.
    fn kept<T: Bounded, const N: usize>(condition: &str, of: [T; N]) -> [bool; N] {
        let condition: Condition = condition.parse().expect("it should be a condition");
        let within = condition.within::<T>().expect("it is a number");
        of.map(|x| within.keeps(x, 0))
    }

    #[test]
    fn integers_compare_exactly_with_any_number() {
        let bounds = [
            "3",
            "3.0",
            "3.5",
            "-3.5",
            "-3",
            "0",
            "-0.0",
            "0.001",
            "-0.001",
            "1e0",
            "35e-1",
            "0.35e1",
            ".5",
            "5.",
            "2147483647",
            "2147483648",
            "-2147483648.5",
            "1e9",
            "4.5e9",
            "-1e300",
            "1e300",
            "1e-300",
            "inf",
            "-inf",
            "NaN",
            "+3",
            "1e-99999999999999999999",
        ];
        let elements = [i32::MIN, -4, -3, -1, 0, 1, 3, 4, 5, 1_000_000_000, i32::MAX];
        for bound in bounds {
            let number: f64 = bound.parse().expect("it is a number");
            type Compare = fn(&f64, &f64) -> bool;
            let compare: [(&str, Compare); 6] = [
                ("<", f64::lt),
                ("<=", f64::le),
                (">", f64::gt),
                (">=", f64::ge),
                ("==", f64::eq),
                ("!=", f64::ne),
            ];
            for (sign, compare) in compare {
                let condition = format!("{sign} {bound}");
                let expected = elements.map(|x| compare(&f64::from(x), &number));
                assert_eq!(kept(&condition, elements), expected, "{condition}");
                let unsigned = [0, 1, 3, 4, u32::MAX];
                let expected = unsigned.map(|x| compare(&f64::from(x), &number));
                assert_eq!(kept(&condition, unsigned), expected, "{condition}, unsigned");
            }
        }
    }

    #[test]
    fn integers_of_64_bits_compare_exactly() {
        let elements = [u64::MAX - 1, u64::MAX];
        assert_eq!(kept("> 18446744073709551614", elements), [false, true]);
        assert_eq!(kept("> 18446744073709551614.5", elements), [false, true]);
        assert_eq!(kept("> 1.8446744073709551614e19", elements), [false, true]);
        assert_eq!(kept("<= 18446744073709551615", elements), [true, true]);
        assert_eq!(kept("< 18446744073709551616", elements), [true, true]);
        let elements = [i64::MIN, i64::MIN + 1];
        assert_eq!(kept("< -9223372036854775807.5", elements), [true, false]);
        assert_eq!(kept("> -1", [0u64, 1]), [true, true]);
        assert_eq!(kept("== -1", [0u64, u64::MAX]), [false, false]);
    }

    #[test]
    fn error_of_an_invalid_condition_suggests_a_valid_one() {
        let refused = |text: &str| text.parse::<Condition>().expect_err(text);
        for two in [">1 and < 3", ">1 & <3", ">1, < 3", ">1<3"] {
            let message = refused(two);
            assert!(message.contains("select twice: --where \">1\" -o - | gridsync"), "{message}");
        }
        assert_eq!(refused("<> 1"), "<> is not a comparison; write \"!= 1\"");
        assert_eq!(refused("≤2"), "≤ is not a comparison; write \"<= 2\"");
        assert_eq!(refused("= 3"), "= is not a comparison; write \"== 3\"");
        for neither in ["", "1", "> ", "<<>> 1", "1 < x < 3"] {
            assert!(refused(neither).contains("one of < <= > >= == !="), "{neither}");
        }
    }

    #[test]
    fn a_bound_that_is_not_a_number_is_an_error() {
        for bound in ["three", "1,5", "0x10", "1e", "--1", "1 2"] {
            let condition: Condition =
                format!("< {bound}").parse().expect("any number should make a condition");
            assert!(condition.within::<i32>().is_err(), "{bound}");
            assert!(condition.within::<f64>().is_err(), "{bound}");
        }
    }
}
