//! The device runtime: functions of NVIDIA's `libcudadevrt.a`, which is linked into the module
//! (CUDA C++ Programming Guide, "Device-side Launch from PTX"; names and numbers from
//! `cuda_device_runtime_api.h`).

use crate::Dim3;
use crate::device_runtime::sealed::Place;
use crate::device_runtime::{Attribute, Error, Geometry};
use crate::launch::{KernelArgs, Launchable};
use core::ffi::c_void;

/// `cudaStreamNonBlocking`, the only kind of stream on the device.
const NON_BLOCKING: u32 = 1;
/// `cudaEventDisableTiming`, the only kind of event on the device.
const DISABLE_TIMING: u32 = 2;

// `Dim3` has the layout of `dim3`. Streams and events are pointers in C.
unsafe extern "C" {
    fn __cudaCDP2GetParameterBufferV2(
        entry: *const c_void,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
    ) -> *mut c_void;
    fn __cudaCDP2LaunchDeviceV2(buffer: *mut c_void, stream: u64) -> u32;
    fn __cudaCDP2GetLastError() -> u32;
    fn __cudaCDP2StreamCreateWithFlags(stream: *mut u64, flags: u32) -> u32;
    fn __cudaCDP2StreamDestroy(stream: u64) -> u32;
    fn __cudaCDP2StreamWaitEvent(stream: u64, event: u64, flags: u32) -> u32;
    fn __cudaCDP2EventCreateWithFlags(event: *mut u64, flags: u32) -> u32;
    fn __cudaCDP2EventRecord(event: u64, stream: u64) -> u32;
    fn __cudaCDP2EventDestroy(event: u64) -> u32;
    fn __cudaCDP2GetDevice(device: *mut u32) -> u32;
    fn __cudaCDP2DeviceGetAttribute(value: *mut u32, attribute: u32, device: u32) -> u32;
}

/// The handle of a queue.
#[inline(always)]
fn stream(place: Place) -> u64 {
    match place {
        Place::Block => 0,
        Place::Made(handle) => handle,
        Place::TailLaunch => 3,
        Place::FireAndForget => 4,
    }
}

/// # Safety
///
/// As for [`launch`](crate::device_runtime::launch).
#[inline(always)]
pub(crate) unsafe fn launch<K: Launchable>(
    geometry: Geometry,
    place: Place,
    args: K::Args,
) -> Result<(), Error> {
    let Geometry { grid, block, dynamic_shared } = geometry;
    // SAFETY: the entry is a kernel of this module. The buffer has room for its parameters, which
    // have the layout of the argument tuple. The runtime aligns the buffer to at least 8 bytes, the
    // most that a parameter needs.
    unsafe {
        let buffer = __cudaCDP2GetParameterBufferV2(K::entry(), grid, block, dynamic_shared);
        if buffer.is_null() {
            Error::check(__cudaCDP2GetLastError())?;
            return Err(Error::MEMORY_ALLOCATION);
        }
        args.write_to(buffer);
        Error::check(__cudaCDP2LaunchDeviceV2(buffer, stream(place)))
    }
}

/// The number that `ask` writes.
#[inline(always)]
fn answer<T: Default>(ask: impl FnOnce(*mut T) -> u32) -> Result<T, Error> {
    let mut answer = T::default();
    Error::check(ask(&raw mut answer))?;
    Ok(answer)
}

#[inline(always)]
pub(crate) fn create_stream() -> Result<u64, Error> {
    // SAFETY: `made` points to a writable variable.
    answer(|made| unsafe { __cudaCDP2StreamCreateWithFlags(made, NON_BLOCKING) })
}

#[inline(always)]
pub(crate) fn destroy_stream(handle: u64) {
    // SAFETY: a stream of this block, which is destroyed only here. An error would be from an
    // earlier call.
    let _lost = unsafe { __cudaCDP2StreamDestroy(handle) };
}

#[inline(always)]
pub(crate) fn create_event() -> Result<u64, Error> {
    // SAFETY: `made` points to a writable variable.
    answer(|made| unsafe { __cudaCDP2EventCreateWithFlags(made, DISABLE_TIMING) })
}

#[inline(always)]
pub(crate) fn destroy_event(event: u64) {
    // SAFETY: an event of this block, which is destroyed only here.
    let _lost = unsafe { __cudaCDP2EventDestroy(event) };
}

#[inline(always)]
pub(crate) fn record(event: u64, place: Place) -> Result<(), Error> {
    // SAFETY: an event and a stream of this block.
    Error::check(unsafe { __cudaCDP2EventRecord(event, stream(place)) })
}

#[inline(always)]
pub(crate) fn wait(place: Place, event: u64) -> Result<(), Error> {
    // SAFETY: a stream and an event of this block; flags must be 0.
    Error::check(unsafe { __cudaCDP2StreamWaitEvent(stream(place), event, 0) })
}

#[inline(always)]
pub(crate) fn device() -> Result<u32, Error> {
    // SAFETY: `number` points to a writable variable.
    answer(|number| unsafe { __cudaCDP2GetDevice(number) })
}

#[inline(always)]
pub(crate) fn attribute(attribute: Attribute) -> Result<u32, Error> {
    let device = device()?;
    // SAFETY: `value` points to a writable variable.
    answer(|value| unsafe { __cudaCDP2DeviceGetAttribute(value, attribute as u32, device) })
}
