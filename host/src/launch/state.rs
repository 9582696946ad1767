//! The device memory of a grid barrier.

use crate::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_kernels::grid::barrier::Barrier;

/// The words of a barrier `B` for launches of `geometry`, or of fewer blocks.
///
/// Only one launch at a time may use them, so one set per stream is enough for any number of
/// launches and graph replays. They need no reset in between; only after a fault they have to be
/// allocated again.
///
/// # Errors
/// [`DeviceError::OutOfMemory`], and if the device fails.
pub fn barrier_words<B: Barrier>(
    device: &Device,
    geometry: &Geometry,
) -> Result<Buffer<u32>, DeviceError> {
    device.zeroed(B::words(geometry.grid.volume() as usize))
}
