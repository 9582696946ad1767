//! [gridsync] on the streams and memory of NVIDIA's [cuda-core](cuda_core) 0.5.
//!
//! A [`StreamDevice`] is a gridsync [`Device`] on a [`Stream`] of the program. Buffers and slices of
//! cuda-core are lent to it as buffers, without a copy and without waiting, and results stay on the
//! device:
//!
//! ```no_run
//! use cuda_core::{Context, DeviceBuffer};
//! use gridsync::op::Sum;
//! use gridsync::primitives::{Scanner, scan::Form};
//! use gridsync_cuda_core::StreamDevice;
//!
//! let stream = Context::new(0)?.new_stream()?;
//! let x = DeviceBuffer::from_host(&stream, &[1.0f32; 1000])?;
//! let mut sums = DeviceBuffer::<f32>::zeroed(&stream, 999)?;
//!
//! let device = StreamDevice::new(&stream)?; // keep it: it has the compiled kernels
//! let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 999)?;
//! device.lend(&x.slice(1..1000)?, |x| {
//!     device.lend_mut(&mut sums, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
//! })?;
//! assert_eq!(sums.to_host_vec(&stream)?[998], 999.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order
//!
//! All work of the device goes into the stream, so it needs no events:
//!
//! | to | call |
//! |---|---|
//! | start gridsync's later work after an event of cuda-core | [`stream.wait(&event)`](Stream::wait) |
//! | make an event of cuda-core after gridsync's work so far | [`stream.record_event(None)`](Stream::record_event) |
//! | start later work of the stream after an [`Event`](gridsync::device::Event) of gridsync | [`device.wait_for(&event)`](Device::wait_for) |
//! | make an event of gridsync after the stream's work so far | [`device.record_event()`](Device::record_event) |
//!
//! cuda-core tracks which stream uses memory, and so do lending and giving. While one stream writes
//! memory, another cannot use it: cuda-core fails with `CUDA_ERROR_NOT_READY`, and lending with
//! [`Error::InUse`]. Several streams can read it at the same time.
//!
//! # Memory
//!
//! Buffers and primitives allocate from CUDA's memory pool, and the stream frees them. So dropping
//! them does not make the host wait. It waits when the last handle of the device is dropped. Lent
//! memory can be dropped at any time: cuda-core frees it after the work that uses it.
//!
//! # Graphs
//!
//! Lend memory around a recording of [`Device::record`], or around a [`Stream::begin_capture`], not
//! in it. During a capture, launches become part of cuda-core's graph, and calls that wait or copy
//! to the host fail. Keep primitives and memory as long as the graph.

mod error;
mod lent;

pub use cuda_core;
pub use error::Error;
pub use gridsync;
pub use lent::{Readable, SliceMut, Writable};

use bytemuck::Pod;
#[cfg(doc)]
use cuda_core::DeviceBufferView;
use cuda_core::sys::cudaError_enum_CUDA_ERROR_NOT_READY as NOT_READY;
use cuda_core::{DeviceBuffer, DeviceCopy, DriverError, RawDeviceBuffer, Stream};
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Buffer, Device, KERNELS};
use lent::{Kept, Turn};
use std::ops::Deref;
use std::sync::Arc;

/// A gridsync [`Device`] on a stream of cuda-core, which it keeps alive.
///
/// It derefs to the device, so primitives accept it. Cloning it is cheap, and the clones share the
/// stream.
#[derive(Clone, Debug)]
pub struct StreamDevice {
    device: Device,
    stream: Arc<Stream>,
}

impl StreamDevice {
    /// The device of `stream`, with the kernels of gridsync's primitives. A kernel is compiled at
    /// its first launch, so keep the device, or a clone, for all work in the stream.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver or the GPU is too old, or fails, and for CUDA's default
    /// stream of each thread.
    pub fn new(stream: &Arc<Stream>) -> Result<Self, Error> {
        Self::with_images(stream, &KERNELS)
    }

    /// The device of `stream`, with those of `images` that it can run: [`KERNELS`], your own, or
    /// both.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_images(stream: &Arc<Stream>, images: &[PtxImage]) -> Result<Self, Error> {
        let (context, handle) = (stream.context().cu_ctx().cast(), stream.cu_stream().cast());
        // SAFETY: the owner keeps the stream alive, and that its context. A capture of cuda-core is
        // like one of any other work in the stream.
        let device = unsafe { Device::from_raw(context, handle, Arc::clone(stream), images)? };
        Ok(Self { device, stream: Arc::clone(stream) })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream that all work of the device goes into.
    #[must_use]
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Lends memory of cuda-core, a [`DeviceBuffer`] or a [slice](DeviceBuffer::slice), to calls that
    /// read a buffer. The host does not wait. The slice may begin at any element. The buffer cannot
    /// outlive the call:
    ///
    /// ```compile_fail,E0521
    /// # fn f(device: &gridsync_cuda_core::StreamDevice, x: &cuda_core::DeviceBuffer<f32>) {
    /// let mut kept = None;
    /// device.lend(x, |x| {
    ///     kept = Some(x);
    ///     Ok(())
    /// });
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `work`; [`Error::OtherContext`] for memory of another context; [`Error::InUse`]
    /// if another stream is writing it; [`Error::Device`] during a recording; and if the driver
    /// fails.
    pub fn lend<T: Pod, R>(
        &self,
        memory: &impl Readable<T>,
        work: impl FnOnce(&Buffer<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut turn = self.turn(memory.storage(), false)?;
        let (address, len) = memory.elements();
        // SAFETY: the memory is borrowed until this returns. cuda-core frees it after what `turn`
        // marks when it ends. That is all work of the device, even if `work` panics.
        let buffer = unsafe { Buffer::lent(&self.device, address, len)? };
        let done = work(&buffer)?;
        turn.end()?;
        Ok(done)
    }

    /// Lends memory of cuda-core, a [`DeviceBuffer`] or a [`SliceMut`], to calls that write a buffer.
    /// Otherwise like [`lend`](Self::lend).
    ///
    /// # Errors
    /// As for [`lend`](Self::lend), and [`Error::InUse`] if another stream is reading the memory.
    ///
    /// # Aborts
    /// The process, if `work` replaces the buffer by another one, which could then outlive the
    /// memory.
    pub fn lend_mut<T: Pod, R>(
        &self,
        memory: &mut impl Writable<T>,
        work: impl FnOnce(&mut Buffer<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut turn = self.turn(memory.storage(), true)?;
        let (address, len) = memory.elements();
        // SAFETY: as in `lend`; `Kept` makes sure that the buffer ends here too.
        let mut kept = Kept::new(unsafe { Buffer::lent(&self.device, address, len)? });
        let done = work(&mut kept.buffer)?;
        turn.end()?;
        Ok(done)
    }

    /// Gives the memory of a buffer to cuda-core, without a copy and without waiting: what
    /// [`sort`](gridsync::primitives::sort::sort) and other functions return. Later work in the
    /// stream comes after the work in all streams of the device, and other streams cannot use the
    /// memory before that has ended. cuda-core frees the memory in the stream.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] for a buffer of another device, [`Error::NotOwned`] for one that does
    /// not own its memory, and if the driver fails. Then the buffer is dropped.
    pub fn give<T: Pod + DeviceCopy>(&self, buffer: Buffer<T>) -> Result<DeviceBuffer<T>, Error> {
        if !self.device.shares_memory_with(buffer.device()) {
            return Err(Error::OtherDevice {
                own: self.device.properties().name.clone(),
                other: buffer.device().properties().name.clone(),
            });
        }
        self.device.join_streams()?;
        let len = buffer.len();
        let address = buffer.into_raw().map_err(|_| Error::NotOwned { len })?;
        let (bytes, context) = (len * size_of::<T>(), Arc::clone(self.stream.context()));
        // SAFETY: the allocation has this many elements, and no other owner. A device that frees in
        // stream order allows `cuMemFreeAsync`, and each allows `cuMemFree`. Work that uses the
        // memory is in the stream, or before what the stream does next, and `turn` marks it.
        let storage = unsafe {
            match self.device.frees_in_stream_order() {
                true => RawDeviceBuffer::from_raw_parts_async(address, bytes, self.stream.clone()),
                false => RawDeviceBuffer::from_raw_parts(address, bytes, context),
            }
        };
        if bytes > 0 {
            self.turn(&storage, true)?.end()?;
        }
        // SAFETY: the contents are valid for `T`, which is any bytes, and nothing else uses them.
        Ok(unsafe { DeviceBuffer::from_storage_copy(storage, len)? })
    }

    /// Starts the use of memory. Makes the context current, and refuses memory of another one, and
    /// any during a recording.
    fn turn(&self, storage: &RawDeviceBuffer, writes: bool) -> Result<Turn<'_>, Error> {
        self.device.backend().cuda_stream()?;
        let (own, other) = (self.stream.context(), storage.context());
        if own != other {
            return Err(Error::OtherContext { own: own.ordinal(), other: other.ordinal() });
        }
        match storage.acquire(&self.stream, writes, false) {
            Ok(lease) => Ok(Turn::new(self, lease)),
            Err(DriverError(NOT_READY)) => Err(Error::InUse),
            Err(error) => Err(error.into()),
        }
    }
}

impl Deref for StreamDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}
