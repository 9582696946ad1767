//! Planning a launch whose blocks must all be resident at once.

use crate::device::{Device, DeviceError, Geometry, KernelInfo};
use cuda_std::launch::Kernel;

/// How many blocks a cooperative launch is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// This many; more than fit is an error.
    Exactly(u32),
    /// This many, or as many as fit.
    AtMost(u32),
    /// This many on each multiprocessor; more than fit is an error.
    PerMultiprocessor(u32),
    /// As many as fit.
    Fill,
}

/// How many blocks of `threads` threads and `dynamic_shared` bytes can be resident at once.
///
/// # Errors
/// As for [`Backend::occupancy`](crate::device::Backend::occupancy).
pub fn resident_blocks<K: Kernel>(
    device: &Device,
    threads: u32,
    dynamic_shared: u32,
) -> Result<u32, DeviceError> {
    let per_multiprocessor =
        device
            .backend()
            .occupancy(&KernelInfo::of::<K>(), threads, dynamic_shared)?;
    Ok(per_multiprocessor * device.properties().multiprocessors)
}

/// The geometry of a launch of `K` in which all blocks are resident at once.
///
/// # Errors
/// [`DeviceError::GridTooLarge`] with the largest grid that would fit, [`DeviceError::BadBlock`]
/// if not one block fits or there is nothing to launch, and as for [`resident_blocks`].
pub fn cooperative<K: Kernel>(
    device: &Device,
    blocks: Blocks,
    threads: u32,
    dynamic_shared: u32,
) -> Result<Geometry, DeviceError> {
    let kernel = KernelInfo::of::<K>();
    let attributes = device.backend().attributes(&kernel)?;
    let limit = attributes
        .max_threads
        .min(device.properties().max_threads_per_block);
    let bad_block = Err(DeviceError::BadBlock {
        kernel: K::NAME,
        threads,
        limit,
    });
    if threads == 0 || threads > limit {
        return bad_block;
    }
    let resident = resident_blocks::<K>(device, threads, dynamic_shared)?;
    if resident == 0 {
        return bad_block;
    }
    let requested = match blocks {
        Blocks::Exactly(blocks) => blocks,
        Blocks::AtMost(blocks) => blocks.min(resident),
        Blocks::PerMultiprocessor(blocks) => {
            blocks.saturating_mul(device.properties().multiprocessors)
        }
        Blocks::Fill => resident,
    };
    let geometry = Geometry::new(requested, threads)
        .with_dynamic_shared(dynamic_shared)
        .cooperative();
    match requested {
        0 => Err(DeviceError::EmptyGrid { kernel: K::NAME }),
        requested if requested > resident => Err(DeviceError::GridTooLarge {
            kernel: K::NAME,
            geometry,
            resident: resident.into(),
            device: device.properties().name.clone(),
            multiprocessors: device.properties().multiprocessors,
        }),
        _ => Ok(geometry),
    }
}
