//! [gridsync] on the streams and memory of [cudarc] 0.19.
//!
//! A [`StreamDevice`] is a gridsync [`Device`] on a [`CudaStream`] of the program. Slices and views
//! of cudarc are lent to it as buffers, without a copy and without waiting, and results stay on the
//! device:
//!
//! ```no_run
//! use cudarc::driver::CudaContext;
//! use gridsync::op::Sum;
//! use gridsync::primitives::{Scanner, scan::Form};
//! use gridsync_cudarc::StreamDevice;
//!
//! let stream = CudaContext::new(0)?.new_stream()?;
//! let x = stream.clone_htod(&[1.0f32; 1000])?;
//! let mut sums = stream.alloc_zeros::<f32>(999)?;
//!
//! let device = StreamDevice::new(&stream)?; // keep it: it has the compiled kernels
//! let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 999)?;
//! device.lend(&x.slice(1..), |x| {
//!     device.lend_mut(&mut sums, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
//! })?;
//! assert_eq!(stream.clone_dtoh(&sums)?[998], 999.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order
//!
//! All work of the device goes into the stream, so it needs no events:
//!
//! | to | call |
//! |---|---|
//! | start gridsync's later work after an event of cudarc | [`stream.wait(&event)`](CudaStream::wait) |
//! | make an event of cudarc after gridsync's work so far | [`stream.record_event(None)`](CudaStream::record_event) |
//! | start later work of the stream after an [`Event`](gridsync::device::Event) of gridsync | [`device.wait_for(&event)`](Device::wait_for) |
//! | make an event of gridsync after the stream's work so far | [`device.record_event()`](Device::record_event) |
//!
//! CUDA's default stream of each thread ([`per_thread_stream`](CudaContext::per_thread_stream)), which
//! candle uses, is another stream on another thread. For it the device makes a stream. Lending
//! and giving make that wait for the caller's stream of the calling thread, and this wait for the work.
//!
//! cudarc's event tracking stays in use: lending waits for the last write of another stream, and for
//! memory that is written also for the last reads, and then marks the memory as read or written.
//!
//! # Memory
//!
//! Buffers and primitives allocate from CUDA's memory pool, as cudarc does, and the stream frees
//! them. So dropping them does not make the host wait. It waits when the last handle of the device
//! is dropped.
//!
//! # Graphs
//!
//! Lend memory around a recording of [`Device::record`], not in it. During
//! [`CudaStream::begin_capture`], launches become part of cudarc's graph, and calls that wait or
//! copy to the host fail. Keep primitives and memory as long as the graph, as for other work that
//! cudarc captures.

mod error;
mod lent;

pub use cudarc;
pub use error::Error;
pub use gridsync;
pub use lent::{Readable, Writable};

use bytemuck::Pod;
#[cfg(doc)]
use cudarc::driver::CudaContext;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut};
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Buffer, Device, KERNELS};
use lent::{Kept, Turn};
use std::ops::Deref;
use std::sync::Arc;

/// A gridsync [`Device`] on a stream of cudarc, which it keeps alive.
///
/// It derefs to the device, so primitives accept it. Cloning it is cheap, and the clones share the
/// stream.
#[derive(Clone, Debug)]
pub struct StreamDevice {
    device: Device,
    stream: Arc<CudaStream>,
    /// The caller's stream, if it is another one on each thread.
    of_thread: Option<Arc<CudaStream>>,
}

/// The handle of the default stream of each thread (`CU_STREAM_PER_THREAD`).
const PER_THREAD: usize = 2;

impl StreamDevice {
    /// The device of `stream`, with the kernels of gridsync's primitives. A kernel is compiled at
    /// its first launch, so keep the device, or a clone, for all work in the stream.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver or the GPU is too old, or fails.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Self::with_images(stream, &KERNELS)
    }

    /// The device of `stream`, with those of `images` that it can run: [`KERNELS`], your own, or
    /// both.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_images(stream: &Arc<CudaStream>, images: &[PtxImage]) -> Result<Self, Error> {
        let is_of_thread = stream.cu_stream().addr() == PER_THREAD;
        let of_thread = is_of_thread.then(|| Arc::clone(stream));
        let stream = if is_of_thread { stream.fork()? } else { Arc::clone(stream) };
        let (context, handle) = (stream.context().cu_ctx().cast(), stream.cu_stream().cast());
        // SAFETY: the owner keeps the stream alive, and that its context. A capture of cudarc is
        // like one of any other work in the stream.
        let device = unsafe { Device::from_raw(context, handle, Arc::clone(&stream), images)? };
        Ok(Self { device, stream, of_thread })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream that all work of the device goes into: the caller's, or one that it made
    /// because that is the default stream of each thread.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Lends memory of cudarc, a [`CudaSlice`] or a view, to calls that read a buffer. The host does
    /// not wait. The view may begin at any element. The buffer cannot outlive the call:
    ///
    /// ```compile_fail,E0521
    /// # fn f(device: &gridsync_cudarc::StreamDevice, x: &cudarc::driver::CudaSlice<f32>) {
    /// let mut kept = None;
    /// device.lend(x, |x| {
    ///     kept = Some(x);
    ///     Ok(())
    /// });
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `work`; [`Error::OtherContext`] for memory of another context; [`Error::Device`]
    /// during a recording, and if the driver fails.
    pub fn lend<T: Pod, R>(
        &self,
        memory: &impl Readable<T>,
        work: impl FnOnce(&Buffer<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.expect_own(memory.stream())?;
        self.follow_caller()?;
        // Dropping this marks the memory as read by the work so far in the stream.
        let (address, _read) = memory.device_ptr(&self.stream);
        // SAFETY: the memory is borrowed until this returns, and cudarc frees it after what `_read`
        // marks. That is all work of the device, even if `work` panics, because `_turn` is dropped
        // before.
        let buffer = unsafe { Buffer::lent(&self.device, address, memory.len())? };
        let _turn = Turn(self);
        work(&buffer)
    }

    /// Lends memory of cudarc, a [`CudaSlice`] or a mutable view, to calls that write a buffer.
    /// Otherwise like [`lend`](Self::lend).
    ///
    /// # Errors
    /// As for [`lend`](Self::lend).
    ///
    /// # Aborts
    /// The process, if `work` replaces the buffer by another one, which could then outlive the
    /// memory.
    pub fn lend_mut<T: Pod, R>(
        &self,
        memory: &mut impl Writable<T>,
        work: impl FnOnce(&mut Buffer<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.expect_own(memory.stream())?;
        self.follow_caller()?;
        let len = memory.len();
        // Dropping this marks the memory as written by the work so far in the stream.
        let (address, _written) = memory.device_ptr_mut(&self.stream);
        // SAFETY: as in `lend`; `Kept` makes sure that the buffer ends here too.
        let mut kept = Kept::new(unsafe { Buffer::lent(&self.device, address, len)? });
        let _turn = Turn(self);
        work(&mut kept.buffer)
    }

    /// Gives the memory of a buffer to cudarc, without a copy and without waiting: what
    /// [`sort`](gridsync::primitives::sort::sort) and other functions return. Later work in the
    /// stream comes after the work in all streams of the device. cudarc frees the memory.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] for a buffer of another device, [`Error::NotOwned`] for one that does
    /// not own its memory, and if the driver fails. Then the buffer is dropped.
    ///
    /// # Panics
    /// If cudarc fails to make the events that track the memory.
    pub fn give<T: Pod>(&self, buffer: Buffer<T>) -> Result<CudaSlice<T>, Error> {
        if !self.device.shares_memory_with(buffer.device()) {
            return Err(Error::OtherDevice {
                own: self.device.properties().name.clone(),
                other: buffer.device().properties().name.clone(),
            });
        }
        self.end_turn()?;
        let len = buffer.len();
        let address = buffer.into_raw().map_err(|_| Error::NotOwned { len })?;
        if address == 0 {
            return Ok(self.stream.null()?);
        }
        // SAFETY: the allocation has this many elements, and no other owner. It was made in
        // the way in which cudarc frees it: from the pool if the GPU has one. Its contents are
        // valid for `T`, which is any bytes.
        let mut slice = unsafe { self.stream.upgrade_device_ptr(address, len) };
        // Streams that use it wait for the work so far.
        drop(slice.device_ptr_mut(&self.stream));
        Ok(slice)
    }

    /// Makes later work in the device's stream wait for that of the calling thread's stream, if they
    /// differ.
    fn follow_caller(&self) -> Result<(), Error> {
        match &self.of_thread {
            Some(of_thread) => Ok(self.stream.join(of_thread)?),
            None => Ok(()),
        }
    }

    /// Makes later work in the device's stream wait for its other streams, because cudarc knows only
    /// that one, and in the stream of the calling thread for all of them.
    fn end_turn(&self) -> Result<(), Error> {
        self.device.join_streams()?;
        match &self.of_thread {
            Some(of_thread) => Ok(of_thread.join(&self.stream)?),
            None => Ok(()),
        }
    }

    /// Makes the context current, and refuses memory of another one, and any during a recording.
    fn expect_own(&self, stream: &CudaStream) -> Result<(), Error> {
        self.device.backend().cuda_stream()?;
        let (own, other) = (self.stream.context(), stream.context());
        if own == other {
            return Ok(());
        }
        Err(Error::OtherContext { own: own.ordinal(), other: other.ordinal() })
    }
}

impl Deref for StreamDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}
