//! Access of GPUs to each other's memory.

use super::{Cuda, probe};
use crate::device::DeviceError;
use libcuda::{
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUdevice,
};

impl Cuda {
    /// Lets kernels and copies of this device reach the memory of `other`.
    ///
    /// # Errors
    /// [`DeviceError::NoPeerAccess`], and what the driver says.
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

    /// What [`Cuda::new`] calls it.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.gpu.ordinal
    }
}

/// Whether kernels and copies of CUDA device `from` can reach the memory of device `to`. Every
/// device reaches its own. Opens none of them.
///
/// # Errors
/// [`DeviceError::NoCuda`], [`DeviceError::NoSuchDevice`], and what the driver says.
pub fn reaches(from: u32, to: u32) -> Result<bool, DeviceError> {
    let count = probe::count()?;
    match [from, to].into_iter().find(|&ordinal| ordinal >= count) {
        Some(ordinal) => Err(DeviceError::NoSuchDevice { ordinal, count }),
        None if from == to => Ok(true),
        None => can_reach(from, to),
    }
}

/// What the driver says about two devices that are not the same.
fn can_reach(from: u32, to: u32) -> Result<bool, DeviceError> {
    let handle = |ordinal: u32| {
        let mut device: CUdevice = 0;
        // SAFETY: `device` is there to be written.
        let result = unsafe { libcuda::cuDeviceGet(&raw mut device, ordinal as i32) };
        DeviceError::check(result, || asking(from, to)).map(|()| device)
    };
    let (device, peer) = (handle(from)?, handle(to)?);
    let mut can = 0;
    // SAFETY: `can` is there to be written, and both are handles of the driver.
    let result = unsafe { libcuda::cuDeviceCanAccessPeer(&raw mut can, device, peer) };
    DeviceError::check(result, || asking(from, to)).map(|()| can != 0)
}

fn asking(from: u32, to: u32) -> String {
    format!("asking whether CUDA device {from} reaches the memory of {to}")
}
