//! The types of elements.

use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::fmt;

/// The codes of `DLDataTypeCode`.
const SIGNED: u8 = 0;
const UNSIGNED: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const BOOL: u8 = 6;

/// An element type that an array can have here. A boolean is a [`u8`] of 0 or 1.
pub(crate) trait Element: Scalar + Pod {
    /// Its name for Python.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($variant:ident $ty:ident $name:literal $code:ident;)*) => {
        /// The type of the elements of an array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Dtype {
            $(
                #[doc = $name]
                $variant,
            )*
        }

        $(impl Element for $ty {
            const DTYPE: Dtype = Dtype::$variant;
        })*

        impl Dtype {
            /// The type with this code of DLPack.
            pub(crate) fn of_dlpack(code: u8, bits: u8, lanes: u16) -> PyResult<Self> {
                const BITS: u8 = u8::BITS as u8;
                match (code, bits, lanes) {
                    (BOOL, BITS, 1) => Ok(Self::U8),
                    $(($code, bits, 1) if usize::from(bits) == 8 * size_of::<$ty>() => {
                        Ok(Self::$variant)
                    })*
                    _ => Err(PyTypeError::new_err(format!(
                        "elements of DLPack's type {code} with {bits} bits: \
                         use integers, floating point or booleans"
                    ))),
                }
            }
        }

        impl fmt::Display for Dtype {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $name,)*
                })
            }
        }
    };
}
elements! {
    F16 f16 "float16" FLOAT;
    BF16 bf16 "bfloat16" BFLOAT;
    F32 f32 "float32" FLOAT;
    F64 f64 "float64" FLOAT;
    I8 i8 "int8" SIGNED;
    I16 i16 "int16" SIGNED;
    I32 i32 "int32" SIGNED;
    I64 i64 "int64" SIGNED;
    U8 u8 "uint8" UNSIGNED;
    U16 u16 "uint16" UNSIGNED;
    U32 u32 "uint32" UNSIGNED;
    U64 u64 "uint64" UNSIGNED;
}

/// Runs `$body` with `$t` as the type of the elements of `$dtype`, if that is in a list: `any` type, the
/// `wide` ones in which results are combined, the `narrow` ones of them whose sums have 64 bits of room, the
/// ones of `full` precision, or `floats`.
macro_rules! with_type {
    (any, $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::element::with_type! {
            @ [F16 cuda_std::f16, BF16 cuda_std::bf16, F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64,
               U8 u8, U16 u16, U32 u32, U64 u64] $what, $dtype, $t => $body
        }
    };
    (wide, $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::element::with_type! {
            @ [F16 cuda_std::f16, BF16 cuda_std::bf16, F32 f32, F64 f64, I32 i32, I64 i64, U32 u32, U64 u64]
            $what, $dtype, $t => $body
        }
    };
    (narrow, $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::element::with_type! {
            @ [F16 cuda_std::f16, BF16 cuda_std::bf16, F32 f32, F64 f64, I32 i32, U32 u32]
            $what, $dtype, $t => $body
        }
    };
    (full, $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::element::with_type! {
            @ [F32 f32, F64 f64, I32 i32, I64 i64, U32 u32, U64 u64] $what, $dtype, $t => $body
        }
    };
    (floats, $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::element::with_type! {
            @ [F16 cuda_std::f16, BF16 cuda_std::bf16, F32 f32, F64 f64] $what, $dtype, $t => $body
        }
    };
    (@ [$($variant:ident $ty:ty),*] $what:expr, $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $($crate::element::Dtype::$variant => {
                type $t = $ty;
                $body
            })*
            #[allow(unreachable_patterns, reason = "the list may have every type")]
            other => Err($crate::element::unsupported($what, other)),
        }
    };
}
pub(crate) use with_type;

/// The error for elements that a function does not support.
pub(crate) fn unsupported(what: &str, dtype: Dtype) -> PyErr {
    PyTypeError::new_err(format!("{what} does not support elements of {dtype}: convert them first"))
}
