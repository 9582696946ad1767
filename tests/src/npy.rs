//! Input files for the program, written byte by byte from the description of the `.npy` format
//! (`numpy.lib.format`), independently of the code that reads them.

use crate::oracle::Plain;

/// A `.npy` file, version 1.0, with any header text and any data.
#[must_use]
pub fn raw(header: &str, data: &[u8]) -> Vec<u8> {
    let before = 6 + 2 + 2;
    let len = (before + header.len() + 1).next_multiple_of(64) - before;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((len as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.resize(before + len - 1, b' ');
    file.push(b'\n');
    file.extend(data);
    file
}

/// The header text for an array.
#[must_use]
pub fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let fortran = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
}

/// A one-dimensional array of `values`.
///
/// # Panics
///
/// If the format has no name for the type.
#[must_use]
pub fn of<T: Plain>(values: &[T]) -> Vec<u8> {
    shaped(&format!("({},)", values.len()), values)
}

/// An array of `values`, with any shape in the header.
///
/// # Panics
///
/// If the format has no name for the type.
#[must_use]
pub fn shaped<T: Plain>(shape: &str, values: &[T]) -> Vec<u8> {
    let descr = T::NPY.expect("the format should have a name for the type");
    raw(&header(descr, false, shape), bytemuck::cast_slice(values))
}
