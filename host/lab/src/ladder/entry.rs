//! Kernels as values, so that a table of rungs can hold them.

use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::resident_blocks;

/// Any kernel with these arguments.
#[derive(Clone, Copy, Debug)]
pub struct Entry<Args> {
    pub(super) name: &'static str,
    pub(super) launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
    pub(super) resident: fn(&Device, u32, u32) -> Result<u32, DeviceError>,
    /// The body, as one emulated thread.
    pub(super) run: unsafe fn(Args),
}

impl<Args> Entry<Args> {
    pub(super) const fn of<K: Kernel<Args = Args>>() -> Self {
        Self { name: K::NAME, launch: launch::<K>, resident: resident_blocks::<K>, run: K::run }
    }
}

/// [`Device::launch`] as a function pointer.
///
/// # Safety
/// As for [`Device::launch`].
unsafe fn launch<K: Kernel>(
    device: &Device,
    geometry: &Geometry,
    args: K::Args,
) -> Result<(), DeviceError> {
    // SAFETY: guaranteed by the caller.
    unsafe { device.launch::<K>(geometry, args) }
}
