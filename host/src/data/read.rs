//! Reading an array from a file or a pipe.

use std::fs::File;
use std::io::{self, Cursor, Read};

use super::array::Aligned;
use super::incoming::{Elements, check_len, out_of_memory};
use super::npy::{self, Header};
use super::{Array, DataError, Dtype, Incoming, Input};
use crate::memory;

/// First bytes of a zip file, which is what an `.npz` is (PKWARE APPNOTE, 4.3.7).
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes that a pipe is asked for at once, where nobody knows how many there are.
const AT_ONCE: usize = 1 << 20;

/// Reads a whole array: `.npy` if it starts as one does, raw little-endian elements of type `dtype` otherwise.
///
/// A file goes into one allocation by large reads, and a wrong length is reported before any of it is read.
///
/// # Errors
/// Any of the variants of [`DataError`] that name an `input`.
pub fn read(input: &Input, dtype: Option<Dtype>) -> Result<Array, DataError> {
    open(input, dtype)?.all()
}

/// Opens an array as [`read`] does, and leaves its elements to be read; but raw ones from a pipe are read, to know how
/// many there are.
///
/// # Errors
/// Any of the variants of [`DataError`] that name an `input`.
pub fn open(input: &Input, dtype: Option<Dtype>) -> Result<Incoming<'static>, DataError> {
    let Input::Path(path) = input else {
        return Source::new(input, io::stdin(), None).open(dtype);
    };
    let open = || -> io::Result<_> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    };
    let (file, metadata) = open().map_err(|cause| refused(input, cause))?;
    if metadata.is_dir() {
        return Err(DataError::IsDirectory {
            input: input.clone(),
        });
    }
    // FIFOs and devices have no length, and files that the kernel makes up as they are read say 0.
    let len = Some(metadata.len()).filter(|&len| metadata.is_file() && len > 0);
    Source::new(input, file, len).open(dtype)
}

pub(super) fn refused(input: &Input, cause: io::Error) -> DataError {
    let input = input.clone();
    match cause.kind() {
        io::ErrorKind::NotFound => DataError::NotFound { input },
        io::ErrorKind::PermissionDenied => DataError::PermissionDenied { input },
        io::ErrorKind::IsADirectory => DataError::IsDirectory { input },
        _ => DataError::Read { input, cause },
    }
}

/// An open input, and what is known of it.
pub(super) struct Source<'a, R> {
    input: &'a Input,
    reader: R,
    /// Length of the whole input in bytes, where it can be known beforehand.
    len: Option<u64>,
}

impl<'a, 'r, R: Read + 'r> Source<'a, R> {
    pub(super) fn new(input: &'a Input, reader: R, len: Option<u64>) -> Self {
        Self { input, reader, len }
    }

    pub(super) fn open(mut self, dtype: Option<Dtype>) -> Result<Incoming<'r>, DataError> {
        let mut start = Vec::with_capacity(npy::MAGIC.len());
        (&mut self.reader)
            .take(npy::MAGIC.len() as u64)
            .read_to_end(&mut start)
            .map_err(|cause| refused(self.input, cause))?;
        if start == npy::MAGIC {
            return self.open_npy(dtype);
        }
        let input = || self.input.clone();
        if start.starts_with(ZIP_MAGIC) && dtype.is_none() {
            Err(DataError::Archive { input: input() })
        } else if self.is_named_npy() {
            // Read as raw, a damaged .npy would give numbers, and nobody would know that they are wrong.
            Err(DataError::NotNpy { input: input() })
        } else if let Some(dtype) = dtype {
            self.open_raw(start, dtype)
        } else {
            Err(DataError::NeedsDtype { input: input() })
        }
    }

    fn is_named_npy(&self) -> bool {
        match self.input {
            Input::Stdin => false,
            Input::Path(path) => path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("npy")),
        }
    }

    fn open_npy(mut self, asked: Option<Dtype>) -> Result<Incoming<'r>, DataError> {
        let header = Header::read(&mut self.reader).map_err(|problem| DataError::Npy {
            input: self.input.clone(),
            problem,
        })?;
        let held = header.dtype;
        if let Some(asked) = asked.filter(|&asked| asked != held) {
            return Err(DataError::DtypeConflict {
                input: self.input.clone(),
                held,
                asked,
            });
        }
        let bytes = header.data_len;
        if let Some(len) = self.len {
            check_len(self.input, bytes, len.saturating_sub(header.data_offset))?;
        }
        let elements = Elements::ToRead(Box::new(self.reader));
        Ok(Incoming::new(
            self.input,
            held,
            header.shape,
            bytes,
            elements,
        ))
    }

    /// `start` is what has been read already.
    fn open_raw(mut self, start: Vec<u8>, dtype: Dtype) -> Result<Incoming<'r>, DataError> {
        let (bytes, elements) = if let Some(len) = self.len {
            self.check_whole_elements(len, dtype)?;
            // What is appended meanwhile is no part of it.
            let reader = Cursor::new(start).chain(self.reader).take(len);
            (len, Elements::ToRead(Box::new(reader)))
        } else {
            let mut all = start;
            loop {
                memory::reserve(&mut all, AT_ONCE).map_err(out_of_memory(self.input))?;
                let mut next = (&mut self.reader).take(AT_ONCE as u64);
                let found = next.read_to_end(&mut all);
                if found.map_err(|cause| refused(self.input, cause))? == 0 {
                    break;
                }
            }
            let len = all.len() as u64;
            self.check_whole_elements(len, dtype)?;
            let data = Aligned::from_vec(all).map_err(out_of_memory(self.input))?;
            (len, Elements::Here(data))
        };
        let shape = vec![bytes / dtype.size() as u64];
        Ok(Incoming::new(self.input, dtype, shape, bytes, elements))
    }

    fn check_whole_elements(&self, bytes: u64, dtype: Dtype) -> Result<(), DataError> {
        let size = dtype.size();
        if bytes.is_multiple_of(size as u64) {
            return Ok(());
        }
        Err(DataError::PartialElement {
            input: self.input.clone(),
            bytes,
            dtype,
            size,
        })
    }
}
