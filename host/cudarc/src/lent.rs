//! Memory that is lent to a device for the length of a call.

use crate::StreamDevice;
use bytemuck::Pod;
use cudarc::driver::{CudaSlice, CudaView, CudaViewMut, DevicePtr, DevicePtrMut};
use gridsync::device::Buffer;
use std::process::abort;

/// Memory of cudarc that can be read: a [`CudaSlice`], [`CudaView`] or [`CudaViewMut`].
///
/// No other type can implement it, because gridsync relies on the address and the length.
pub trait Readable<T>: DevicePtr<T> + sealed::Sealed {}

/// Memory of cudarc that can be written: a [`CudaSlice`] or [`CudaViewMut`].
///
/// No other type can implement it, because gridsync relies on the address and the length.
pub trait Writable<T>: DevicePtrMut<T> + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

impl<T> sealed::Sealed for CudaSlice<T> {}
impl<T> sealed::Sealed for CudaView<'_, T> {}
impl<T> sealed::Sealed for CudaViewMut<'_, T> {}
impl<T> Readable<T> for CudaSlice<T> {}
impl<T> Readable<T> for CudaView<'_, T> {}
impl<T> Readable<T> for CudaViewMut<'_, T> {}
impl<T> Writable<T> for CudaSlice<T> {}
impl<T> Writable<T> for CudaViewMut<'_, T> {}

/// When dropped, ends the turn of a device: later work of the caller waits for its work.
pub(crate) struct Turn<'a>(pub(crate) &'a StreamDevice);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.0.end_turn().is_err() {
            // A graph is being recorded in one of the streams, or the device is lost, which the next
            // call reports.
            let _waited = self.0.synchronize_all();
        }
    }
}

/// A buffer that is lent for writing. Safe code can swap a `&mut Buffer` for another buffer, and the
/// lent one could then be used when its memory has been freed.
pub(crate) struct Kept<T: Pod> {
    pub(crate) buffer: Buffer<T>,
    address: u64,
    len: usize,
}

impl<T: Pod> Kept<T> {
    pub(crate) fn new(buffer: Buffer<T>) -> Self {
        Self { address: buffer.address(), len: buffer.len(), buffer }
    }
}

impl<T: Pod> Drop for Kept<T> {
    fn drop(&mut self) {
        if (self.buffer.address(), self.buffer.len()) != (self.address, self.len) {
            eprintln!("the buffer that StreamDevice::lend_mut lent was replaced by another one");
            abort();
        }
    }
}
