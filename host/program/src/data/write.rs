//! Writes an array, either completely or not at all.

use super::array::byte_len;
use super::outgoing::{create_npy, create_raw};
use super::{DataError, Dtype, Output};

/// Writes a `.npy` file: a header, then `bytes`, the elements in C order.
///
/// A regular file appears under its name only when all of it is on the disk. Until then, and after
/// any failure, an existing file is unchanged. Devices, FIFOs and standard output are written
/// directly.
///
/// # Errors
/// [`DataError::NoNpyDescr`] for bf16, [`DataError::ShapeMismatch`] if `bytes` does not match
/// `shape`, [`DataError::Write`] if the operating system fails.
pub fn write_npy(
    output: &Output,
    dtype: Dtype,
    shape: &[u64],
    bytes: &[u8],
) -> Result<(), DataError> {
    if dtype.npy_descr().is_some() && byte_len(dtype, shape) != Some(bytes.len() as u64) {
        return Err(DataError::ShapeMismatch {
            output: output.clone(),
            bytes: bytes.len(),
            dtype,
            shape: shape.to_vec(),
        });
    }
    let mut outgoing = create_npy(output, dtype, shape)?;
    outgoing.push(bytes)?;
    outgoing.finish()
}

/// Writes little-endian elements unchanged; completely or not at all, like [`write_npy`].
///
/// # Errors
/// [`DataError::Write`] if the operating system fails.
pub fn write_raw(output: &Output, bytes: &[u8]) -> Result<(), DataError> {
    let mut outgoing = create_raw(output)?;
    outgoing.push(bytes)?;
    outgoing.finish()
}
