//! The primary context of a device, and its holder: cust with the feature `cust`, otherwise this
//! library.

use crate::device::DeviceError;
#[cfg(feature = "cust")]
use libcuda::CUresult;
use libcuda::{CUcontext, CUdevice};
use std::ptr;

/// Keeps a primary context alive until it is dropped.
#[cfg(feature = "cust")]
pub(super) type Held = cust::context::Context;
#[cfg(not(feature = "cust"))]
pub(super) type Held = Retained;

/// Retains the primary context of a device.
///
/// # Errors
/// If the driver fails.
pub(super) fn hold(ordinal: u32, device: CUdevice) -> Result<(CUcontext, Held), DeviceError> {
    let (context, retained) = Retained::new(device)?;
    Ok((context, held(retained, ordinal)?))
}

#[cfg(not(feature = "cust"))]
fn held(retained: Retained, _ordinal: u32) -> Result<Held, DeviceError> {
    Ok(retained)
}

/// A retain through cust.
///
/// cust reads results as an enum from 2021 and must never see a newer number, such as 46 for a
/// device in exclusive use. So the driver has been called before, and cust only increments a count.
/// `retained` is released afterwards: releasing it earlier would make the driver close the context
/// and create it again, which takes 0.17 s on an H200 (2026-11-24).
#[cfg(feature = "cust")]
fn held(retained: Retained, ordinal: u32) -> Result<Held, DeviceError> {
    let held = cust::device::Device::get_device(ordinal).and_then(Held::new);
    drop(retained);
    // cust keeps the driver's number. Its own `Display` asks the driver for a text, and panics if
    // there is none.
    held.map_err(|error| DeviceError::of_driver(CUresult(error as u32), RETAINING.into()))
}

const RETAINING: &str = "retaining the primary context of a CUDA device";

/// One retain of a device's primary context, released when dropped.
pub(super) struct Retained(CUdevice);

impl Retained {
    fn new(device: CUdevice) -> Result<(CUcontext, Self), DeviceError> {
        let mut context = ptr::null_mut();
        // SAFETY: the device belongs to an initialised driver, and the pointer to `context` is
        // valid for writes.
        let result = unsafe { libcuda::cuDevicePrimaryCtxRetain(&raw mut context, device) };
        DeviceError::check(result, || RETAINING.into())?;
        Ok((context, Self(device)))
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: this releases the retain of `new`. A failure belongs to an earlier call.
        let _lost = unsafe { libcuda::cuDevicePrimaryCtxRelease_v2(self.0) };
    }
}
