//! Launches on several GPUs whose grids wait for each other.

use super::cooperative::{Blocks, cooperative, resident_blocks};
use crate::device::{Buffer, DeviceError, Devices, Geometry};
use cuda_std::launch::Kernel;
use gridsync_kernels::grid::barrier::{AcrossGpus, head};

/// The geometry of a launch of `K` on every one of `devices`, the same on each: the number of
/// blocks given by `blocks`, all of them resident. For [`Blocks::AtMost`],
/// [`Blocks::PerMultiprocessor`] and [`Blocks::Fill`], the GPU with the least room determines the
/// number.
///
/// # Errors
/// [`DeviceError::OnGpu`] with an error of [`cooperative`] on one of them.
pub fn cooperative_on_all<K: Kernel>(
    devices: &Devices,
    blocks: Blocks,
    threads: u32,
    dynamic_shared: u32,
) -> Result<Geometry, DeviceError> {
    let of_one = devices.each(|_, device| {
        let mut geometry = cooperative::<K>(device, blocks, threads, dynamic_shared)?;
        // Grids on one GPU share its multiprocessors.
        let room = resident_blocks::<K>(device, threads, dynamic_shared)? / devices.sharing();
        if geometry.grid.x > room {
            if room == 0 || matches!(blocks, Blocks::Exactly(_) | Blocks::PerMultiprocessor(_)) {
                return Err(DeviceError::GridTooLarge {
                    kernel: K::NAME,
                    geometry,
                    resident: room.into(),
                    device: device.properties().name.clone(),
                    multiprocessors: device.properties().multiprocessors,
                });
            }
            geometry.grid = room.into();
        }
        Ok(geometry)
    })?;
    let least = of_one.into_iter().min_by_key(|geometry| geometry.grid.volume());
    Ok(least.expect("there is always a GPU"))
}

/// The words of an `S` on each GPU, for launches of up to `blocks` blocks on each.
///
/// Only one launch on all GPUs may use them at a time, but any number of launches in sequence. They
/// have to be created again only after a fault. Dropping one waits for the kernels on all GPUs.
///
/// # Errors
/// [`DeviceError::OnGpu`] with [`DeviceError::OutOfMemory`], or if the copy fails.
pub fn system_words<S: AcrossGpus>(
    devices: &Devices,
    blocks: u32,
) -> Result<Vec<Buffer<u64>>, DeviceError> {
    words_with_heads(devices, S::words(blocks as usize))
}

/// `len` words on each GPU, all zero except for the [head] with the addresses of the words of all
/// GPUs: for your own protocol, or a scan of [stripes](gridsync_kernels::grid::scan::scan_spread).
///
/// Wait for all devices before the first launch: a GPU may write to the memory of another one
/// before its zero fill has run.
///
/// # Errors
/// As for [`system_words`].
pub fn words_with_heads(devices: &Devices, len: usize) -> Result<Vec<Buffer<u64>>, DeviceError> {
    let mut words = devices.zeroed(len)?;
    let addresses: Vec<u64> = words.iter().map(Buffer::address).collect();
    for (gpu, words) in words.iter_mut().enumerate() {
        let written = words.copy_part_from(0, &head(gpu, &addresses));
        written.map_err(|error| error.on_gpu(gpu, &devices[gpu]))?;
    }
    Ok(words)
}
