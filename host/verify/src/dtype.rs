//! Element types, with their names in `--dtype`, in JSON and in numpy.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
}

impl Dtype {
    /// All element types, in the order used in messages.
    pub const ALL: [Self; 8] =
        [Self::F16, Self::Bf16, Self::F32, Self::F64, Self::I32, Self::U32, Self::I64, Self::U64];

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The name in `--dtype` and in the JSON: `"f32"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    /// numpy's name for the type, `"float32"`; for bf16, the name registered by the `ml_dtypes`
    /// package.
    pub const fn numpy_name(self) -> &'static str {
        match self {
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I32 => "int32",
            Self::U32 => "uint32",
            Self::I64 => "int64",
            Self::U64 => "uint64",
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The name of the type in a `.npy` header, `"<f4"`, or `None` for bf16, which the format
    /// cannot represent (numpy writes two opaque bytes for each element, `<V2`).
    pub const fn npy_descr(self) -> Option<&'static str> {
        match self {
            Self::F16 => Some("<f2"),
            Self::Bf16 => None,
            Self::F32 => Some("<f4"),
            Self::F64 => Some("<f8"),
            Self::I32 => Some("<i4"),
            Self::U32 => Some("<u4"),
            Self::I64 => Some("<i8"),
            Self::U64 => Some("<u8"),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for an unknown element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown element type {given:?}; use one of {}", Dtype::ALL.map(Dtype::name).join(", "))]
pub struct ParseDtypeError {
    /// The unknown name.
    pub given: String,
}

impl FromStr for Dtype {
    type Err = ParseDtypeError;

    /// Accepts gridsync's name and numpy's: `f32`, `float32`.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dtype| given == dtype.name() || given == dtype.numpy_name())
            .ok_or_else(|| ParseDtypeError { given: given.to_owned() })
    }
}

/// A Rust type for elements of an array.
///
/// Sealed: the program reads bytes as elements and relies on `DTYPE` having the size of the
/// type.
pub trait Scalar: bytemuck::Pod + sealed::Sealed {
    /// The element type of this Rust type.
    const DTYPE: Dtype;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! scalar {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}
        impl Scalar for $rust {
            const DTYPE: Dtype = Dtype::$dtype;
        }
        const _: () = assert!(size_of::<$rust>() == Dtype::$dtype.size());
    )*};
}

scalar! {
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64,
    i32 => I32, u32 => U32, i64 => I64, u64 => U64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_type() {
        for dtype in Dtype::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.numpy_name().parse(), Ok(dtype));
            assert_eq!(dtype.to_string(), dtype.name());
        }
    }

    #[test]
    fn error_of_an_unknown_type_lists_the_known_ones() {
        let message = "f8".parse::<Dtype>().unwrap_err().to_string();
        assert!(message.contains("\"f8\"") && message.contains("f16, bf16, f32"), "{message}");
    }

    #[test]
    fn descr_ends_in_the_size() {
        for dtype in Dtype::ALL {
            if let Some(descr) = dtype.npy_descr() {
                assert_eq!(descr[2..].parse(), Ok(dtype.size()));
            }
        }
    }
}
