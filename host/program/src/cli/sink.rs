//! Arrays that are being written.

use super::job::Job;
use crate::data::{self, Destination, Dtype, Growing, Output, Scalar, Stored, Writing};
use bytemuck::Pod;
use std::ffi::OsString;

/// Bytes to copy for the writer at a time.
const AT_ONCE: usize = 4 << 20;

/// An array that is written to an output while the next elements are computed.
pub(super) struct Sink {
    to: Output,
    stored: Stored,
    /// Elements so far.
    len: usize,
    writing: Writing,
}

impl Sink {
    /// Begins an array of this shape.
    pub(super) fn of_shape(
        to: &OsString,
        stored: impl Into<Stored>,
        shape: &[u64],
    ) -> anyhow::Result<Self> {
        let (to, stored) = (Output::parse(to), stored.into().native());
        let file = Destination::Known(data::create_npy(&to, stored, shape)?);
        Self::begin(to, stored, file)
    }

    /// Begins an array of one dimension whose length is not known yet.
    pub(super) fn growing(to: &OsString, dtype: Dtype) -> anyhow::Result<Self> {
        let to = Output::parse(to);
        let file = Destination::Growing(Growing::begin(&to, dtype)?);
        Self::begin(to, dtype.into(), file)
    }

    fn begin(to: Output, stored: Stored, file: Destination) -> anyhow::Result<Self> {
        let writing = Writing::begin(to.clone(), file)?;
        Ok(Self { to, stored, len: 0, writing })
    }

    /// Writes the next elements.
    pub(super) fn push<T: Pod + Scalar>(&mut self, elements: &[T]) -> anyhow::Result<()> {
        debug_assert_eq!(self.stored, T::DTYPE.into());
        self.push_stored(elements)
    }

    /// Writes the next elements, which are in the type of the file.
    pub(super) fn push_stored<T: Pod>(&mut self, elements: &[T]) -> anyhow::Result<()> {
        debug_assert_eq!(self.stored.size(), size_of::<T>());
        self.len += elements.len();
        for bytes in bytemuck::cast_slice::<T, u8>(elements).chunks(AT_ONCE) {
            let mut buffer = self.writing.buffer(bytes.len())?;
            buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
            self.writing.push(buffer, bytes.len())?;
        }
        Ok(())
    }

    /// Writes the next `len` elements, which `compute` puts into memory that devices can copy to
    /// directly.
    pub(super) fn fill<T: Pod + Scalar>(
        &mut self,
        job: &Job<'_>,
        len: usize,
        compute: impl FnOnce(&mut [T]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        debug_assert_eq!(self.stored, T::DTYPE.into());
        let bytes = len.saturating_mul(size_of::<T>());
        let mut buffer = self.writing.buffer(bytes)?;
        job.pin(&mut buffer);
        compute(&mut buffer.elements_mut()[..len])?;
        self.writing.push(buffer, bytes)?;
        self.len += len;
        Ok(())
    }

    /// Writes the elements and returns the array; nothing more is written to it.
    pub(super) fn with<T: Pod + Scalar>(mut self, elements: &[T]) -> anyhow::Result<Self> {
        self.push(elements)?;
        Ok(self)
    }

    /// Like [`with`](Self::with), for elements that are in the type of the file.
    pub(super) fn with_stored<T: Pod>(mut self, elements: &[T]) -> anyhow::Result<Self> {
        self.push_stored(elements)?;
        Ok(self)
    }

    /// Finishes the array. Returns a line that describes what was written.
    pub(super) fn finish(self) -> anyhow::Result<String> {
        self.writing.finish()?;
        Ok(format!("{}: {} elements of {}", self.to, self.len, self.stored))
    }
}
