//! Chooses between one cooperative launch and one launch per stage.

use super::cooperative::{Blocks, cooperative, resident_blocks};
use crate::device::{Device, DeviceError, Geometry, KernelInfo};
use cuda_std::launch::Kernel;

/// How to launch a computation of several stages, where each stage needs all results of the
/// previous one.
///
/// The grid is the same either way, so each thread processes the same elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One cooperative launch, with a grid barrier between the stages.
    Single(Geometry),
    /// One plain launch per stage, in order: the end of a launch is the barrier. Blocks need not be
    /// co-resident, so grids may have any size. Each stage costs a launch, and cannot keep anything
    /// in registers or shared memory for the next one.
    Stages(Geometry),
}

/// How to launch `blocks` blocks of `threads` threads and `dynamic_shared` bytes: once as
/// `Cooperative` if all of them can be resident at once, otherwise as `Staged`, stage by stage.
///
/// # Errors
/// [`DeviceError::EmptyGrid`] if there is nothing to launch, [`DeviceError::BadBlock`] or
/// [`DeviceError::SharedTooLarge`] if not even one block of `Staged` fits, and as for
/// [`resident_blocks`].
///
/// # Examples
///
/// ```
/// use cuda_std::prelude::*;
/// use gridsync::device::Device;
/// use gridsync::launch::{Plan, barrier_words, plan};
/// use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
///
/// #[inline(always)]
/// fn each_from_its_neighbour(from: Global<u32>, to: Global<u32>) {
///     let i = thread::index();
///     to.write(i, from.read((i + 1) % from.len()) + 1);
/// }
///
/// #[kernel]
/// unsafe fn stage(from: Global<u32>, to: Global<u32>) {
///     each_from_its_neighbour(from, to);
/// }
///
/// #[kernel(cooperative)]
/// unsafe fn both_stages(x: Global<u32>, y: Global<u32>, barrier: Global<u32>) {
///     each_from_its_neighbour(x, y);
///     GridBarrier::attach(barrier).sync();
///     each_from_its_neighbour(y, x);
/// }
///
/// let device = Device::emulator();
/// for blocks in [4, 500] {
///     let x = device.zeroed::<u32>(blocks as usize * 64)?;
///     let y = device.zeroed::<u32>(x.len())?;
///     match plan::<both_stages, stage>(&device, blocks, 64, 0)? {
///         // SAFETY: an element for each thread, and the words of the barrier.
///         Plan::Single(geometry) => unsafe {
///             let barrier = barrier_words::<GridBarrier>(&device, &geometry)?;
///             let args = (&x, &y, &barrier);
///             device.launch::<both_stages>(&geometry, args)?;
///         },
///         // SAFETY: an element for each thread.
///         Plan::Stages(geometry) => unsafe {
///             device.launch::<stage>(&geometry, (&x, &y))?;
///             device.launch::<stage>(&geometry, (&y, &x))?;
///         },
///     }
///     assert!(x.download()?.iter().all(|&value| value == 2));
/// }
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
pub fn plan<Cooperative: Kernel, Staged: Kernel>(
    device: &Device,
    blocks: u32,
    threads: u32,
    dynamic_shared: u32,
) -> Result<Plan, DeviceError> {
    if device.properties().cooperative {
        match cooperative::<Cooperative>(device, Blocks::Exactly(blocks), threads, dynamic_shared) {
            Ok(geometry) => return Ok(Plan::Single(geometry)),
            // A grid that does not fit in one cooperative launch may still run stage by stage.
            Err(
                DeviceError::GridTooLarge { .. }
                | DeviceError::BadBlock { .. }
                | DeviceError::SharedTooLarge { .. },
            ) => {}
            Err(error) => return Err(error),
        }
    }
    let kernel = Staged::NAME;
    if blocks == 0 {
        return Err(DeviceError::EmptyGrid { kernel });
    }
    let attributes = device.backend().attributes(&KernelInfo::of::<Staged>())?;
    let limit = attributes.max_threads.min(device.properties().max_threads_per_block);
    let runs = (1..=limit).contains(&threads)
        && resident_blocks::<Staged>(device, threads, dynamic_shared)? > 0;
    if !runs {
        return Err(DeviceError::BadBlock { kernel, threads, limit });
    }
    Ok(Plan::Stages(Geometry::new(blocks, threads).with_dynamic_shared(dynamic_shared)))
}
