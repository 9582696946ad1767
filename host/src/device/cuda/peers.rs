//! Access of GPUs to each other's memory.

use super::Cuda;
use crate::device::DeviceError;
use cust::context::ContextHandle;
use libcuda::{
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUdevice,
};

impl Cuda {
    /// Lets kernels and copies of this device reach the memory of `other`.
    ///
    /// # Errors
    /// [`DeviceError::NoPeerAccess`], and what the driver says.
    pub(in crate::device) fn reach(&self, other: &Self) -> Result<(), DeviceError> {
        let (from, to) = (self.ordinal, other.ordinal);
        if from == to {
            return Ok(());
        }
        let during = || format!("asking whether CUDA device {from} reaches the memory of {to}");
        let mut can = 0;
        // SAFETY: `can` is there to be written; ordinals are the handles of devices that are open.
        let result = unsafe {
            libcuda::cuDeviceCanAccessPeer(&raw mut can, from as CUdevice, to as CUdevice)
        };
        DeviceError::check(result, during)?;
        let refused = Err(DeviceError::NoPeerAccess { from, to });
        if can == 0 {
            return refused;
        }
        self.enter()?;
        // SAFETY: both contexts are live, and this one is current.
        let result = unsafe { libcuda::cuCtxEnablePeerAccess(other.context.get_inner().cast(), 0) };
        match result {
            CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => refused,
            result => DeviceError::check(result, during),
        }
    }

    /// What [`Cuda::new`] calls it.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }
}
