//! Why a call failed.

use cuda_core::DriverError;
use gridsync::device::DeviceError;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// gridsync or the driver failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// cuda-core failed.
    #[error("cuda-core failed: {0}")]
    Driver(#[from] DriverError),
    /// The memory belongs to another CUDA context than the stream.
    #[error(
        "the memory is in a context of CUDA device {other}, and the stream in another context, of CUDA device {own}: copy the memory through the host, or make a StreamDevice for a stream of its context"
    )]
    OtherContext {
        /// The ordinal of the stream's device.
        own: usize,
        /// The ordinal of the memory's device.
        other: usize,
    },
    /// Unfinished work in another stream uses the memory, which cuda-core refuses too.
    #[error(
        "unfinished work in another stream uses the memory: call Stream::synchronize for that stream before lending the memory"
    )]
    InUse,
    /// The elements to lend are not all in the buffer.
    #[error("elements {start}..{end} of a buffer of {len} were asked for")]
    OutOfBounds {
        /// The first element.
        start: usize,
        /// The element after the last.
        end: usize,
        /// The number of elements of the buffer.
        len: usize,
    },
    /// The buffer belongs to another device.
    #[error(
        "a buffer on {other} was given to a stream on {own}: use buffers of the same StreamDevice or of its new streams"
    )]
    OtherDevice {
        /// The device of the stream.
        own: String,
        /// The device of the buffer.
        other: String,
    },
    /// The buffer does not own its memory, so it cannot be given away.
    #[error(
        "a buffer of {len} elements does not own its memory: use the memory that it was made from"
    )]
    NotOwned {
        /// Its number of elements.
        len: usize,
    },
}
