//! Whether there is CUDA here, and which devices.

use super::query;
use crate::device::{DeviceError, NoCuda, OLDEST_DRIVER};
use libcuda::{CUDA_ERROR_NO_DEVICE, CUresult};

/// One device, without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSummary {
    /// What [`Cuda::new`](super::Cuda::new) calls it.
    pub ordinal: u32,
    /// What it is and how much it has.
    pub properties: crate::device::Properties,
}

/// Every CUDA device here, at least one; opens none of them.
///
/// # Errors
/// [`DeviceError::NoCuda`] with the reason if there is none; otherwise what the driver says when
/// asked about one.
pub fn probe() -> Result<Vec<DeviceSummary>, DeviceError> {
    (0..count()?)
        .map(|ordinal| {
            Ok(DeviceSummary { ordinal, properties: query::properties(query::device(ordinal)?)? })
        })
        .collect()
}

/// Starts the driver, if it has not been, and counts its devices: one or more.
pub(super) fn count() -> Result<u32, DeviceError> {
    libcuda::available().map_err(NoCuda::from)?;
    let started = |result: CUresult| {
        result.ok().map_err(|result| match result {
            CUDA_ERROR_NO_DEVICE => NoCuda::NoDevice,
            result => NoCuda::Broken { result },
        })
    };
    let found = query::driver_version()?;
    if found < OLDEST_DRIVER {
        return Err(NoCuda::DriverTooOld { found }.into());
    }
    // SAFETY: 0 is the one value that flags may have; starting twice is allowed.
    started(unsafe { libcuda::cuInit(0) })?;
    let mut count = 0;
    // SAFETY: `count` is there to be written.
    started(unsafe { libcuda::cuDeviceGetCount(&raw mut count) })?;
    match u32::try_from(count) {
        Ok(0) | Err(_) => Err(NoCuda::NoDevice.into()),
        Ok(count) => Ok(count),
    }
}
