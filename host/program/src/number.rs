//! A result of any type, as text and as JSON.

use cuda_std::{bf16, f16};
use serde::{Serialize, Serializer};

/// A number. JSON has no NaN and no infinities: they are strings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("oneOf" = [{ "type": "number" }, { "type": "boolean" }, { "enum": ["NaN", "inf", "-inf"] }]))
)]
pub(crate) enum Number {
    Float(f64),
    Single(f32),
    Signed(i64),
    Unsigned(u64),
    /// Of `any` and `all`.
    Truth(bool),
}

impl Number {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Float(x) => format!("{x:?}"),
            Self::Single(x) => format!("{x:?}"),
            Self::Signed(x) => x.to_string(),
            Self::Unsigned(x) => x.to_string(),
            Self::Truth(x) => x.to_string(),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            // Converted through its shortest decimal form: 0.1, not 0.10000000149011612.
            Self::Single(x) if x.is_finite() => {
                to.serialize_f64(x.to_string().parse().unwrap_or(f64::NAN))
            }
            Self::Float(x) if x.is_finite() => to.serialize_f64(x),
            Self::Single(_) | Self::Float(_) => to.serialize_str(&self.text()),
            Self::Signed(x) => to.serialize_i64(x),
            Self::Unsigned(x) => to.serialize_u64(x),
            Self::Truth(x) => to.serialize_bool(x),
        }
    }
}

macro_rules! numbers {
    ($($ty:ty => $variant:ident $wide:ty;)*) => {$(
        impl From<$ty> for Number {
            fn from(value: $ty) -> Self {
                Self::$variant(<$wide>::from(value))
            }
        }
    )*};
}
numbers! {
    f16 => Single f32; bf16 => Single f32;
    f32 => Single f32; f64 => Float f64;
    i8 => Signed i64; i16 => Signed i64; i32 => Signed i64; i64 => Signed i64;
    u8 => Unsigned u64; u16 => Unsigned u64; u32 => Unsigned u64; u64 => Unsigned u64;
}
