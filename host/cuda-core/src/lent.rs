//! Memory that is lent to a device for the length of a call.

use crate::{Error, StreamDevice};
use bytemuck::Pod;
use cuda_core::{AllocationLease, DeviceBuffer, RawDeviceBuffer};
use gridsync::device::Buffer;
use std::ops::Range;
use std::process::abort;

#[cfg(doc)]
use cuda_core::DeviceBufferView;

/// Memory of cuda-core that can be read: a [`DeviceBuffer`], [`DeviceBufferView`] or [`SliceMut`].
///
/// No other type can implement it, because gridsync relies on the address and the length.
pub trait Readable<T>: sealed::Lendable<T> {}

/// Memory of cuda-core that can be written: a [`DeviceBuffer`] or [`SliceMut`].
///
/// No other type can implement it, because gridsync relies on the address and the length.
pub trait Writable<T>: sealed::Lendable<T> {}

impl<T> Readable<T> for DeviceBuffer<T> {}
impl<T> Readable<T> for cuda_core::DeviceBufferView<'_, T> {}
impl<T> Readable<T> for SliceMut<'_, T> {}
impl<T> Writable<T> for DeviceBuffer<T> {}
impl<T> Writable<T> for SliceMut<'_, T> {}

/// Some elements of a [`DeviceBuffer`], which can be written. cuda-core itself has only
/// [slices](DeviceBuffer::slice) that can be read.
pub struct SliceMut<'a, T> {
    buffer: &'a mut DeviceBuffer<T>,
    range: Range<usize>,
}

impl<'a, T> SliceMut<'a, T> {
    /// The elements of `buffer` in `range`.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`].
    pub fn new(buffer: &'a mut DeviceBuffer<T>, range: Range<usize>) -> Result<Self, Error> {
        let Range { start, end } = range;
        if start > end || end > buffer.len() {
            return Err(Error::OutOfBounds { start, end, len: buffer.len() });
        }
        Ok(Self { buffer, range })
    }
}

pub(crate) mod sealed {
    use super::RawDeviceBuffer;

    /// Memory of cuda-core.
    pub trait Lendable<T> {
        /// What keeps track of who uses it.
        fn storage(&self) -> &RawDeviceBuffer;
        /// Where it is, and its number of elements.
        fn elements(&self) -> (u64, usize);
    }
}

impl<T> sealed::Lendable<T> for DeviceBuffer<T> {
    fn storage(&self) -> &RawDeviceBuffer {
        self.storage()
    }

    fn elements(&self) -> (u64, usize) {
        (self.cu_deviceptr(), self.len())
    }
}

impl<T> sealed::Lendable<T> for cuda_core::DeviceBufferView<'_, T> {
    fn storage(&self) -> &RawDeviceBuffer {
        self.storage()
    }

    fn elements(&self) -> (u64, usize) {
        (self.cu_deviceptr(), self.len())
    }
}

impl<T> sealed::Lendable<T> for SliceMut<'_, T> {
    fn storage(&self) -> &RawDeviceBuffer {
        self.buffer.storage()
    }

    fn elements(&self) -> (u64, usize) {
        let offset = (self.range.start * size_of::<T>()) as u64;
        (self.buffer.cu_deviceptr() + offset, self.range.len())
    }
}

/// The use of memory by a device. When it ends, cuda-core keeps the memory until the work so far in
/// all streams of the device has ended.
pub(crate) struct Turn<'a> {
    device: &'a StreamDevice,
    lease: Option<AllocationLease>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(device: &'a StreamDevice, lease: AllocationLease) -> Self {
        Self { device, lease: Some(lease) }
    }

    /// Ends it. If that fails, cuda-core keeps the memory forever.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let Some(lease) = self.lease.take() else { return Ok(()) };
        if self.device.join_streams().is_err() {
            // A graph is being recorded in one of the streams, or the device is lost, which the next
            // call reports.
            let _waited = self.device.synchronize_all();
        }
        Ok(lease.retain_until_complete(self.device.stream())?)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _is_kept = self.end();
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
