//! What a kernel can ask about its device.

use super::Error;
use crate::backend::device_runtime as backend;
use cuda_std_macros::instruction;

/// A number that a kernel can ask for (`cudaDeviceAttr`).
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// The most threads of a block.
    MaxThreadsPerBlock = 1,
    /// The most bytes of shared memory of a block, without opting in to more.
    MaxSharedPerBlock = 8,
    /// Lanes of a warp.
    WarpSize = 10,
    /// Multiprocessors.
    Multiprocessors = 16,
}

/// The number of the device that the kernel runs on (`cudaGetDevice`). A kernel can steer no other.
///
/// # Errors
/// What the runtime says.
#[instruction]
pub fn device() -> Result<u32, Error> {
    backend::device()
}

/// One attribute of the device that the kernel runs on (`cudaDeviceGetAttribute`).
///
/// # Errors
/// What the runtime says.
#[instruction]
pub fn attribute(attribute: Attribute) -> Result<u32, Error> {
    backend::attribute(attribute)
}
