//! An array of which the elements are yet to be read.

use std::cmp::Ordering;
use std::io::{self, Read};

use super::array::Aligned;
use super::read::refused;
use super::{Array, DataError, Dtype, Input};
use crate::memory::NoRoom;

/// An array that has been [opened](super::open): its type and shape are known, and its elements come all at once or
/// piece by piece, in C order.
pub struct Incoming<'a> {
    input: Input,
    dtype: Dtype,
    shape: Vec<u64>,
    /// Bytes of all elements, and of those that have been taken.
    bytes: u64,
    taken: u64,
    elements: Elements<'a>,
}

pub(super) enum Elements<'a> {
    ToRead(Box<dyn Read + 'a>),
    /// Raw elements from a pipe, of which nobody knew how many there would be.
    Here(Aligned),
}

impl<'a> Incoming<'a> {
    /// `bytes` are those of the shape.
    pub(super) fn new(
        input: &Input,
        dtype: Dtype,
        shape: Vec<u64>,
        bytes: u64,
        elements: Elements<'a>,
    ) -> Self {
        Self {
            input: input.clone(),
            dtype,
            shape,
            bytes,
            taken: 0,
            elements,
        }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions, as those of an [`Array`].
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        usize::try_from(self.bytes / self.dtype.size() as u64).unwrap_or(usize::MAX)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// All elements, of which none has been taken before.
    ///
    /// # Errors
    /// [`DataError::OutOfMemory`], [`DataError::Read`], [`DataError::Truncated`] and [`DataError::Trailing`].
    pub fn all(self) -> Result<Array, DataError> {
        let data = match self.elements {
            Elements::Here(data) => data,
            Elements::ToRead(reader) => {
                let mut data = allocate(&self.input, self.bytes)?;
                // One byte beyond the data would show that there is more; the capacity has room for it.
                data.fill(reader, self.bytes.saturating_add(1))
                    .map_err(|cause| refused(&self.input, cause))?;
                check_len(&self.input, self.bytes, data.bytes().len() as u64)?;
                data
            }
        };
        Ok(Array::new(self.dtype, self.shape, data))
    }

    /// Takes the next elements, as many as fill `piece`; with the last of all it looks whether there is more.
    ///
    /// # Errors
    /// [`DataError::Read`], [`DataError::Truncated`] and [`DataError::Trailing`].
    ///
    /// # Panics
    /// If fewer elements are left.
    pub fn next(&mut self, piece: &mut [u8]) -> Result<(), DataError> {
        let end = self.taken + piece.len() as u64;
        assert!(end <= self.bytes, "fewer elements are left");
        match &mut self.elements {
            Elements::Here(data) => {
                piece.copy_from_slice(&data.bytes()[self.taken as usize..end as usize]);
            }
            Elements::ToRead(reader) => {
                let more = if end == self.bytes { 1 } else { 0 };
                let found = read_up_to(reader, piece)
                    .and_then(|found| match found == piece.len() {
                        true => Ok(found + read_up_to(reader, &mut [0][..more])?),
                        false => Ok(found),
                    })
                    .map_err(|cause| refused(&self.input, cause))?;
                let found = self.taken + found as u64;
                if found < end || found > self.bytes {
                    check_len(&self.input, self.bytes, found)?;
                }
            }
        }
        self.taken = end;
        Ok(())
    }
}

/// Reads until `into` is full or there is no more; how much there was.
fn read_up_to(reader: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < into.len() {
        match reader.read(&mut into[found..]) {
            Ok(0) => break,
            Ok(more) => found += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

pub(super) fn out_of_memory(input: &Input) -> impl FnOnce(NoRoom) -> DataError {
    let input = input.clone();
    |no_room| DataError::OutOfMemory { input, no_room }
}

fn allocate(input: &Input, bytes: u64) -> Result<Aligned, DataError> {
    let len = usize::try_from(bytes).unwrap_or(usize::MAX);
    Aligned::with_capacity(len).map_err(out_of_memory(input))
}

pub(super) fn check_len(input: &Input, expected: u64, found: u64) -> Result<(), DataError> {
    let input = || input.clone();
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
