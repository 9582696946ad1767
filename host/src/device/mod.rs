//! Devices: memory, launches and timing, on a GPU or in the emulator.
//!
//! [`Device`] is the handle that all other modules hold. It is cheap to clone and can be shared
//! between threads. It refers to a [`Backend`]: [`cuda::Cuda`] drives an NVIDIA GPU, and
//! [`Emulator`] runs the same kernels on the CPU.
//!
//! Each opened handle, and each [new stream](Device::new_stream), is one stream of work. Work in
//! one stream runs in the order of submission. Work in two streams runs in any order, or at the
//! same time, unless an [`Event`] orders it: the stream that uses a buffer second waits for an
//! event of the first. Without the event, a buffer that both use may contain any mixture of their
//! writes, and a result may be computed from any such mixture. It is never worse than that: a
//! buffer is freed only after all streams of its device. Copies between host and device are
//! complete on return, and wait only for the stream of the buffer's handle.
//!
//! A program that uses CUDA directly can make gridsync work in its own context and stream
//! (`Device::from_raw`), and on its own memory (`Buffer::from_raw`, `Buffer::lent`). With the
//! feature `cust`, a program that uses cust can do so without `unsafe`: `Device::from_cust`,
//! `Device::lend`, `Buffer::from_cust`. The package gridsync-cudarc is for programs that use
//! cudarc.
//!
//! A fault of a kernel loses the device, and every later call reports that. The grid was stopped
//! halfway and left its memory in a meaningless state, which does not need repair. A launch that
//! was refused has changed nothing.

#[cfg(feature = "cuda")]
mod allocator;
pub(crate) mod assembled;
mod backend;
mod buffer;
#[cfg(feature = "cuda")]
pub mod cuda;
mod emulator;
mod error;
mod event;
mod gate;
mod geometry;
mod graph;
mod host_buffer;
#[cfg(feature = "cuda")]
mod images;
#[cfg(feature = "cuda")]
mod interop;
#[cfg(feature = "cuda")]
mod limits;
pub(crate) mod mailbox;
mod no_cuda;
mod occupancy;
mod properties;
pub mod ptx;
mod several;
mod typed;
#[cfg(feature = "cust")]
mod with_cust;

#[cfg(feature = "cuda")]
pub use allocator::Allocator;
pub use assembled::{Launch, Ordered, Way};
#[cfg(feature = "cuda")]
use backend::launch_one_by_one;
pub use backend::{Backend, KernelAttributes, KernelInfo, MemoryId, Recording};
pub use buffer::Buffer;
pub use emulator::{Emulator, EmulatorConfig, PtxKernels};
pub use error::DeviceError;
pub use event::{Event, Marked};
pub use geometry::{Dim3, Geometry};
pub use graph::Graph;
pub use host_buffer::HostBuffer;
#[cfg(feature = "cuda")]
pub use images::KERNELS;
pub use no_cuda::{NoCuda, OLDEST_DRIVER};
pub use occupancy::Occupancy;
pub use properties::Properties;
#[cfg(feature = "cuda")]
use several::Patience;
pub use several::{Devices, MOST_GPUS};
pub use simt::{Change, Lanes, OrderSite, Orders, Policy, Schedule, Stats, Weaken};

use bytemuck::Pod;
use std::{fmt, sync::Arc};

/// A handle to a device, and one stream of work on it.
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl Device {
    /// A handle to `backend`.
    pub fn new(backend: impl Backend + 'static) -> Self {
        Self(Arc::new(backend))
    }

    /// The emulator with the default [configuration](EmulatorConfig::default), which is fast and
    /// does not check for data races. To test a kernel, use [`Check`](crate::check::Check), or
    /// [`EmulatorConfig::checking`].
    #[must_use]
    pub fn emulator() -> Self {
        Self::new(Emulator::new(EmulatorConfig::default()))
    }

    /// Opens CUDA device `ordinal`, with those of `images` that it can run: [`KERNELS`], your own,
    /// or both. Each kernel comes from the newest image that contains it.
    ///
    /// # Errors
    /// As for [`cuda::Cuda::new`].
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: u32, images: &[cuda::PtxImage]) -> Result<Self, DeviceError> {
        cuda::Cuda::new(ordinal, images).map(Self::new)
    }

    /// The same device with another stream, which starts empty. It shares the memory and the loaded
    /// kernels, and accepts buffers of this device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new_stream(&self) -> Result<Self, DeviceError> {
        self.0.new_stream().map(Self)
    }

    /// Whether the two accept each other's buffers, because both are streams of one device.
    #[must_use]
    pub fn shares_memory_with(&self, other: &Self) -> bool {
        self.0.memory_id() == other.0.memory_id()
    }

    /// Refuses a buffer of another device, whose addresses are meaningless on this one.
    pub(crate) fn expect_own<T: Pod>(&self, buffer: &Buffer<T>) -> Result<(), DeviceError> {
        if self.shares_memory_with(buffer.device()) {
            return Ok(());
        }
        Err(DeviceError::OtherDevice {
            own: self.properties().name.clone(),
            other: buffer.device().properties().name.clone(),
        })
    }

    /// The backend of the handle.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.0
    }

    /// The properties of the device.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        self.0.properties()
    }

    /// Statistics of all successful launches so far in the emulator: threads, steps, accesses,
    /// barriers. `None` on a GPU.
    ///
    /// The difference between two calls gives the statistics of the launches in between. The
    /// numbers depend on the schedule, and do not predict the time on a GPU.
    #[must_use]
    pub fn emulated(&self) -> Option<Stats> {
        self.0.emulated()
    }

    /// The source locations that order memory or wait, in all launches so far, by file and line.
    /// Empty unless an emulator records them ([`EmulatorConfig::sites`]).
    #[must_use]
    pub fn order_sites(&self) -> Vec<OrderSite> {
        self.0.order_sites()
    }

    /// Bytes of memory that are not allocated, by this process or another.
    ///
    /// # Errors
    /// If the device does not respond.
    pub fn free_memory(&self) -> Result<usize, DeviceError> {
        self.0.free_memory()
    }

    /// A buffer of `len` elements with uninitialised contents.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        Buffer::alloc(self, len)
    }

    /// A buffer of `len` elements with every byte zero.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], and if the fill fails.
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = self.alloc(len)?;
        buffer.zero()?;
        Ok(buffer)
    }

    /// A buffer with the contents of `host`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], and if the copy fails.
    pub fn upload<T: Pod>(&self, host: &[T]) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = self.alloc(host.len())?;
        buffer.copy_from(host)?;
        Ok(buffer)
    }

    /// Waits for all work in the device's stream.
    ///
    /// # Errors
    /// The error of the work that failed.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.0.synchronize()
    }

    /// Waits for all work in all streams of the device. A stream that is being recorded runs
    /// nothing.
    ///
    /// # Errors
    /// The error of the work that failed.
    pub fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.0.synchronize_all()
    }

    /// Makes later work in this stream wait for the work so far in all other streams of the device.
    /// The host does not wait, except in the emulator.
    ///
    /// # Errors
    /// If the driver fails; [`DeviceError::NotRecordable`] and [`DeviceError::RecordingElsewhere`]
    /// while a graph is being recorded in one of the streams.
    pub fn join_streams(&self) -> Result<(), DeviceError> {
        self.0.join_streams()
    }

    /// Submits `work` to the stream, and returns its device time in microseconds.
    ///
    /// # Errors
    /// If `work` or the stream fails.
    pub fn time(&self, work: impl FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        self.time_behind(|| Ok(()), work)
    }

    /// Submits `before` and then `work` to the stream, and times only `work`. If `before` runs
    /// longer than the host needs to submit `work`, the device does not wait for the host in
    /// between.
    ///
    /// # Errors
    /// If `before`, `work` or the stream fails.
    pub fn time_behind(
        &self,
        mut before: impl FnMut() -> Result<(), DeviceError>,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        self.0.time(&mut before, &mut work)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.properties().name)
    }
}

#[cfg(test)]
mod tests;
