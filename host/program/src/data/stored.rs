//! The type of elements in a file, and their conversion: narrow integers are widened, and
//! big-endian elements swapped.

use std::fmt;
use std::str::FromStr;

use super::Dtype;
use half::{bf16, f16};

/// The type of elements in a file. They are read as elements of a [`Dtype`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    kind: Kind,
    is_big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The same type as in memory.
    Wide(Dtype),
    /// f16 and bf16, which are f32 in memory.
    F16InF32,
    Bf16InF32,
    I8,
    I16,
    U8,
    U16,
    Bool,
}

/// The types that are widened in memory: gridsync's name, numpy's name, and the kind and size in
/// numpy's type strings.
const NARROW: [(Kind, &str, &str, &str); 5] = [
    (Kind::I8, "i8", "int8", "i1"),
    (Kind::I16, "i16", "int16", "i2"),
    (Kind::U8, "u8", "uint8", "u1"),
    (Kind::U16, "u16", "uint16", "u2"),
    (Kind::Bool, "bool", "bool", "b1"),
];

/// Integers with fewer bits than gridsync usually computes with, in native byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrow {
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 8 bits; also bool, as 0 and 1.
    U8,
    /// Unsigned, 16 bits.
    U16,
}

impl Narrow {
    /// The name in the JSON: `"i8"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::U8 => "u8",
            Self::U16 => "u16",
        }
    }

    /// Widens the elements `from` into `into`, to 4 bytes each.
    ///
    /// # Panics
    /// If the numbers of elements differ.
    pub fn widen(self, from: &[u8], into: &mut [u8]) {
        let kind = match self {
            Self::I8 => Kind::I8,
            Self::I16 => Kind::I16,
            Self::U8 => Kind::U8,
            Self::U16 => Kind::U16,
        };
        Stored { kind, is_big_endian: false }.convert(from, into);
    }
}

impl From<Dtype> for Stored {
    /// Little-endian elements of that type.
    fn from(dtype: Dtype) -> Self {
        Self { kind: Kind::Wide(dtype), is_big_endian: false }
    }
}

impl Stored {
    /// The type of the elements in memory.
    #[must_use]
    pub const fn dtype(self) -> Dtype {
        match self.kind {
            Kind::Wide(dtype) => dtype,
            Kind::F16InF32 | Kind::Bf16InF32 => Dtype::F32,
            Kind::I8 | Kind::I16 => Dtype::I32,
            Kind::U8 | Kind::U16 | Kind::Bool => Dtype::U32,
        }
    }

    /// Bytes of an element in the file.
    #[must_use]
    pub const fn size(self) -> usize {
        match self.kind {
            Kind::Wide(dtype) => dtype.size(),
            Kind::I8 | Kind::U8 | Kind::Bool => 1,
            Kind::I16 | Kind::U16 | Kind::F16InF32 | Kind::Bf16InF32 => 2,
        }
    }

    /// The type of the elements before widening, or `None` if they are not integers that are
    /// widened.
    #[must_use]
    pub const fn narrow(self) -> Option<Narrow> {
        match self.kind {
            Kind::I8 => Some(Narrow::I8),
            Kind::I16 => Some(Narrow::I16),
            Kind::U8 | Kind::Bool => Some(Narrow::U8),
            Kind::U16 => Some(Narrow::U16),
            Kind::Wide(_) | Kind::F16InF32 | Kind::Bf16InF32 => None,
        }
    }

    /// The same type in native byte order.
    #[must_use]
    pub const fn native(self) -> Self {
        Self { is_big_endian: false, ..self }
    }

    /// The name in a `.npy` header of the same type in native byte order, or `None` for bf16.
    pub(super) const fn npy_descr(self) -> Option<&'static str> {
        match self.kind {
            Kind::Wide(dtype) => dtype.npy_descr(),
            Kind::F16InF32 => Dtype::F16.npy_descr(),
            Kind::Bf16InF32 => None,
            Kind::I8 => Some("|i1"),
            Kind::I16 => Some("<i2"),
            Kind::U8 => Some("|u1"),
            Kind::U16 => Some("<u2"),
            Kind::Bool => Some("|b1"),
        }
    }

    /// The same type in the file, but with f16 and bf16 read as f32.
    #[must_use]
    pub(super) const fn in_f32(self) -> Self {
        let kind = match self.kind {
            Kind::Wide(Dtype::F16) => Kind::F16InF32,
            Kind::Wide(Dtype::Bf16) => Kind::Bf16InF32,
            kind => kind,
        };
        Self { kind, ..self }
    }

    /// Whether the elements have the same bytes in memory and in the file.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Self::from(self.dtype())
    }

    /// The type for a numpy type string in a `.npy` header, such as `<f4`, `>i2`, `|u1`, `f4`,
    /// `=f4` or `float32`, or `None` if gridsync does not support it. Native byte order counts as
    /// little-endian, as it is here.
    pub(super) fn of_npy(descr: &str) -> Option<Self> {
        let order = descr.chars().next().filter(|order| "<>=|".contains(*order));
        let name = order.map_or(descr, |_| &descr[1..]);
        let wide = |dtype: &Dtype| {
            let code = dtype.npy_descr().map(|descr| &descr[1..]);
            code == Some(name) || dtype.npy_descr().is_some() && dtype.numpy_name() == name
        };
        let narrow = |(_, _, numpy, code): &&(_, _, &str, &str)| {
            [*numpy, *code].contains(&name) || name == "?" && *code == "b1"
        };
        let kind = match Dtype::ALL.iter().find(|dtype| wide(dtype)) {
            Some(dtype) => Kind::Wide(*dtype),
            None => NARROW.iter().find(narrow)?.0,
        };
        let mut stored = Self { kind, is_big_endian: false };
        stored.is_big_endian = order == Some('>') && stored.size() > 1;
        Some(stored)
    }

    /// Converts the elements `from` a file into `into`.
    ///
    /// # Panics
    /// If the numbers of elements differ.
    pub(super) fn convert(self, from: &[u8], into: &mut [u8]) {
        assert_eq!(from.len() / self.size(), into.len() / self.dtype().size(), "as many elements");
        match self.kind {
            Kind::Wide(_) => {
                into.copy_from_slice(from);
                self.put_in_order(into);
            }
            Kind::I8 => each(from, into, |[byte]| i32::from(byte as i8).to_ne_bytes()),
            Kind::F16InF32 => {
                each(from, into, |bytes| f16::from_bits(self.bits(bytes)).to_f32().to_ne_bytes())
            }
            Kind::Bf16InF32 => {
                each(from, into, |bytes| bf16::from_bits(self.bits(bytes)).to_f32().to_ne_bytes())
            }
            Kind::U8 => each(from, into, |[byte]| u32::from(byte).to_ne_bytes()),
            Kind::Bool => each(from, into, |[byte]| u32::from(byte != 0).to_ne_bytes()),
            Kind::I16 if self.is_big_endian => {
                each(from, into, |bytes| i32::from(i16::from_be_bytes(bytes)).to_ne_bytes());
            }
            Kind::I16 => {
                each(from, into, |bytes| i32::from(i16::from_le_bytes(bytes)).to_ne_bytes())
            }
            Kind::U16 if self.is_big_endian => {
                each(from, into, |bytes| u32::from(u16::from_be_bytes(bytes)).to_ne_bytes());
            }
            Kind::U16 => {
                each(from, into, |bytes| u32::from(u16::from_le_bytes(bytes)).to_ne_bytes())
            }
        }
    }

    /// The 16 bits of an element.
    fn bits(self, bytes: [u8; 2]) -> u16 {
        if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// Converts elements of a file to native ones of the same size: swaps the bytes of big-endian
    /// ones, and changes each nonzero bool to 1.
    pub(super) fn put_in_order(self, elements: &mut [u8]) {
        if self.is_big_endian {
            elements.chunks_exact_mut(self.size()).for_each(<[u8]>::reverse);
        }
        if self.kind == Kind::Bool {
            elements.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
    }
}

/// Applies `of` to each element of `N` bytes, and writes the 4-byte results.
fn each<const N: usize>(from: &[u8], into: &mut [u8], of: impl Fn([u8; N]) -> [u8; 4]) {
    let (elements, _) = from.as_chunks();
    let (places, _) = into.as_chunks_mut();
    for (&element, place) in elements.iter().zip(places) {
        *place = of(element);
    }
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.is_big_endian { "big-endian " } else { "" };
        let narrow = NARROW.iter().find(|(kind, ..)| *kind == self.kind);
        let name = match self.kind {
            Kind::F16InF32 => Dtype::F16.name(),
            Kind::Bf16InF32 => Dtype::Bf16.name(),
            _ => narrow.map_or(self.dtype().name(), |(_, name, ..)| name),
        };
        write!(f, "{order}{name}")
    }
}

/// The error for an unknown type of elements in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown element type {given:?}; use one of {}", names())]
pub struct ParseStoredError {
    /// The unknown name.
    pub given: String,
}

/// All names, for messages: `f16, bf16, …`.
pub(super) fn names() -> String {
    let narrow = NARROW.map(|(_, name, ..)| name).join(", ");
    format!("{}, {narrow}", Dtype::ALL.map(Dtype::name).join(", "))
}

impl FromStr for Stored {
    type Err = ParseStoredError;

    /// Accepts gridsync's name and numpy's: `f32`, `float32`, `u8`, `uint8`.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        if let Ok(dtype) = given.parse::<Dtype>() {
            return Ok(dtype.into());
        }
        let named = NARROW.iter().find(|(_, name, numpy, _)| [*name, *numpy].contains(&given));
        let (kind, ..) = named.ok_or_else(|| ParseStoredError { given: given.to_owned() })?;
        Ok(Self { kind: *kind, is_big_endian: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: bytemuck::Pod>(descr: &str, bytes: &[u8]) -> Vec<T> {
        let stored = Stored::of_npy(descr).expect("it is read");
        let mut into = vec![T::zeroed(); bytes.len() / stored.size()];
        stored.convert(bytes, bytemuck::cast_slice_mut(&mut into));
        into
    }

    #[test]
    fn narrow_integers_keep_their_values() {
        assert_eq!(read::<i32>("|i1", &[0x80, 0xff, 0x7f]), [-128, -1, 127]);
        assert_eq!(read::<u32>("|u1", &[0x80, 0xff]), [128, 255]);
        assert_eq!(read::<u32>("|b1", &[0, 1, 2]), [0, 1, 1]);
        assert_eq!(read::<i32>("<i2", &[0x00, 0x80, 0xff, 0xff]), [-32768, -1]);
        assert_eq!(read::<i32>(">i2", &[0x80, 0x00, 0x00, 0x01]), [-32768, 1]);
        assert_eq!(read::<u32>("<u2", &[0x00, 0x80]), [32768]);
        assert_eq!(read::<u32>(">u2", &[0x80, 0x01]), [32769]);
    }

    #[test]
    fn halves_are_widened_to_f32() {
        let read = |stored: Stored, bytes: &[u8]| {
            let mut into = vec![0f32; bytes.len() / 2];
            let stored = stored.in_f32();
            assert_eq!((stored.size(), stored.dtype(), stored.is_plain()), (2, Dtype::F32, false));
            stored.convert(bytes, bytemuck::cast_slice_mut(&mut into));
            (into, stored.to_string())
        };
        let bytes = [0x00, 0xc0, 0x00, 0x3e];
        assert_eq!(read(Dtype::F16.into(), &bytes), (vec![-2.0, 1.5], "f16".into()));
        assert_eq!(read(Dtype::Bf16.into(), &bytes), (vec![-2.0, 0.125], "bf16".into()));
        let swapped = Stored::of_npy(">f2").expect("it is read");
        assert_eq!(read(swapped, &[0x3e, 0x00]), (vec![1.5], "big-endian f16".into()));
        assert_eq!(Stored::from(Dtype::I64).in_f32(), Dtype::I64.into());
    }

    #[test]
    fn big_endian_elements_are_swapped() {
        assert_eq!(read::<f32>(">f4", &1.5f32.to_be_bytes()), [1.5]);
        assert_eq!(read::<i64>(">i8", &(-7i64).to_be_bytes()), [-7]);
        assert_eq!(read::<u16>(">f2", &0x3c00u16.to_be_bytes()), [0x3c00]);
        assert_eq!(read::<f64>("<f8", &1.5f64.to_le_bytes()), [1.5]);
    }

    #[test]
    fn widen_gives_the_same_values_as_reading() {
        let bytes: Vec<u8> = (0..=255).collect();
        for descr in ["|i1", "|u1", "|b1", "<i2", ">i2", "<u2", ">u2"] {
            let stored = Stored::of_npy(descr).expect("it is read");
            let mut narrow = bytes.clone();
            stored.put_in_order(&mut narrow);
            let mut widened = vec![0u32; bytes.len() / stored.size()];
            let into = bytemuck::cast_slice_mut(&mut widened);
            stored.narrow().expect("it is narrow").widen(&narrow, into);
            assert_eq!(widened, read::<u32>(descr, &bytes), "{descr}");
        }
        for wide in [Dtype::F16, Dtype::U32, Dtype::I64] {
            assert_eq!(Stored::from(wide).narrow(), None, "{wide}");
        }
        assert_eq!(Stored::from(Dtype::F16).in_f32().narrow(), None);
    }

    #[test]
    fn a_type_has_many_names_in_a_header() {
        for (dtype, names) in [
            (Dtype::F32, &["<f4", "f4", "=f4", "float32", "=float32"][..]),
            (Dtype::U64, &["<u8", "u8", "uint64"]),
            (Dtype::I32, &["<i4", "|i1", "i1", "int8", ">i1", "int16"]),
            (Dtype::U32, &["|b1", "?", "|?", "bool", "u1", "uint16"]),
        ] {
            for name in names {
                let stored = Stored::of_npy(name);
                assert_eq!(stored.map(Stored::dtype), Some(dtype), "{name}");
            }
        }
        for none in
            ["", "<", "<f", "<f16", "<c8", "<U3", "|O", "bfloat16", "<V2", "f32", "é", "<é4"]
        {
            assert_eq!(Stored::of_npy(none), None, "{none:?}");
        }
        assert!(Stored::of_npy("|i1") == Stored::of_npy(">i1"), "a byte has no order");
    }

    #[test]
    fn descr_of_a_type_is_that_of_the_same_type_in_native_order() {
        for name in ["i8", "i16", "u8", "u16", "bool", "f16", "f32", "f64", "i64"] {
            let stored: Stored = name.parse().expect("it should be a name");
            let descr = stored.npy_descr().expect("npy has the type");
            assert_eq!(Stored::of_npy(descr), Some(stored), "{name}");
        }
        let swapped = Stored::of_npy(">i2").expect("it is read");
        assert_eq!(Stored::of_npy("<i2"), Some(swapped.native()));
        assert_eq!(swapped.npy_descr(), Some("<i2"));
        assert_eq!(Stored::from(Dtype::Bf16).npy_descr(), None);
    }

    #[test]
    fn stored_types_parse_from_rust_and_numpy_names() {
        for (name, size, dtype) in [
            ("i8", 1, Dtype::I32),
            ("int8", 1, Dtype::I32),
            ("u16", 2, Dtype::U32),
            ("bool", 1, Dtype::U32),
            ("f32", 4, Dtype::F32),
            ("float64", 8, Dtype::F64),
        ] {
            let stored: Stored = name.parse().expect("it should be a name");
            assert_eq!((stored.size(), stored.dtype()), (size, dtype), "{name}");
        }
        let error = "f8".parse::<Stored>().expect_err("it should be refused").to_string();
        assert!(
            error.contains("f16, bf16, f32") && error.contains("i8, i16, u8, u16, bool"),
            "{error}"
        );
    }
}
