//! Device properties that a kernel can query.

use super::Error;
use crate::backend::device_runtime as backend;
use cuda_std_macros::instruction;

/// A device attribute that a kernel can query (`cudaDeviceAttr`).
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Maximum threads per block.
    MaxThreadsPerBlock = 1,
    /// Maximum bytes of shared memory per block, without opting in to more.
    MaxSharedPerBlock = 8,
    /// Lanes per warp.
    WarpSize = 10,
    /// Multiprocessors.
    Multiprocessors = 16,
}

/// The index of the device that the kernel runs on (`cudaGetDevice`). A kernel can control only
/// this device.
///
/// # Errors
/// If the runtime reports an error.
#[instruction]
pub fn device() -> Result<u32, Error> {
    backend::device()
}

/// An attribute of the device that the kernel runs on (`cudaDeviceGetAttribute`).
///
/// # Errors
/// If the runtime reports an error.
#[instruction]
pub fn attribute(attribute: Attribute) -> Result<u32, Error> {
    backend::attribute(attribute)
}
