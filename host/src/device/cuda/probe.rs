//! Whether CUDA is available, and which devices it has.

use super::query;
use crate::device::{DeviceError, NoCuda, OLDEST_DRIVER};
use libcuda::{CUDA_ERROR_NO_DEVICE, CUresult};

/// A device that has not been opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSummary {
    /// The ordinal, as for [`Cuda::new`](super::Cuda::new).
    pub ordinal: u32,
    /// The properties of the device.
    pub properties: crate::device::Properties,
}

/// Lists all CUDA devices, at least one, without opening them.
///
/// # Errors
/// [`DeviceError::NoCuda`] with the reason if there are no devices; otherwise if the driver fails
/// to describe one.
pub fn probe() -> Result<Vec<DeviceSummary>, DeviceError> {
    (0..count()?)
        .map(|ordinal| {
            Ok(DeviceSummary { ordinal, properties: query::properties(query::device(ordinal)?)? })
        })
        .collect()
}

/// Starts the driver if necessary, and counts its devices: one or more.
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
    // SAFETY: the only valid value of the flags is 0; starting twice is allowed.
    started(unsafe { libcuda::cuInit(0) })?;
    let mut count = 0;
    // SAFETY: the pointer to `count` is valid for writes.
    started(unsafe { libcuda::cuDeviceGetCount(&raw mut count) })?;
    match u32::try_from(count) {
        Ok(0) | Err(_) => Err(NoCuda::NoDevice.into()),
        Ok(count) => Ok(count),
    }
}
