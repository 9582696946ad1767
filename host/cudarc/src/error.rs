//! Why a call failed.

use cudarc::driver::DriverError;
use gridsync::device::DeviceError;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// gridsync or the driver failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// cudarc failed.
    #[error("cudarc failed: {0}")]
    Driver(#[from] DriverError),
    /// The memory belongs to another CUDA context than the stream.
    #[error(
        "the memory is in a context of CUDA device {other}, and the stream in another context, of CUDA device {own}: copy the memory with CudaStream::clone_dtod, or make a StreamDevice for a stream of its context"
    )]
    OtherContext {
        /// The ordinal of the stream's device.
        own: usize,
        /// The ordinal of the memory's device.
        other: usize,
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
