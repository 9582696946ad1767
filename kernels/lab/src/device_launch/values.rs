//! Values that a child sees and receives, refused launches, and queries of the device.

use super::children::{copy, mixed, note};
use super::tell;
use cuda_std::device_runtime::{
    Attribute, Block, Error, FireAndForget, Geometry, attribute, device, launch,
};
use cuda_std::prelude::*;

/// Every thread writes its index to `values`. After a block barrier, the first thread
/// replaces its own value by 100, and launches a copy of the block's part.
///
/// # Safety
///
/// `values` and `copies` have one element for each thread, `status` one for each block, and nothing
/// else uses them until the launch has ended.
#[kernel(prefix = "device_launch_")]
pub unsafe fn hand_down(values: Global<u32>, copies: Global<u32>, status: Global<u32>) {
    values.write(thread::index(), thread::index() as u32);
    thread::sync_threads();
    if thread::is_first_in_block() {
        let threads = thread::block_dim_x();
        let first = thread::index();
        values.write(first, 100);
        let part = |of: Global<u32>| of.part(first, threads as usize);
        let block = Block::this();
        let one_each = Geometry::new(1, threads);
        // SAFETY: the writes are before the launch, and each block has its own part.
        let outcome = unsafe {
            launch::<copy>(one_each, &block.default_stream(), (part(values), part(copies)))
        };
        tell(status.part(thread::block_idx_x() as usize, 1), outcome);
    }
}

/// Launches a child with arguments of every size.
///
/// # Safety
///
/// One thread; `out` has seven elements and `status` one, which nothing else uses.
#[kernel(prefix = "device_launch_")]
pub unsafe fn pass_mixed(out: Global<u64>, status: Global<u32>) {
    let args = (1, 1 << 40, 515, out, 1.5, -2, -0.1, -70_000);
    // SAFETY: one thread, and room for its results.
    tell(status, unsafe { launch::<mixed>(Geometry::new(1, 1), &FireAndForget, args) });
}

/// Launches a note with this shape. If that is refused, launches one thread that logs 7.
///
/// # Safety
///
/// One thread; `log` has room for an entry, `status` has two elements, and nothing else uses them.
/// The shape has one thread, or is refused.
#[kernel(prefix = "device_launch_")]
pub unsafe fn refused(
    log: Global<u32>,
    blocks: u32,
    threads: u32,
    shared: u32,
    status: Global<u32>,
) {
    let shape = Geometry::new(blocks, threads).with_dynamic_shared(shared);
    // SAFETY: the shape has one thread, or the launch is refused.
    let outcome = unsafe { launch::<note>(shape, &FireAndForget, (log, 1, 0)) };
    if outcome.is_err() {
        // SAFETY: one thread.
        let again = unsafe { launch::<note>(Geometry::new(1, 1), &FireAndForget, (log, 7, 0)) };
        status.write(1, again.map_or_else(|error| error.0, |()| 0));
    }
    tell(status, outcome);
}

/// Queries everything that a kernel can query.
#[device]
fn answers(out: Global<u32>) -> Result<(), Error> {
    out.write(0, device()?);
    out.write(1, attribute(Attribute::MaxThreadsPerBlock)?);
    out.write(2, attribute(Attribute::MaxSharedPerBlock)?);
    out.write(3, attribute(Attribute::WarpSize)?);
    out.write(4, attribute(Attribute::Multiprocessors)?);
    Ok(())
}

/// Writes the device number, the most threads and the most shared memory of a block, the lanes of a
/// warp and the number of multiprocessors to `out`.
///
/// # Safety
///
/// One thread; `out` has five elements and `status` one, which nothing else uses.
#[kernel(prefix = "device_launch_")]
pub unsafe fn ask(out: Global<u32>, status: Global<u32>) {
    tell(status, answers(out));
}
