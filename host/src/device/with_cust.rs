//! Devices and buffers for programs that use [cust](https://docs.rs/cust/0.3.2): the feature
//! `cust`.

use super::{Buffer, Device, DeviceError, cuda::Cuda, cuda::PtxImage};
use bytemuck::Pod;
use cust::context::Context;
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer, DeviceSlice};
use cust::stream::Stream;
use std::{mem, sync::Arc};

impl Device {
    /// The device of cust's `context`, with those of `images` that it can run. All its work goes
    /// into `stream`, in order with other work submitted there, so cust's kernels and gridsync's
    /// need no event between them. To keep using the stream, pass an `Arc` of it. The types are
    /// those of cust 0.3.
    ///
    /// ```no_run
    /// use cust::{memory::DeviceBuffer, stream::{Stream, StreamFlags}};
    /// use gridsync::device::{Device, KERNELS};
    /// use gridsync::primitives::Reducer;
    /// use gridsync_kernels::op::Sum;
    /// use std::sync::Arc;
    ///
    /// let context = cust::quick_init()?;
    /// let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    /// let numbers = DeviceBuffer::from_slice(&[1.0f32; 1000])?;
    ///
    /// let device = Device::from_cust(&context, stream.clone(), &KERNELS)?;
    /// let mut sum = Reducer::new(Sum::<f32>::new(), &device)?;
    /// assert_eq!(device.lend(&numbers, |numbers| sum.reduce(numbers))?, 1000.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Buffers of other devices in the same context, opened elsewhere, are not accepted. For
    /// another stream of this device use [`with_cust_stream`](Self::with_cust_stream) or
    /// [`new_stream`](Self::new_stream). Every call makes the context current on its thread. The
    /// context and the stream outlive everything made from this device, because it holds both; then
    /// cust destroys them.
    ///
    /// # Errors
    /// As for [`Device::cuda`], and [`DeviceError::OtherContext`] for a stream of another context.
    pub fn from_cust(
        context: &Context,
        stream: impl Into<Arc<Stream>>,
        images: &[PtxImage],
    ) -> Result<Self, DeviceError> {
        Cuda::in_cust(context, stream, images).map(Self::new)
    }

    /// The same device with cust's `stream`. It shares the memory and the loaded kernels, and
    /// accepts buffers of this device.
    ///
    /// # Errors
    /// [`DeviceError::OtherContext`] for a stream of another context; [`DeviceError::Unsupported`]
    /// in the emulator.
    pub fn with_cust_stream(&self, stream: impl Into<Arc<Stream>>) -> Result<Self, DeviceError> {
        self.expect_cuda()?.in_cust_stream(stream).map(Self::new)
    }

    /// Lends cust's memory, a `&DeviceBuffer` or a slice of one, to calls that read a buffer, such
    /// as [`Reducer::reduce`]. Waits for all streams of the device before it returns, so that
    /// nothing uses the memory any more.
    ///
    /// The buffer cannot outlive the call:
    ///
    /// ```compile_fail,E0521
    /// # fn f(device: &gridsync::device::Device, memory: &cust::memory::DeviceBuffer<f32>) {
    /// let mut kept = None;
    /// device.lend(memory, |buffer| {
    ///     kept = Some(buffer);
    ///     Ok(())
    /// });
    /// # }
    /// ```
    ///
    /// cust lets a slice outlive its buffer. A slice whose memory has been freed is refused, unless
    /// the driver has allocated the address again.
    ///
    /// For memory that calls write, or to avoid the wait, use [`Buffer::from_cust`],
    /// [`Buffer::from_shared`] or [`Buffer::from_raw`].
    ///
    /// # Errors
    /// If `work` or work in the streams fails; [`DeviceError::Misaligned`],
    /// [`DeviceError::NoMemory`] or [`DeviceError::OtherContext`] for memory that the device cannot
    /// use; [`DeviceError::Unsupported`] in the emulator, and for one of several
    /// [`Devices`](super::Devices): if another GPU fails, the work may never end.
    ///
    /// [`Reducer::reduce`]: crate::primitives::Reducer::reduce
    pub fn lend<T: Pod + DeviceCopy, R>(
        &self,
        memory: &DeviceSlice<T>,
        work: impl FnOnce(&Buffer<T>) -> Result<R, DeviceError>,
    ) -> Result<R, DeviceError> {
        if self.expect_cuda()?.works_together() {
            let needs = "share the memory (Buffer::from_shared): a grid that waits for another GPU may use it forever";
            return Err(self.unsupported("work on lent memory together with other GPUs", needs));
        }
        // SAFETY: the memory is borrowed until this returns. The streams are waited for before
        // that, even if `work` panics, and `work` cannot keep the buffer.
        let buffer = unsafe { Buffer::lent(self, memory.as_device_ptr().as_raw(), memory.len())? };
        let waits = Waits(self);
        let result = work(&buffer);
        mem::forget(waits);
        let waited = self.synchronize_all();
        let result = result?;
        waited.map(|()| result)
    }
}

/// Waits for all streams when dropped.
struct Waits<'a>(&'a Device);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        // The panic in progress says more than this error would.
        let _waited = self.0.synchronize_all();
    }
}

impl<T: Pod + DeviceCopy> Buffer<T> {
    /// Takes ownership of cust's memory and its contents. The memory is freed here, or returned by
    /// [`into_cust`](Self::into_cust).
    ///
    /// # Errors
    /// [`DeviceError::OtherContext`] or [`DeviceError::NoMemory`] for memory of another device, and
    /// [`DeviceError::Unsupported`] in the emulator. Then cust has freed the memory.
    pub fn from_cust(device: &Device, memory: DeviceBuffer<T>) -> Result<Self, DeviceError> {
        device.expect_cuda()?;
        let (address, len) = (memory.as_device_ptr().as_raw(), memory.len());
        // SAFETY: cust allocates with the same driver call, and frees only the memory that is
        // dropped below.
        let buffer = unsafe { Self::from_allocation(device, address, len)? };
        mem::forget(memory);
        Ok(buffer)
    }

    /// Shares cust's memory. The last owner to drop it frees it; here that happens after the work
    /// in all streams of the device.
    ///
    /// # Errors
    /// As for [`from_cust`](Self::from_cust).
    pub fn from_shared(device: &Device, memory: Arc<DeviceBuffer<T>>) -> Result<Self, DeviceError>
    where
        T: Send + Sync,
    {
        device.expect_cuda()?;
        let (address, len) = (memory.as_device_ptr().as_raw(), memory.len());
        // SAFETY: the memory stays allocated as long as it has an owner.
        unsafe { Self::from_raw(device, address, len, memory) }
    }

    /// Returns the memory to cust, after the work in all streams of the device.
    ///
    /// # Errors
    /// If work in the streams failed; [`DeviceError::Unsupported`] in the emulator, and for memory
    /// that has [another owner](Self::from_raw). Then the buffer is dropped.
    pub fn into_cust(mut self) -> Result<DeviceBuffer<T>, DeviceError> {
        self.device().expect_cuda()?.wait_for_users()?;
        let Some((address, len)) = self.take_allocation() else {
            let needs = "drop the buffer, and take the memory from its owner";
            return Err(self
                .device()
                .unsupported("a transfer of memory that it does not own", needs));
        };
        // SAFETY: the memory was allocated with the same driver call that cust uses, for this many
        // elements, and nothing else frees it.
        Ok(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), len) })
    }

    /// The start address, for cust.
    #[must_use]
    pub fn device_pointer(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.address())
    }

    /// The buffer as a slice of cust.
    ///
    /// # Safety
    /// The slice and its copies are not used after the buffer has been dropped.
    #[must_use]
    pub unsafe fn device_slice(&self) -> DeviceSlice<T> {
        // SAFETY: the buffer has this many elements at this address, and the caller does not use
        // the slice after the buffer.
        unsafe { DeviceSlice::from_raw_parts(self.device_pointer(), self.len()) }
    }
}
