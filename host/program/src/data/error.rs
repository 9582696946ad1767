//! Errors of inputs and outputs, each in one line.

use std::io;

use super::stored::names;
use super::{Dtype, Foreign, Input, NpyError, NpzError, Output, Stored};
use crate::shown;
use gridsync::memory::NoRoom;
use std::path::PathBuf;

/// An input that cannot be read, or an output that cannot be written.
///
/// Each message is one complete line with the file, the numbers, the cause and a remedy, so that no
/// [`source`](std::error::Error::source) needs to be printed after it.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The path does not exist.
    #[error("{input}: no such file; check the path, or give `-` to read standard input")]
    NotFound {
        /// The input.
        input: Input,
    },
    /// The path names a directory.
    #[error("{input}: is a directory; name a .npy or raw file in it")]
    IsDirectory {
        /// The input.
        input: Input,
    },
    /// The file is not readable for this user.
    #[error(
        "{input}: permission denied; make it readable with `chmod +r`, or pipe it in and give `-`"
    )]
    PermissionDenied {
        /// The input.
        input: Input,
    },
    /// The operating system failed to open or read it.
    #[error(
        "{input}: reading failed: {cause}; check the disk or the program at the other end of the pipe"
    )]
    Read {
        /// The input.
        input: Input,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The input has more bytes than this process can allocate.
    #[error("{input}: {no_room}")]
    OutOfMemory {
        /// The input.
        input: Input,
        /// The bytes that it needs and the bytes that are free.
        no_room: NoRoom,
    },
    /// The input is not `.npy`, and no element type was given.
    #[error(
        "{input}: is not .npy (it does not start with \\x93NUMPY), so name the type of its raw little-endian elements: \
         --dtype {}",
        names().replace(", ", "|")
    )]
    NeedsDtype {
        /// The input.
        input: Input,
    },
    /// A zip file, as written by `np.savez`, or an array in one.
    #[error("{input}: {problem}")]
    Archive {
        /// The input.
        input: Input,
        /// The problem with the archive.
        problem: NpzError,
    },
    /// A format other than `.npy`, recognised by its first bytes, and no element type was given.
    #[error("{input}: is {}, not .npy; {}", .foreign.seen, .foreign.advice)]
    Foreign {
        /// The input.
        input: Input,
        /// The recognised format.
        foreign: Foreign,
    },
    /// The name ends in `.npy`, but the content is not `.npy`.
    #[error(
        "{input}: is named .npy but does not start with \\x93NUMPY; save it again with `np.save`, or rename it if it is raw"
    )]
    NotNpy {
        /// The input.
        input: Input,
    },
    /// A raw input ends within an element.
    #[error("{input}: {bytes} bytes are not a whole number of {}-byte {stored} elements ({} left over); check --dtype, or whether it was cut short", stored.size(), bytes % stored.size() as u64)]
    PartialElement {
        /// The input.
        input: Input,
        /// Its length in bytes.
        bytes: u64,
        /// The requested element type.
        stored: Stored,
    },
    /// The type in the `.npy` header differs from `--dtype`.
    #[error(
        "{input}: holds {held}, but --dtype says {asked}; leave --dtype out, or convert the file"
    )]
    DtypeConflict {
        /// The input.
        input: Input,
        /// The type in the header.
        held: Stored,
        /// The requested type.
        asked: Stored,
    },
    /// A `.npy` header that is corrupt, or describes data that gridsync does not support.
    #[error("{input}: {problem}")]
    Npy {
        /// The input.
        input: Input,
        /// The problem with the header.
        problem: NpyError,
    },
    /// The input has fewer bytes of data than expected.
    #[error(
        "{input}: expected {expected} bytes of data, found {found}; the file was cut short, save or copy it again"
    )]
    Truncated {
        /// The input.
        input: Input,
        /// Bytes expected from the header, or from the file's length when it was opened.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The input has more bytes of data than the header describes.
    #[error(
        "{input}: expected {expected} bytes of data, found at least {found}; save one array per file, nothing after it"
    )]
    Trailing {
        /// The input.
        input: Input,
        /// Bytes expected from the header.
        expected: u64,
        /// Bytes found so far; a pipe is not read to its end to count them all.
        found: u64,
    },
    /// The caller requested elements of a type that the array does not have.
    #[error("the array holds {held}, not {asked}; ask for {held}, or convert the file first")]
    WrongType {
        /// The type of the elements.
        held: Dtype,
        /// The requested type.
        asked: Dtype,
    },
    /// The number of bytes to write does not match the shape.
    #[error(
        "{output}: {bytes} bytes are not the data of shape {shape:?} of {dtype}; pass one element for each index"
    )]
    ShapeMismatch {
        /// The output.
        output: Output,
        /// Number of bytes given.
        bytes: usize,
        /// Type given.
        dtype: Dtype,
        /// Shape given.
        shape: Vec<u64>,
    },
    /// The `.npy` format cannot represent the element type.
    #[error("{output}: .npy does not support {dtype}; convert the elements to f32")]
    NoNpyDescr {
        /// The output.
        output: Output,
        /// Type given.
        dtype: Dtype,
    },
    /// Memory cannot hold the elements for a stream. A `.npy` file begins with the number of
    /// elements, so that a stream gets them only after the last one.
    #[error("{output}: {no_room}; a pipe or a device needs the whole array in memory; name a file")]
    NotHeld {
        /// The output.
        output: Output,
        /// The bytes that it needs and the bytes that are free.
        no_room: NoRoom,
    },
    /// The system failed to write or read a temporary file.
    #[error(
        "a temporary file of {bytes} bytes in {}: {cause}; free some space there, or process the whole array at once, without --part",
        shown::path(folder)
    )]
    Spill {
        /// Where the file is.
        folder: PathBuf,
        /// Its length in bytes.
        bytes: u64,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The system cannot start another thread.
    #[error(
        "cannot start a thread: {cause}; raise the limit of threads (`ulimit -u`, or the limit of the container), or use fewer: RAYON_NUM_THREADS=1"
    )]
    NoThread {
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The name is not valid for an array.
    #[error("{output}: not written: {problem}")]
    BadName {
        /// The output.
        output: Output,
        /// The problem with the name, and a remedy.
        problem: &'static str,
    },
    /// The existing file is not writable.
    #[error(
        "{output}: not written: the file is read-only; make it writable with `chmod +w`, or name another file"
    )]
    ReadOnly {
        /// The output.
        output: Output,
    },
    /// The operating system failed to write it. An existing file is unchanged.
    #[error("{output}: not written: {cause}; {}", remedy(cause))]
    Write {
        /// The output.
        output: Output,
        /// The error of the operating system.
        cause: io::Error,
    },
}

/// The remedy for a failed write.
fn remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => "create the folder first",
        io::ErrorKind::NotADirectory => "a part of the path is a file, name a folder",
        io::ErrorKind::IsADirectory => "name a file in it",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "name a folder that you can write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space or name another disk"
        }
        _ => "check the disk, or name another path",
    }
}
