//! Arrays that are being written.

use crate::data::{self, Dtype, Growing, Outgoing, Output, Scalar};
use bytemuck::Pod;
use std::ffi::OsString;

/// An array that is being written to an output.
pub(super) struct Sink {
    to: Output,
    dtype: Dtype,
    /// Elements so far.
    len: usize,
    file: File,
}

enum File {
    Known(Outgoing),
    Growing(Growing),
}

impl Sink {
    /// Begins an array of this shape.
    pub(super) fn of_shape(to: &OsString, dtype: Dtype, shape: &[u64]) -> anyhow::Result<Self> {
        let to = Output::parse(to);
        let file = File::Known(data::create_npy(&to, dtype, shape)?);
        Ok(Self::begin(to, dtype, file))
    }

    /// Begins an array of one dimension, whose length is not known yet.
    pub(super) fn growing(to: &OsString, dtype: Dtype) -> anyhow::Result<Self> {
        let to = Output::parse(to);
        let file = File::Growing(Growing::begin(&to, dtype)?);
        Ok(Self::begin(to, dtype, file))
    }

    fn begin(to: Output, dtype: Dtype, file: File) -> Self {
        Self { to, dtype, len: 0, file }
    }

    /// Writes the next elements.
    pub(super) fn push<T: Pod + Scalar>(&mut self, elements: &[T]) -> anyhow::Result<()> {
        debug_assert_eq!(T::DTYPE, self.dtype);
        let bytes = bytemuck::cast_slice(elements);
        self.len += elements.len();
        Ok(match &mut self.file {
            File::Known(file) => file.push(bytes),
            File::Growing(file) => file.push(bytes),
        }?)
    }

    /// Writes the elements, and gives the array back; nothing more is written to it.
    pub(super) fn with<T: Pod + Scalar>(mut self, elements: &[T]) -> anyhow::Result<Self> {
        self.push(elements)?;
        Ok(self)
    }

    /// Finishes the array. Returns a line that says what was written.
    pub(super) fn finish(self) -> anyhow::Result<String> {
        match self.file {
            File::Known(file) => file.finish(),
            File::Growing(file) => file.finish(),
        }?;
        Ok(format!("{}: {} elements of {}", self.to, self.len, self.dtype))
    }
}
