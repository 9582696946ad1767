//! Reading an array from a file or a pipe.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read};

use super::array::Aligned;
use super::npy::{self, Header};
use super::{Array, DataError, Dtype, Input};

/// First bytes of a zip file, which is what an `.npz` is (PKWARE APPNOTE, 4.3.7).
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Reads a whole array: `.npy` if it starts as one does, raw little-endian elements of type `dtype` otherwise.
///
/// A file goes into one allocation by large reads, and a wrong length is reported before any of it is read.
///
/// # Errors
/// Any of the variants of [`DataError`] that name an `input`.
pub fn read(input: &Input, dtype: Option<Dtype>) -> Result<Array, DataError> {
    let Input::Path(path) = input else {
        return Source::new(input, io::stdin().lock(), None).read(dtype);
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
    Source::new(input, file, len).read(dtype)
}

fn refused(input: &Input, cause: io::Error) -> DataError {
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

impl<'a, R: Read> Source<'a, R> {
    pub(super) fn new(input: &'a Input, reader: R, len: Option<u64>) -> Self {
        Self { input, reader, len }
    }

    pub(super) fn read(mut self, dtype: Option<Dtype>) -> Result<Array, DataError> {
        let mut start = Vec::with_capacity(npy::MAGIC.len());
        (&mut self.reader)
            .take(npy::MAGIC.len() as u64)
            .read_to_end(&mut start)
            .map_err(|cause| refused(self.input, cause))?;
        if start == npy::MAGIC {
            return self.read_npy(dtype);
        }
        let input = || self.input.clone();
        if start.starts_with(ZIP_MAGIC) && dtype.is_none() {
            Err(DataError::Archive { input: input() })
        } else if self.is_named_npy() {
            // Read as raw, a damaged .npy would give numbers, and nobody would know that they are wrong.
            Err(DataError::NotNpy { input: input() })
        } else if let Some(dtype) = dtype {
            self.read_raw(start, dtype)
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

    fn read_npy(mut self, asked: Option<Dtype>) -> Result<Array, DataError> {
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

        let expected = header.data_len;
        if let Some(len) = self.len {
            self.check_len(expected, len.saturating_sub(header.data_offset))?;
        }
        let mut data = self.allocate(expected)?;
        // One byte beyond the data would show that there is more; the capacity has room for it.
        data.fill(&mut self.reader, expected.saturating_add(1))
            .map_err(|cause| refused(self.input, cause))?;
        self.check_len(expected, data.bytes().len() as u64)?;
        Ok(Array::new(held, header.shape, data))
    }

    /// `start` is what has been read already.
    fn read_raw(mut self, start: Vec<u8>, dtype: Dtype) -> Result<Array, DataError> {
        let data = if let Some(len) = self.len {
            self.check_whole_elements(len, dtype)?;
            let mut data = self.allocate(len)?;
            data.fill(start.as_slice(), len)
                .and_then(|()| data.fill(&mut self.reader, len))
                .map_err(|cause| refused(self.input, cause))?;
            self.check_len(len, data.bytes().len() as u64)?;
            data
        } else {
            let mut bytes = start;
            self.reader
                .read_to_end(&mut bytes)
                .map_err(|cause| refused(self.input, cause))?;
            let len = bytes.len() as u64;
            self.check_whole_elements(len, dtype)?;
            Aligned::from_vec(bytes).map_err(|_| self.out_of_memory(len))?
        };
        let elements = data.bytes().len() / dtype.size();
        Ok(Array::new(dtype, vec![elements as u64], data))
    }

    fn allocate(&self, bytes: u64) -> Result<Aligned, DataError> {
        usize::try_from(bytes)
            .ok()
            .and_then(|len| Aligned::with_capacity(len).ok())
            .ok_or_else(|| self.out_of_memory(bytes))
    }

    fn out_of_memory(&self, bytes: u64) -> DataError {
        DataError::OutOfMemory {
            input: self.input.clone(),
            bytes,
        }
    }

    fn check_len(&self, expected: u64, found: u64) -> Result<(), DataError> {
        let input = || self.input.clone();
        match found.cmp(&expected) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(DataError::Truncated {
                input: input(),
                expected,
                found,
            }),
            Ordering::Greater => Err(DataError::Trailing {
                input: input(),
                expected,
                found,
            }),
        }
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
