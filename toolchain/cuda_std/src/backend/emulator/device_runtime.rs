//! The device runtime of the emulator.

use crate::device_runtime::sealed::Place;
use crate::device_runtime::{Attribute, Error, Geometry};
use crate::launch::Launchable;
use simt::{Child, Queue, Refusal};

fn queue(place: Place) -> Queue {
    match place {
        Place::Block => Queue::Block,
        Place::Made(handle) => Queue::Stream(handle as u32),
        Place::FireAndForget => Queue::FireAndForget,
        Place::TailLaunch => Queue::TailLaunch,
    }
}

fn dim(dim: crate::Dim3) -> simt::Dim3 {
    simt::Dim3::new(dim.x, dim.y, dim.z)
}

/// # Safety
///
/// As for [`launch`](crate::device_runtime::launch).
#[track_caller]
pub(crate) unsafe fn launch<K: Launchable>(
    geometry: Geometry,
    place: Place,
    args: K::Args,
) -> Result<(), Error> {
    let child = Child {
        kernel: K::NAME,
        grid: dim(geometry.grid),
        block: dim(geometry.block),
        dynamic_shared: geometry.dynamic_shared as usize,
        // SAFETY: the caller vouches for the arguments and for the kernel's contract, and the
        // emulator calls this in an emulated thread.
        body: Box::new(move || unsafe { K::run(args) }),
    };
    simt::launch_child(queue(place), child).map_err(|refusal| match refusal {
        Refusal::Configuration => Error::INVALID_CONFIGURATION,
        Refusal::TooDeep => Error::LAUNCH_MAX_DEPTH_EXCEEDED,
        Refusal::TooMany => Error::LAUNCH_PENDING_COUNT_EXCEEDED,
    })
}

#[track_caller]
pub(crate) fn create_stream() -> Result<u64, Error> {
    Ok(simt::create_stream().into())
}

/// The emulator keeps streams and events until the grid has ended.
#[track_caller]
pub(crate) fn destroy_stream(_handle: u64) {}

#[track_caller]
pub(crate) fn create_event() -> Result<u64, Error> {
    Ok(simt::create_event().into())
}

#[track_caller]
pub(crate) fn destroy_event(_handle: u64) {}

#[track_caller]
pub(crate) fn record(event: u64, place: Place) -> Result<(), Error> {
    simt::record_event(event as u32, queue(place));
    Ok(())
}

#[track_caller]
pub(crate) fn wait(place: Place, event: u64) -> Result<(), Error> {
    simt::wait_event(queue(place), event as u32);
    Ok(())
}

/// There is one device.
#[track_caller]
pub(crate) fn device() -> Result<u32, Error> {
    Ok(0)
}

#[track_caller]
pub(crate) fn attribute(attribute: Attribute) -> Result<u32, Error> {
    Ok(match attribute {
        Attribute::MaxThreadsPerBlock => 1024,
        Attribute::MaxSharedPerBlock => 48 << 10,
        Attribute::WarpSize => simt::WARP_LANES,
        Attribute::Multiprocessors => simt::multiprocessors(),
    })
}
