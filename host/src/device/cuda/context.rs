//! The primary context of a device, and what holds it: cust with the feature `cust`, this library without.

use crate::device::DeviceError;
#[cfg(feature = "cust")]
use libcuda::CUresult;
use libcuda::{CUcontext, CUdevice};
use std::ptr;

/// What keeps a primary context alive until it is dropped.
#[cfg(feature = "cust")]
pub(super) type Held = cust::context::Context;
#[cfg(not(feature = "cust"))]
pub(super) type Held = Retained;

/// The primary context of a device, and what holds it.
///
/// # Errors
/// What the driver says.
pub(super) fn hold(ordinal: u32, device: CUdevice) -> Result<(CUcontext, Held), DeviceError> {
    let (context, retained) = Retained::new(device)?;
    Ok((context, held(retained, ordinal)?))
}

#[cfg(not(feature = "cust"))]
fn held(retained: Retained, _ordinal: u32) -> Result<Held, DeviceError> {
    Ok(retained)
}

/// cust's own hold on the context.
///
/// cust reads results as an enum of 2021 and must never see a newer number, such as 46 for a device in exclusive
/// use: so the driver has been asked before, and cust only adds to a count. `retained` is released afterwards. If it
/// were released before, the driver would close the context and make it again: 0.17 s on an H200 (2026-11-24).
#[cfg(feature = "cust")]
fn held(retained: Retained, ordinal: u32) -> Result<Held, DeviceError> {
    let held = cust::device::Device::get_device(ordinal).and_then(Held::new);
    drop(retained);
    // cust keeps the number that the driver gave. Its own `Display` asks the driver for text, and panics if there
    // is none.
    held.map_err(|error| DeviceError::of_driver(CUresult(error as u32), RETAINING.into()))
}

const RETAINING: &str = "retaining the primary context of a CUDA device";

/// One retain of a device's primary context, released when dropped.
pub(super) struct Retained(CUdevice);

impl Retained {
    fn new(device: CUdevice) -> Result<(CUcontext, Self), DeviceError> {
        let mut context = ptr::null_mut();
        // SAFETY: the device is of an initialised driver, and `context` is there to be written.
        let result = unsafe { libcuda::cuDevicePrimaryCtxRetain(&raw mut context, device) };
        DeviceError::check(result, || RETAINING.into())?;
        Ok((context, Self(device)))
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: this releases what `new` retained. A failure belongs to an earlier call.
        let _lost = unsafe { libcuda::cuDevicePrimaryCtxRelease_v2(self.0) };
    }
}
