//! The `.npy` header: magic, version, length, dictionary.
//!
//! Format: `numpy.lib.format`,
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. Versions 1.0, 2.0 (a
//! longer length field) and 3.0 (UTF-8 text) are read; 1.0 is written, or 2.0 for a header that
//! needs it.
//!
//! The crate `npyz` would save about 250 lines here. But the messages of this module name the file,
//! the numbers and a remedy, and a test damages every byte of a header.

use std::io::{self, Read};

use super::array::byte_len;
use super::literal::{Fields, printable};
use super::stored::names;
use super::{Dtype, Stored};

/// The first bytes of every `.npy` file.
pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is accepted, in bytes. A header of a supported type has fewer than 2000,
/// even at numpy's limit of 64 dimensions; the length field of version 2.0 can request 4 GiB.
const LONGEST_HEADER: u32 = 1 << 20;

/// Data starts at a multiple of this many bytes in the file, so that it can be mapped.
const DATA_ALIGNMENT: usize = 64;

/// Errors in a `.npy` header. Each message is one complete line, as in
/// [`DataError`](super::DataError).
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The operating system failed to read it.
    #[error(
        "reading the .npy header failed: {0}; check the disk or the program at the other end of the pipe"
    )]
    Read(io::Error),
    /// The file ends within the header.
    #[error(
        "the .npy header is cut short: expected {expected} bytes of {part}, found {found}; save or copy it again"
    )]
    Truncated {
        /// Part of the header.
        part: &'static str,
        /// Bytes expected.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The version of the format is not 1.0, 2.0 or 3.0.
    #[error(
        ".npy version {major}.{minor} is unknown; save it again with `np.save`, which writes 1.0"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The header is longer than any supported array needs.
    #[error(
        "the .npy header claims {claimed} bytes, more than the {longest} allowed; it is corrupt, save it again"
    )]
    TooLong {
        /// Bytes claimed.
        claimed: u32,
        /// Bytes allowed.
        longest: u32,
    },
    /// The header text is not the right dictionary.
    #[error(
        "corrupt .npy header: expected {wanted} at byte {at} of its text, found \"{found}\"; save it again"
    )]
    Syntax {
        /// Position in the header text, from 0.
        at: usize,
        /// The text expected there.
        wanted: &'static str,
        /// The text found there.
        found: String,
    },
    /// A key of the dictionary is missing.
    #[error("corrupt .npy header: no key '{key}'; save it again")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A key of the dictionary appears twice.
    #[error("corrupt .npy header: key '{key}' twice; save it again")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// A key that the format does not have.
    #[error("corrupt .npy header: unknown key '{key}'; save it again")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A dimension beyond 2^64 - 1.
    #[error(
        "the .npy header has a dimension of {size}, beyond 2^64 - 1; it is corrupt, save it again"
    )]
    SizeOverflow {
        /// The digits of the dimension.
        size: String,
    },
    /// A shape whose data would be beyond 2^64 - 1 bytes.
    #[error(
        "the .npy header's shape {shape:?} of {dtype} is more than 2^64 - 1 bytes; it is corrupt, save it again"
    )]
    ShapeOverflow {
        /// The dimensions.
        shape: Vec<u64>,
        /// The element type.
        dtype: Dtype,
    },
    /// Two opaque bytes for each element: most likely bfloat16, which the format cannot represent.
    #[error(
        "its elements are 2 opaque bytes ('{descr}'); if they are bf16, save them raw with `a.tofile(f)` and read them \
         with --dtype bf16"
    )]
    Opaque {
        /// The type in the header.
        descr: String,
    },
    /// An element type that the kernels do not support.
    #[error("element type \"{descr}\" is not supported, only {} are; {advice}", names())]
    Unsupported {
        /// The type in the header.
        descr: String,
        /// How to convert it.
        advice: &'static str,
    },
}

/// The contents of a header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) stored: Stored,
    pub(super) shape: Vec<u64>,
    pub(super) is_fortran: bool,
    /// The number of elements of the shape. They need no more than 2^64 - 1 bytes in memory and in
    /// the file.
    pub(super) len: u64,
    /// Bytes from the start of the file to the data.
    pub(super) data_offset: u64,
}

impl Header {
    /// Reads a header after its [`MAGIC`]; `reader` is then at the start of the data.
    pub(super) fn read(mut reader: impl Read) -> Result<Self, NpyError> {
        let mut offset = MAGIC.len() as u64;
        let mut take = |part, expected: u64| -> Result<Vec<u8>, NpyError> {
            let mut bytes = Vec::new();
            reader.by_ref().take(expected).read_to_end(&mut bytes).map_err(NpyError::Read)?;
            let found = bytes.len() as u64;
            offset += found;
            if found == expected {
                Ok(bytes)
            } else {
                Err(NpyError::Truncated { part, expected, found })
            }
        };

        let version = take("version", 2)?;
        let len_size = match version[..] {
            [1, 0] => 2,
            [2 | 3, 0] => 4,
            _ => {
                return Err(NpyError::Version { major: version[0], minor: version[1] });
            }
        };
        let mut len = [0; 4];
        len[..len_size].copy_from_slice(&take("length", len_size as u64)?);
        let len = u32::from_le_bytes(len);
        if len > LONGEST_HEADER {
            return Err(NpyError::TooLong { claimed: len, longest: LONGEST_HEADER });
        }
        let text = take("text", u64::from(len))?;
        let Fields { descr, fortran_order, shape } = Fields::parse(&text)?;
        let stored = stored(&descr)?;
        let dtype = stored.dtype();
        let Some(bytes) = byte_len(dtype, &shape) else {
            return Err(NpyError::ShapeOverflow { shape, dtype });
        };
        Ok(Self {
            stored,
            shape,
            is_fortran: fortran_order,
            len: bytes / dtype.size() as u64,
            data_offset: offset,
        })
    }
}

/// The element type of a header, or the reason why it cannot be read.
fn stored(descr: &str) -> Result<Stored, NpyError> {
    if let Some(stored) = Stored::of_npy(descr) {
        return Ok(stored);
    }
    if matches!(descr, "<V2" | "|V2") {
        let descr = descr.to_owned();
        return Err(NpyError::Opaque { descr });
    }
    Err(NpyError::Unsupported { advice: advice(descr), descr: printable(descr.as_bytes()) })
}

/// How to save an array of this type so that gridsync can read it. The kinds are from numpy's array
/// interface.
fn advice(descr: &str) -> &'static str {
    if descr.starts_with('[') {
        return "save one field of it, `a['name']`";
    }
    match descr.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('f' | 'O') => "convert it with `a.astype('<f8')`",
        Some('c') => "save `a.real` or `a.imag`",
        Some('m' | 'M') => "convert it with `a.astype('<i8')`",
        _ => "convert it to numbers with `a.astype('<f4')`",
    }
}

/// The header of C-order data, padded so that the data after it is aligned. `descr` is from
/// [`Dtype::npy_descr`].
pub(super) fn header_bytes(descr: &str, shape: &[u64]) -> Vec<u8> {
    let sizes: String = match shape {
        [size] => format!("{size},"),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Magic, version and length field come before the text, and a newline ends it.
    let padded = |len_size: usize| {
        let before = MAGIC.len() + 2 + len_size;
        (before + text.len() + 1).next_multiple_of(DATA_ALIGNMENT) - before
    };
    let mut header = MAGIC.to_vec();
    let len = match u16::try_from(padded(2)) {
        Ok(len) => {
            header.extend([1, 0]);
            header.extend(len.to_le_bytes());
            usize::from(len)
        }
        Err(_) => {
            let len = padded(4);
            header.extend([2, 0]);
            header.extend((len as u32).to_le_bytes());
            len
        }
    };
    header.extend(text.as_bytes());
    header.resize(header.len() + len - text.len() - 1, b' ');
    header.push(b'\n');
    header
}
