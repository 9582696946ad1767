//! An array from a file: its elements, type and shape.

use std::io::{self, Read};

use super::{DataError, Dtype, Scalar};
use gridsync::memory::{self, NoRoom};

/// Elements of one type, flat, in C order. The array may have any rank, including 0 (one element),
/// and may be empty.
#[derive(Debug)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<u64>,
    data: Aligned,
}

impl Array {
    /// `data` must have exactly the length of the shape.
    pub(super) fn new(dtype: Dtype, shape: Vec<u64>, data: Aligned) -> Self {
        debug_assert_eq!(byte_len(dtype, &shape), Some(data.bytes().len() as u64));
        Self { dtype, shape, data }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions, slowest first; empty for a single value. Raw input has one dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.dtype.size()
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// The elements as little-endian bytes, aligned to 16 bytes.
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// The elements as a slice, without copying.
    ///
    /// # Errors
    /// [`DataError::WrongType`] if `T` is not the type of the elements; nothing is converted.
    pub fn as_slice<T: Scalar>(&self) -> Result<&[T], DataError> {
        if T::DTYPE == self.dtype {
            Ok(bytemuck::cast_slice(self.bytes()))
        } else {
            Err(DataError::WrongType { held: self.dtype, asked: T::DTYPE })
        }
    }

    /// The elements as a slice that can be changed.
    ///
    /// # Errors
    /// As for [`as_slice`](Self::as_slice).
    pub fn as_mut_slice<T: Scalar>(&mut self) -> Result<&mut [T], DataError> {
        if T::DTYPE == self.dtype {
            Ok(bytemuck::cast_slice_mut(self.data.bytes_mut()))
        } else {
            Err(DataError::WrongType { held: self.dtype, asked: T::DTYPE })
        }
    }
}

/// The size in bytes of an array of this shape and type, or `None` beyond 2^64 - 1.
pub(super) fn byte_len(dtype: Dtype, shape: &[u64]) -> Option<u64> {
    // A dimension of 0 makes the array empty, even if the product of the others is too large.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(dtype.size() as u64, |bytes, &n| bytes.checked_mul(n))
}

/// Bytes aligned to [`Aligned::TO`].
///
/// This is a `Vec<u8>` that skips its first few bytes. A vector of 16-byte words would have to be
/// zeroed before a file is read into it, while `read_to_end` fills the unused capacity of a byte
/// vector directly.
pub(super) struct Aligned {
    storage: Vec<u8>,
    start: usize,
}

impl Aligned {
    /// The widest load of kernels and their references.
    pub(super) const TO: usize = 16;

    /// Capacity for `len` bytes, not touched yet.
    pub(super) fn with_capacity(len: usize) -> Result<Self, NoRoom> {
        let mut storage: Vec<u8> = Vec::new();
        let bytes = len as u64;
        memory::reserve(&mut storage, len.saturating_add(Self::TO))
            .map_err(|no_room| NoRoom { bytes, ..no_room })?;
        memory::ask_for_huge_pages(storage.spare_capacity_mut());
        let start = storage.as_ptr().align_offset(Self::TO);
        storage.resize(start, 0);
        Ok(Self { storage, start })
    }

    /// `len` zero bytes.
    pub(super) fn zeroed(len: usize) -> Result<Self, NoRoom> {
        let mut aligned = Self::from_vec(memory::zeroed(len)?)?;
        memory::ask_for_huge_pages(&mut aligned.storage);
        Ok(aligned)
    }

    /// Takes ownership of a vector. It is not copied if the allocator has aligned it already, as
    /// allocators mostly do.
    pub(super) fn from_vec(storage: Vec<u8>) -> Result<Self, NoRoom> {
        if storage.as_ptr().align_offset(Self::TO) == 0 {
            return Ok(Self { storage, start: 0 });
        }
        let mut aligned = Self::with_capacity(storage.len())?;
        aligned.storage.extend_from_slice(&storage);
        Ok(aligned)
    }

    /// Appends bytes from `reader`, up to `len` bytes in total or to the end. Never moves the bytes
    /// within its initial capacity.
    pub(super) fn fill(&mut self, reader: impl Read, len: u64) -> io::Result<()> {
        let missing = len.saturating_sub(self.bytes().len() as u64);
        reader.take(missing).read_to_end(&mut self.storage)?;
        Ok(())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.storage[self.start..]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..]
    }
}

impl std::fmt::Debug for Aligned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A message with a gigabyte of numbers would not help.
        write!(f, "{} bytes", self.bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_aligned_to_16_bytes() {
        for len in [0, 1, 15, 16, 17, 4095, 1 << 20] {
            let mut aligned = Aligned::with_capacity(len).unwrap();
            aligned.fill(io::repeat(7), len as u64).unwrap();
            assert_eq!(aligned.bytes(), vec![7; len]);
            assert_eq!(aligned.bytes().as_ptr().align_offset(16), 0, "{len} bytes");
        }
    }

    #[test]
    fn a_huge_allocation_is_an_error_and_not_an_abort() {
        assert!(Aligned::with_capacity(usize::MAX).is_err());
        assert!(Aligned::with_capacity(isize::MAX as usize).is_err());
    }

    #[test]
    fn a_zero_dimension_makes_any_shape_empty() {
        assert_eq!(byte_len(Dtype::F32, &[u64::MAX, 0, u64::MAX]), Some(0));
        assert_eq!(byte_len(Dtype::F32, &[]), Some(4));
        assert_eq!(byte_len(Dtype::F64, &[1 << 61]), None);
    }

    #[test]
    fn as_slice_of_another_type_is_an_error() {
        let bytes = bytemuck::cast_slice(&[1.5f64, -2.0]).to_vec();
        let array = Array::new(Dtype::F64, vec![2], Aligned::from_vec(bytes).unwrap());
        assert_eq!(array.as_slice::<f64>().unwrap(), [1.5, -2.0]);
        let message = array.as_slice::<i64>().unwrap_err().to_string();
        assert!(message.contains("f64") && message.contains("i64"), "{message}");
    }
}
