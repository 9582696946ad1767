//! The device memory of a grid barrier.

use crate::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_kernels::grid::barrier::Barrier;

/// The words of a barrier `B` for launches of `geometry`, or of fewer blocks.
///
/// They belong to one launch at a time, so one set for each stream is enough for any number of
/// launches and replays of graphs. Nothing has to be reset in between; only after a fault the words
/// have to be allocated again.
///
/// # Errors
/// [`DeviceError::OutOfMemory`], and errors of the device.
pub fn barrier_words<B: Barrier>(
    device: &Device,
    geometry: &Geometry,
) -> Result<Buffer<u32>, DeviceError> {
    device.zeroed(B::words(geometry.grid.volume() as usize))
}
