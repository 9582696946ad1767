//! A result of any type, as text and as JSON.

use super::output;
use serde_json::Value;

/// A result of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Float(f64),
    Single(f32),
    Signed(i64),
    Unsigned(u64),
}

impl Number {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Float(x) => format!("{x:?}"),
            Self::Single(x) => format!("{x:?}"),
            Self::Signed(x) => x.to_string(),
            Self::Unsigned(x) => x.to_string(),
        }
    }

    pub(crate) fn json(self) -> Value {
        match self {
            // Converted through its shortest decimal form: 0.1, not 0.10000000149011612.
            Self::Single(x) => output::number(x.to_string().parse().unwrap_or(f64::NAN)),
            Self::Float(x) => output::number(x),
            Self::Signed(x) => x.into(),
            Self::Unsigned(x) => x.into(),
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
    f32 => Single f32; f64 => Float f64;
    i32 => Signed i64; i64 => Signed i64;
    u32 => Unsigned u64; u64 => Unsigned u64;
}
