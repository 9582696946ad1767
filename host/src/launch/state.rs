//! The device memory that a grid barrier lives in.

use crate::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_kernels::grid::barrier::Barrier;

/// The words of a barrier `B` for launches of `geometry`, or of fewer blocks.
///
/// They belong to one launch at a time: one set for each stream is enough, whatever is launched into
/// it one after another, any number of times, by itself or as a graph that is replayed. Nothing has
/// to be reset in between; only after a fault the words are made anew.
///
/// # Errors
/// [`DeviceError::OutOfMemory`], and those of the device.
pub fn barrier_words<B: Barrier>(
    device: &Device,
    geometry: &Geometry,
) -> Result<Buffer<u32>, DeviceError> {
    device.zeroed(B::words(geometry.grid.volume() as usize))
}
