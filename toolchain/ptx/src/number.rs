//! Literals (PTX ISA, "Constants").

/// A value known to the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// An integer of 64 bits, in two's complement.
    Integer(i64),
    /// The bits of an `f32`.
    Single(u32),
    /// The bits of an `f64`.
    Double(u64),
}

/// A value in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// An integer of type `.s64` or `.u64`.
    Integer {
        bits: u64,
        unsigned: bool,
    },
    Single(u32),
    Double(u64),
}

impl From<Value> for Constant {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer { bits, .. } => Self::Integer(bits.cast_signed()),
            Value::Single(bits) => Self::Single(bits),
            Value::Double(bits) => Self::Double(bits),
        }
    }
}

/// A literal. `None` if it is malformed or has more than 64 bits.
pub(crate) fn literal(text: &str) -> Option<Value> {
    let rest = text.get(2..).unwrap_or_default();
    let float = |digits| {
        let whole = rest.len() == digits && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if whole { u64::from_str_radix(rest, 16).ok() } else { None }
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => Some(Value::Single(u32::try_from(float(8)?).ok()?)),
        [b'0', b'd' | b'D', ..] => float(16).map(Value::Double),
        [b'0', b'x' | b'X', ..] => integer(rest, 16),
        [b'0', b'b' | b'B', ..] => integer(rest, 2),
        _ if text.contains(['.', 'e', 'E']) => {
            text.parse().ok().map(|value: f64| Value::Double(value.to_bits()))
        }
        [b'0', b'0'..=b'9', ..] => integer(&text[1..], 8),
        _ => integer(text, 10),
    }
}

/// Digits, and possibly a `U`. What does not fit `.s64` is of type `.u64`.
fn integer(text: &str, radix: u32) -> Option<Value> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u64::from_str_radix(digits, radix).ok()?;
    let unsigned = digits.len() < text.len() || i64::try_from(bits).is_err();
    Some(Value::Integer { bits, unsigned })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_four_radices_and_a_suffix() {
        for (text, bits, unsigned) in [
            ("42", 42, false),
            ("0x2aU", 42, true),
            ("052", 42, false),
            ("0b101010", 42, false),
            ("0", 0, false),
            ("0U", 0, true),
            ("18446744073709551615", u64::MAX, true),
        ] {
            assert_eq!(literal(text), Some(Value::Integer { bits, unsigned }), "{text}");
        }
    }

    #[test]
    fn floats_are_bits_or_decimal() {
        assert_eq!(literal("0f3F800000"), Some(Value::Single(0x3f80_0000)));
        assert_eq!(literal("0D3FF0000000000000"), Some(Value::Double(1f64.to_bits())));
        assert_eq!(literal("1.5e-3"), Some(Value::Double(1.5e-3f64.to_bits())));
    }

    #[test]
    fn a_malformed_literal_is_none() {
        for text in ["12q", "0x", "08", "0b2", "0f3F8", "0d3", "18446744073709551616", "1.x", "1e"]
        {
            assert_eq!(literal(text), None, "{text}");
        }
    }
}
