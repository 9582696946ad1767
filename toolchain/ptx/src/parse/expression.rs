//! Constant expressions (PTX ISA, "Constant Expressions").

use super::Parser;
use crate::cursor::Position;
use crate::error::{ParseError, quoted};
use crate::number::{Value, literal};
use crate::token::Token;

/// The binary operators, with their precedence.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    ("<=", 7),
    (">", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Value, ParseError> {
        let at = self.cursor.position();
        let value = self.binary(0)?;
        if !self.cursor.take_sign("?") {
            return Ok(value);
        }
        let (condition, _) = self.integer_of(value, at)?;
        self.cursor.enter()?;
        let yes = self.expression()?;
        self.cursor.sign(":")?;
        let no = self.expression()?;
        self.cursor.leave();
        Ok(if condition != 0 { yes } else { no })
    }

    /// An expression that is an integer, in two's complement.
    pub(super) fn integer(&mut self) -> Result<i64, ParseError> {
        let at = self.cursor.position();
        let value = self.expression()?;
        Ok(self.integer_of(value, at)?.0.cast_signed())
    }

    /// An integer that is not negative and fits 32 bits.
    pub(super) fn count(&mut self) -> Result<u32, ParseError> {
        let at = self.cursor.position();
        let value = self.integer()?;
        u32::try_from(value)
            .map_err(|_| self.cursor.error(at, value.to_string(), "a number of 32 bits"))
    }

    /// Bits and signedness of an integer.
    fn integer_of(&self, value: Value, at: Position) -> Result<(u64, bool), ParseError> {
        match value {
            Value::Integer { bits, unsigned } => Ok((bits, unsigned)),
            Value::Single(_) | Value::Double(_) => {
                let found = quoted(self.cursor.since(at));
                Err(self.cursor.error(at, found, "an integer"))
            }
        }
    }

    /// Operands and operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Result<Value, ParseError> {
        let at = self.cursor.position();
        let mut left = self.unary()?;
        while let Token::Sign(sign) = self.cursor.peek()
            && let Some(&(_, precedence)) = OPERATORS.iter().find(|(known, _)| *known == sign)
            && precedence >= least
        {
            self.cursor.take();
            let right_at = self.cursor.position();
            let right = self.binary(precedence + 1)?;
            let right = self.integer_of(right, right_at)?;
            let both = (self.integer_of(left, at)?, right);
            let Some(value) = apply(sign, both) else {
                return Err(self.cursor.error(right_at, "0", "a divisor that is not 0"));
            };
            left = value;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Value, ParseError> {
        let at = self.cursor.position();
        let value = match self.cursor.peek() {
            Token::Number(text) => {
                let value = literal(text).ok_or_else(|| self.cursor.unexpected("a number"))?;
                self.cursor.take();
                return Ok(value);
            }
            Token::Word("WARP_SZ") => {
                self.cursor.take();
                return Ok(Value::Integer { bits: 32, unsigned: false });
            }
            Token::Sign(sign @ ("-" | "+" | "~" | "!")) => {
                self.cursor.take();
                self.cursor.enter()?;
                let value = self.unary()?;
                match (sign, value) {
                    ("+", value) => value,
                    ("-", Value::Single(bits)) => Value::Single(bits ^ 1 << 31),
                    ("-", Value::Double(bits)) => Value::Double(bits ^ 1 << 63),
                    (sign, value) => {
                        let (bits, unsigned) = self.integer_of(value, at)?;
                        match sign {
                            "-" => Value::Integer { bits: bits.wrapping_neg(), unsigned },
                            "~" => Value::Integer { bits: !bits, unsigned },
                            _ => Value::Integer { bits: u64::from(bits == 0), unsigned: false },
                        }
                    }
                }
            }
            Token::Sign("(") => {
                self.cursor.take();
                self.cursor.enter()?;
                let cast = [("s64", false), ("u64", true)];
                let cast = cast.into_iter().find(|(name, _)| self.cursor.take_dot(name));
                match cast {
                    Some((_, unsigned)) => {
                        self.cursor.sign(")")?;
                        let value = self.unary()?;
                        let (bits, _) = self.integer_of(value, at)?;
                        Value::Integer { bits, unsigned }
                    }
                    None => {
                        let value = self.expression()?;
                        self.cursor.sign(")")?;
                        value
                    }
                }
            }
            _ => return Err(self.cursor.unexpected("a number")),
        };
        self.cursor.leave();
        Ok(value)
    }
}

/// The result of an operator. `None` for a division by 0.
fn apply(
    sign: &str,
    ((a, a_unsigned), (b, b_unsigned)): ((u64, bool), (u64, bool)),
) -> Option<Value> {
    let both_unsigned = a_unsigned || b_unsigned;
    let (a_signed, b_signed) = (a.cast_signed(), b.cast_signed());
    let less = if both_unsigned { a < b } else { a_signed < b_signed };
    let truth = |value: bool| (u64::from(value), false);
    // A shift by more than 63 bits leaves nothing, or the sign.
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    let (bits, unsigned) = match sign {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(less),
        ">=" => truth(!less),
        ">" => truth(!less && a != b),
        "<=" => truth(less || a == b),
        "|" => (a | b, both_unsigned),
        "^" => (a ^ b, both_unsigned),
        "&" => (a & b, both_unsigned),
        "<<" => (a.checked_shl(shift).unwrap_or(0), a_unsigned),
        ">>" if a_unsigned => (a.checked_shr(shift).unwrap_or(0), true),
        ">>" => ((a_signed >> shift.min(63)).cast_unsigned(), false),
        "+" => (a.wrapping_add(b), both_unsigned),
        "-" => (a.wrapping_sub(b), both_unsigned),
        "*" => (a.wrapping_mul(b), both_unsigned),
        _ if b == 0 => return None,
        "/" if both_unsigned => (a / b, true),
        "/" => (a_signed.wrapping_div(b_signed).cast_unsigned(), false),
        _ if both_unsigned => (a % b, true),
        _ => (a_signed.wrapping_rem(b_signed).cast_unsigned(), false),
    };
    Some(Value::Integer { bits, unsigned })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<i64, String> {
        Parser::new(text).integer().map_err(|error| error.to_string())
    }

    #[test]
    fn operators_have_the_precedence_and_types_of_c() {
        for (text, value) in [
            ("1 + 2 * 3 - 4", 3),
            ("(1 + 2) * 3", 9),
            ("10 - 2 - 3", 5),
            ("1 << 4 | 3", 19),
            ("-7 / 2", -3),
            ("-7 % 2", -1),
            ("-8 >> 1", -4),
            ("(.u64)-8 >> 60", 15),
            ("-1 < 0", 1),
            ("-1 < 0U", 0),
            ("!3 || ~0 == -1 && 2 >= 2", 1),
            ("1 ? 2 : 0 ? 3 : 4", 2),
            ("0 ? 2 : 0 ? 3 : 4", 4),
            ("WARP_SZ - 1", 31),
            ("1 << 64", 0),
            ("0x8000000000000000 / -1", 0),
        ] {
            assert_eq!(of(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_float_and_a_division_by_0_are_errors() {
        let error = of("1.5 + 1").unwrap_err();
        assert_eq!(error, "line 1, column 1: found `1.5 + 1`, expected an integer");
        assert!(of("1 / (2 - 2)").unwrap_err().contains("a divisor that is not 0"));
    }

    #[test]
    fn deep_nesting_is_an_error_with_the_number() {
        for sign in ["(", "-", "1+(", "1?"] {
            let error = of(&sign.repeat(100_000)).unwrap_err();
            assert!(error.contains("level 65, expected at most 64 levels"), "{error}");
        }
    }
}
