//! Why a device could not be measured.

use crate::ExperimentError;
use gridsync::device::DeviceError;

/// An error from measuring a device.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A kernel computed a wrong result.
    #[error("{what} gave {found} on the device, but {expected} on the host")]
    Wrong {
        /// The computation.
        what: &'static str,
        /// Result of the kernel.
        found: u32,
        /// Expected result.
        expected: u32,
    },
    /// Not enough memory is free.
    #[error(
        "{free} bytes of device memory are free, and arrays that no cache holds need {needed}: end other programs that use the device"
    )]
    NoRoom {
        /// Free bytes.
        free: usize,
        /// Bytes that must be free.
        needed: usize,
    },
}

impl From<MemoryError> for ExperimentError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Device(error) => error.into(),
            wrong @ MemoryError::Wrong { .. } => Self::Wrong(wrong.to_string()),
            no_room @ MemoryError::NoRoom { .. } => Self::Failed(no_room.to_string()),
        }
    }
}

/// Fails unless a kernel has found the expected value.
pub(super) fn expect(what: &'static str, found: u32, expected: u32) -> Result<(), MemoryError> {
    if found == expected { Ok(()) } else { Err(MemoryError::Wrong { what, found, expected }) }
}
