//! Reads an array from a file or a pipe.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use super::array::Aligned;
use super::foreign::{Foreign, LOOKED_AT};
use super::incoming::{Elements, check_len, out_of_memory, read_up_to};
use super::npy::{self, Header};
use super::npz::{self, NpzError};
use super::{Array, DataError, Dtype, Incoming, Input, Stored};
use gridsync::memory;

/// Bytes to read from a pipe at a time if the length is not known.
const AT_ONCE: usize = 1 << 20;

/// Reads a whole array: as `.npy` if it starts like one, otherwise as raw little-endian elements of
/// type `dtype`.
///
/// A file is read into one allocation by large reads. A wrong length is reported before any data is
/// read.
///
/// # Errors
/// Any of the variants of [`DataError`] with an `input`.
pub fn read(input: &Input, dtype: Option<Dtype>) -> Result<Array, DataError> {
    open(input, dtype)?.all()
}

/// Opens an array like [`read`], but does not read its elements. Only raw elements from a pipe are
/// read already, to count them.
///
/// # Errors
/// Any of the variants of [`DataError`] with an `input`.
pub fn open(input: &Input, dtype: Option<Dtype>) -> Result<Incoming, DataError> {
    open_stored(input, dtype.map(Stored::from))
}

/// Opens an array like [`open`]; raw elements may have any type that a file can have.
///
/// # Errors
/// As for [`open`].
pub fn open_stored(input: &Input, asked: Option<Stored>) -> Result<Incoming, DataError> {
    let Input::Path(path) = input else {
        return Source::new(input, io::stdin(), None).open(asked);
    };
    let open = |path: &Path| -> io::Result<_> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    };
    let not_there = |cause: &io::Error| cause.kind() == io::ErrorKind::NotFound;
    let (file, metadata) = match open(path) {
        Err(cause) if not_there(&cause) && npz::split(path).is_some() => {
            let (archive, name) = npz::split(path).unwrap_or_default();
            let (file, _) = open(&archive).map_err(|cause| refused(input, cause))?;
            return open_member(input, file, Some(&name), asked);
        }
        opened => opened.map_err(|cause| refused(input, cause))?,
    };
    if metadata.is_dir() {
        return Err(DataError::IsDirectory { input: input.clone() });
    }
    if asked.is_none() && metadata.is_file() && is_archive(&file).unwrap_or(false) {
        return open_member(input, file, None, asked);
    }
    // FIFOs and devices have no length, and files that the kernel generates on reading report 0.
    let len = Some(metadata.len()).filter(|&len| metadata.is_file() && len > 0);
    let again = file.try_clone().ok().zip(len);
    let array = Source::new(input, file, len).open(asked)?;
    Ok(match again {
        // The length of the file has been checked: the elements end at its end.
        Some((file, len)) => {
            let start = len - array.len() as u64 * array.stored().size() as u64;
            array.in_file(file, start)
        }
        None => array,
    })
}

/// Whether a file begins like a zip file. Then rewinds the file.
fn is_archive(mut file: &File) -> io::Result<bool> {
    let mut start = [0; 4];
    let found = read_up_to(&mut file, &mut start)?;
    file.rewind()?;
    Ok(npz::MAGIC.contains(&&start[..found]))
}

/// Opens an array of an archive.
fn open_member(
    input: &Input,
    file: File,
    name: Option<&str>,
    asked: Option<Stored>,
) -> Result<Incoming, DataError> {
    let (reader, len) = npz::open(file, name)
        .map_err(|problem| DataError::Archive { input: input.clone(), problem })?;
    Source::new(input, reader, Some(len)).open(asked)
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

/// An open input, and its known properties.
pub(super) struct Source<'a, R> {
    input: &'a Input,
    reader: R,
    /// Length of the whole input in bytes, if known in advance.
    len: Option<u64>,
}

impl<'a, R: Read + Send + 'static> Source<'a, R> {
    pub(super) fn new(input: &'a Input, reader: R, len: Option<u64>) -> Self {
        Self { input, reader, len }
    }

    pub(super) fn open(mut self, asked: Option<Stored>) -> Result<Incoming, DataError> {
        let mut start = Vec::with_capacity(npy::MAGIC.len());
        (&mut self.reader)
            .take(npy::MAGIC.len() as u64)
            .read_to_end(&mut start)
            .map_err(|cause| refused(self.input, cause))?;
        if start == npy::MAGIC {
            return self.open_npy(asked);
        }
        // If a damaged .npy file were read as raw elements, the result would be wrong without an
        // error.
        if let Some(asked) = asked.filter(|_| !self.is_named_npy()) {
            return self.open_raw(start, asked);
        }
        let input = self.input.clone();
        if asked.is_none() && npz::MAGIC.iter().any(|magic| start.starts_with(magic)) {
            return Err(DataError::Archive { input, problem: NpzError::Piped });
        }
        let more = (LOOKED_AT - start.len()) as u64;
        (&mut self.reader)
            .take(more)
            .read_to_end(&mut start)
            .map_err(|cause| refused(self.input, cause))?;
        Err(match Foreign::of(&start) {
            Some(foreign) => DataError::Foreign { input, foreign },
            None if self.is_named_npy() => DataError::NotNpy { input },
            None => DataError::NeedsDtype { input },
        })
    }

    fn is_named_npy(&self) -> bool {
        match self.input {
            Input::Stdin => false,
            Input::Path(path) => {
                path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
            }
        }
    }

    fn open_npy(mut self, asked: Option<Stored>) -> Result<Incoming, DataError> {
        let header = Header::read(&mut self.reader)
            .map_err(|problem| DataError::Npy { input: self.input.clone(), problem })?;
        let held = header.stored;
        // The user may name either the type in the file or the type in memory.
        let others = asked.filter(|&asked| asked != held && asked != held.dtype().into());
        if let Some(asked) = others {
            return Err(DataError::DtypeConflict { input: self.input.clone(), held, asked });
        }
        if let Some(len) = self.len {
            let bytes = header.len * held.size() as u64;
            check_len(self.input, bytes, len.saturating_sub(header.data_offset))?;
        }
        let order = (header.shape, header.is_fortran);
        let elements = Elements::ToRead(Box::new(self.reader));
        Ok(Incoming::new(self.input, held, order, header.len, elements))
    }

    /// `start` contains the bytes read so far.
    fn open_raw(mut self, start: Vec<u8>, stored: Stored) -> Result<Incoming, DataError> {
        let size = stored.size() as u64;
        let (len, elements) = if let Some(bytes) = self.len {
            self.check_whole_elements(bytes, stored)?;
            // Bytes appended to the file since it was opened are not part of the array.
            let reader = Cursor::new(start).chain(self.reader).take(bytes);
            (bytes / size, Elements::ToRead(Box::new(reader)))
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
            let bytes = all.len() as u64;
            self.check_whole_elements(bytes, stored)?;
            let data = if stored.is_plain() {
                Aligned::from_vec(all).map_err(out_of_memory(self.input))?
            } else {
                let wide = all.len() / stored.size() * stored.dtype().size();
                let mut data = Aligned::zeroed(wide).map_err(out_of_memory(self.input))?;
                stored.convert(&all, data.bytes_mut());
                data
            };
            (bytes / size, Elements::Here(data))
        };
        let order = (vec![len], false);
        Ok(Incoming::new(self.input, stored, order, len, elements))
    }

    fn check_whole_elements(&self, bytes: u64, stored: Stored) -> Result<(), DataError> {
        if bytes.is_multiple_of(stored.size() as u64) {
            return Ok(());
        }
        Err(DataError::PartialElement { input: self.input.clone(), bytes, stored })
    }
}
