//! The element types of arrays of a check.

use crate::data::{Dtype, Incoming, Narrow};
use half::{bf16, f16};
use std::fmt::Display;
use std::str::FromStr;

/// Declares the element types, and the functions that depend on them.
macro_rules! elements {
    ($($name:ident $ty:ty, $text:literal;)*) => {
        /// The type of the elements of an array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Element {
            $($name,)*
        }

        impl Element {
            const ALL: &[(&str, Self)] = &[$(($text, Self::$name),)*];

            /// Bytes of an element.
            pub(super) fn bytes(self) -> usize {
                match self {
                    $(Self::$name => size_of::<$ty>(),)*
                }
            }

            /// The bytes of a number that is written in decimal.
            pub(super) fn parse(self, text: &str) -> Result<Vec<u8>, String> {
                match self {
                    $(Self::$name => parsed(text, self, <$ty>::to_le_bytes),)*
                }
            }

            /// The number with these bytes, in decimal.
            ///
            /// # Panics
            /// If it has not as many bytes.
            pub(super) fn show(self, bytes: &[u8]) -> String {
                match self {
                    $(Self::$name => {
                        let bytes = bytes.try_into().expect("the bytes of one element");
                        <$ty>::from_le_bytes(bytes).to_string()
                    })*
                }
            }
        }
    };
}

elements! {
    U8 u8, "u8";
    I8 i8, "i8";
    U16 u16, "u16";
    I16 i16, "i16";
    U32 u32, "u32";
    I32 i32, "i32";
    U64 u64, "u64";
    I64 i64, "i64";
    F16 f16, "f16";
    Bf16 bf16, "bf16";
    F32 f32, "f32";
    F64 f64, "f64";
}

fn parsed<T: FromStr<Err: Display>, const N: usize>(
    text: &str,
    element: Element,
    bytes: fn(T) -> [u8; N],
) -> Result<Vec<u8>, String> {
    let parsed = text.parse::<T>();
    let number = parsed.map_err(|error| format!("`{text}` is no {}: {error}", element.name()))?;
    Ok(bytes(number).to_vec())
}

impl Element {
    /// Its name: `u32`.
    pub(super) fn name(self) -> &'static str {
        let own = Self::ALL.iter().find(|(_, element)| *element == self);
        own.expect("all are listed").0
    }

    /// The unsigned type of a parameter of so many bytes, or the float.
    pub(super) fn of_parameter(bytes: usize, is_float: bool, is_negative: bool) -> Option<Self> {
        Some(match (bytes, is_float, is_negative) {
            (4, true, _) => Self::F32,
            (8, true, _) => Self::F64,
            (1, _, false) => Self::U8,
            (2, _, false) => Self::U16,
            (4, _, false) => Self::U32,
            (8, _, false) => Self::U64,
            (1, _, true) => Self::I8,
            (2, _, true) => Self::I16,
            (4, _, true) => Self::I32,
            (8, _, true) => Self::I64,
            _ => return None,
        })
    }

    /// The type of the elements of a file. Those of one byte that NumPy calls bool are `u8`.
    pub(super) fn of_file(file: &Incoming) -> Self {
        match (file.stored().narrow(), file.stored().dtype()) {
            (Some(Narrow::I8), _) => Self::I8,
            (Some(Narrow::I16), _) => Self::I16,
            (Some(Narrow::U8), _) => Self::U8,
            (Some(Narrow::U16), _) => Self::U16,
            (None, Dtype::F16) => Self::F16,
            (None, Dtype::Bf16) => Self::Bf16,
            (None, Dtype::F32) => Self::F32,
            (None, Dtype::F64) => Self::F64,
            (None, Dtype::I32) => Self::I32,
            (None, Dtype::I64) => Self::I64,
            (None, Dtype::U32) => Self::U32,
            (None, Dtype::U64) => Self::U64,
        }
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, element)| *element).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is no type of elements: they are {}", names.join(" "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_and_shown_by_their_type() {
        for (text, element) in
            [("255", Element::U8), ("-7", Element::I64), ("0.5", Element::F32), ("2", Element::F16)]
        {
            let bytes = element.parse(text).expect("a number");
            assert_eq!(bytes.len(), element.bytes());
            assert_eq!(element.show(&bytes), text);
        }
        let error = Element::U8.parse("256").expect_err("too large");
        assert!(error.starts_with("`256` is no u8: "), "{error}");
    }

    #[test]
    fn types_are_found_by_name() {
        assert_eq!("bf16".parse(), Ok(Element::Bf16));
        assert!("u128".parse::<Element>().expect_err("unknown").contains("`u128`"));
    }
}
