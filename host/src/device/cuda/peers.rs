//! Access of GPUs to each other's memory.

use super::{Cuda, probe};
use crate::device::DeviceError;
use libcuda::{
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUdevice,
};

impl Cuda {
    /// Gives kernels and copies of this device access to the memory of `other`.
    ///
    /// # Errors
    /// [`DeviceError::NoPeerAccess`], and if the driver fails.
    pub(in crate::device) fn reach(&self, other: &Self) -> Result<(), DeviceError> {
        let (from, to) = (self.gpu.ordinal, other.gpu.ordinal);
        if from == to {
            return Ok(());
        }
        let refused = Err(DeviceError::NoPeerAccess { from, to });
        if !can_reach(from, to)? {
            return refused;
        }
        self.gpu.enter()?;
        // SAFETY: both contexts are live, and this one is current.
        let result = unsafe { libcuda::cuCtxEnablePeerAccess(other.gpu.context.0, 0) };
        match result {
            CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => refused,
            result => DeviceError::check(result, || asking(from, to)),
        }
    }

    /// The ordinal, as for [`Cuda::new`].
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.gpu.ordinal
    }
}

/// Whether kernels and copies of CUDA device `from` can access the memory of device `to`. Every
/// device can access its own. Does not open the devices.
///
/// # Errors
/// [`DeviceError::NoCuda`], [`DeviceError::NoSuchDevice`], and if the driver fails.
pub fn reaches(from: u32, to: u32) -> Result<bool, DeviceError> {
    let count = probe::count()?;
    match [from, to].into_iter().find(|&ordinal| ordinal >= count) {
        Some(ordinal) => Err(DeviceError::NoSuchDevice { ordinal, count }),
        None if from == to => Ok(true),
        None => can_reach(from, to),
    }
}

/// Queries the driver for two different devices.
fn can_reach(from: u32, to: u32) -> Result<bool, DeviceError> {
    let handle = |ordinal: u32| {
        let mut device: CUdevice = 0;
        // SAFETY: the pointer to `device` is valid for writes.
        let result = unsafe { libcuda::cuDeviceGet(&raw mut device, ordinal as i32) };
        DeviceError::check(result, || asking(from, to)).map(|()| device)
    };
    let (device, peer) = (handle(from)?, handle(to)?);
    let mut can = 0;
    // SAFETY: the pointer to `can` is valid for writes, and both handles come from the driver.
    let result = unsafe { libcuda::cuDeviceCanAccessPeer(&raw mut can, device, peer) };
    DeviceError::check(result, || asking(from, to)).map(|()| can != 0)
}

fn asking(from: u32, to: u32) -> String {
    format!("asking whether CUDA device {from} reaches the memory of {to}")
}
