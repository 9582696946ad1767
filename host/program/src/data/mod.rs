//! Reads and writes arrays in files: `.npy` and raw little-endian.
//!
//! [`read`] reads a path or standard input into an [`Array`]: elements of one [`Dtype`], flat, in C
//! order. A `.npy` file is recognised by its first bytes and contains its type. Anything else is
//! raw little-endian elements, and the caller must name their type. `file.npz:name` is an array of
//! an archive. When an array is read, narrow integers are widened, big-endian elements swapped, and
//! Fortran order is transposed ([`Stored`]). [`write_npy`] and [`write_raw`] write a whole file or
//! none. [`open`], [`create_npy`] and [`Growing`] do the same piece by piece, for arrays that do
//! not fit in memory. [`Reading`] and [`Writing`] use threads, so that reading, computing and
//! writing happen at the same time, and [`ReadAhead`] reads while a device opens.
//!
//! ```
//! use gridsync_program::data::{self, Dtype, Input, Output};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("ramp.npy");
//! let values = [1.0f32, 2.0, 3.0];
//! data::write_npy(&Output::parse(&path), Dtype::F32, &[3], bytemuck::cast_slice(&values))?;
//!
//! let array = data::read(&Input::parse(&path), None)?;
//! assert_eq!(array.shape(), [3]);
//! assert_eq!(array.as_slice::<f32>()?, values);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod error;
mod foreign;
mod growing;
mod identity;
mod incoming;
mod lines;
mod literal;
mod npy;
mod npz;
mod outgoing;
mod place;
mod read;
mod read_ahead;
mod reader_thread;
mod replacement;
mod sample;
mod spill;
mod stored;
#[cfg(test)]
mod tests;
mod transpose;
mod write;
mod writer_thread;

pub use array::Array;
pub use error::DataError;
pub use foreign::Foreign;
pub use gridsync_verify::{Dtype, ParseDtypeError, Scalar};
pub use growing::Growing;
pub use identity::Identity;
pub use incoming::Incoming;
pub use lines::{Along, moved_to_the_end};
pub use npy::NpyError;
pub use npz::NpzError;
pub use outgoing::{Outgoing, create_npy, create_raw};
pub use place::{Input, Output};
pub use read::{open, open_stored, read};
pub use read_ahead::ReadAhead;
pub use reader_thread::{Part, Reading};
pub use replacement::discard_partials;
pub use spill::Spill;
pub use stored::{Narrow, ParseStoredError, Stored};
pub use write::{write_npy, write_raw};
pub use writer_thread::{Destination, Writing};

#[cfg(target_endian = "big")]
compile_error!("gridsync takes file bytes as they are, so it needs a little-endian host");
