//! The interface of every device, whether a GPU or an emulated one.

use super::{Device, DeviceError, Emulator, Event, Geometry, Marked, Ordered, Properties, Way};
use simt::{OrderSite, Stats};
use std::{any::Any, ffi::c_void, ptr, sync::Arc};

/// A machine that runs grids: it allocates, copies, launches and times.
///
/// Work is ordered: each `Backend` is one stream, and runs work in the order of submission. A
/// launch that [overlaps](Geometry::overlapping) may start before the previous one has ended. Calls
/// may come from any thread; threads that share a backend share its stream. Several backends may be
/// [streams](Self::new_stream) of one device, and then share its memory.
///
/// While a thread [records](Self::record), every other call that touches the stream is refused with
/// [`DeviceError::NotRecordable`] or [`DeviceError::RecordingElsewhere`].
///
/// # Safety
///
/// Safe code relies on the guarantees of these methods:
///
/// * [`alloc`](Self::alloc) returns memory of the backend of the requested length, which is not
///   returned again before it is freed.
/// * [`lend_mailbox`](Self::lend_mailbox) returns the address of the requested number of words of
///   host memory, aligned to 8 bytes. They live as long as the backend and are not lent again
///   before they are taken back.
/// * [`memory_id`](Self::memory_id) is the same only for backends with the same memory.
/// * Memory is freed, or its owner dropped, only after all work that may use it.
/// * A copy is complete when it returns, even with an error.
/// * [`record`](Self::record) and [`assemble`](Self::assemble) return something that runs the
///   launches it was made of, and nothing else.
///
/// ```compile_fail,E0200
/// # use gridsync::device::{Backend, DeviceError, Geometry, KernelAttributes, KernelInfo, Properties};
/// # type Did<T> = Result<T, DeviceError>;
/// struct Mine;
/// impl Backend for Mine { // It needs `unsafe impl`.
///     fn lend_mailbox(&self, _: usize) -> Result<Option<u64>, DeviceError> {
///         Ok(Some(64)) // No memory is allocated at this address.
///     }
/// #   fn properties(&self) -> &Properties { unreachable!() }
/// #   fn free_memory(&self) -> Did<usize> { unreachable!() }
/// #   fn alloc(&self, _: usize) -> Did<u64> { unreachable!() }
/// #   unsafe fn free(&self, _: u64) {}
/// #   unsafe fn upload(&self, _: u64, _: &[u8]) -> Did<()> { unreachable!() }
/// #   unsafe fn download(&self, _: u64, _: &mut [u8]) -> Did<()> { unreachable!() }
/// #   unsafe fn zero(&self, _: u64, _: usize) -> Did<()> { unreachable!() }
/// #   unsafe fn launch(
/// #       &self, _: &KernelInfo, _: &Geometry, _: &[*const std::ffi::c_void],
/// #   ) -> Did<()> { unreachable!() }
/// #   fn attributes(&self, _: &KernelInfo) -> Did<KernelAttributes> { unreachable!() }
/// #   fn occupancy(&self, _: &KernelInfo, _: u32, _: u32) -> Did<u32> { unreachable!() }
/// #   fn synchronize(&self) -> Did<()> { unreachable!() }
/// #   fn time(
/// #       &self, _: &mut dyn FnMut() -> Did<()>, _: &mut dyn FnMut() -> Did<()>,
/// #   ) -> Did<f64> { unreachable!() }
/// }
/// ```
pub unsafe trait Backend: Send + Sync {
    /// The device's properties.
    fn properties(&self) -> &Properties;

    /// Statistics of all successful launches so far in an emulator; `None` on a GPU.
    fn emulated(&self) -> Option<Stats> {
        None
    }

    /// The source locations that order memory or wait, in all launches so far, if an emulator
    /// records them.
    fn order_sites(&self) -> Vec<OrderSite> {
        Vec::new()
    }

    /// The emulator, if this is one.
    fn emulator(&self) -> Option<&Emulator> {
        None
    }

    /// Bytes of free device memory.
    ///
    /// # Errors
    /// If the device does not respond.
    fn free_memory(&self) -> Result<usize, DeviceError>;

    /// Allocates `bytes` of device memory, which must not be 0, at an address that is a multiple of
    /// 256.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] with the requested and the free bytes.
    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError>;

    /// Frees an allocation, after the work in all streams of the device that may still use it.
    ///
    /// A failure cannot be returned from here and is dropped. It means that the device is lost,
    /// which the next call that returns a result reports.
    ///
    /// # Safety
    /// `address` came from [`alloc`](Self::alloc) of a backend with this [memory](Self::memory_id),
    /// and has not been freed; nothing launched later uses it.
    unsafe fn free(&self, address: u64);

    /// Drops the owner of memory that this backend did not allocate, under the same conditions as
    /// [`free`](Self::free). If the backend cannot wait for the work that may use the memory, it
    /// never drops the owner.
    fn drop_after(&self, owner: Box<dyn Any + Send + Sync>) {
        let _waited = self.synchronize();
        drop(owner);
    }

    /// Distinguishes the memory of one device from that of another. Streams of one device return
    /// the same id.
    fn memory_id(&self) -> MemoryId {
        MemoryId(ptr::from_ref(self).addr(), 0)
    }

    /// Refuses memory that is not a live allocation of the device. A backend that cannot check
    /// accepts any.
    ///
    /// # Errors
    /// [`DeviceError::NoMemory`], [`DeviceError::OtherContext`].
    fn expect_memory(&self, _address: u64, _bytes: usize) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Copies `from` to the device, after the work in the stream. The copy is complete on return.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    ///
    /// # Safety
    /// `to .. to + from.len()` is inside a live allocation of this backend.
    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError>;

    /// Copies from the device into `to`, after the work in the stream. The copy is complete on
    /// return.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    ///
    /// # Safety
    /// `from .. from + to.len()` is inside a live allocation of this backend.
    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError>;

    /// Pins `bytes` bytes of host memory, so that copies between it and any device need no staging
    /// memory. Does nothing on an emulated device.
    ///
    /// # Errors
    /// If the driver refuses. Copies still work then, but are slower.
    ///
    /// # Safety
    /// The memory stays allocated until [`unpin`](Self::unpin) is called with its address.
    unsafe fn pin(&self, _memory: *mut u8, _bytes: usize) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Unpins the memory. Returns whether it is unpinned: if the device is lost or given up, the
    /// memory may stay pinned, and must not be freed. The driver would mistake later allocations at
    /// its address for the pinned memory.
    ///
    /// # Safety
    /// The memory was pinned by this backend, and no copy uses it.
    #[must_use]
    unsafe fn unpin(&self, _memory: *mut u8) -> bool {
        true
    }

    /// Lends `words` words of host memory that kernels can write, at the same address on host and
    /// device. `None` if the backend has none: then results are copied, which is free on an
    /// emulated device.
    ///
    /// # Errors
    /// During a recording, and if the driver fails.
    #[doc(hidden)]
    fn lend_mailbox(&self, _words: usize) -> Result<Option<u64>, DeviceError> {
        Ok(None)
    }

    /// Takes the words back.
    ///
    /// # Safety
    /// This backend lent this many words at this address. Neither the caller nor a launch uses them
    /// any more.
    #[doc(hidden)]
    unsafe fn take_mailbox_back(&self, _mailbox: u64, _words: usize) {}

    /// Submits a fill of `bytes` bytes with zero to the stream.
    ///
    /// # Errors
    /// If it cannot be submitted; later errors come from [`synchronize`](Self::synchronize).
    ///
    /// # Safety
    /// `at .. at + bytes` is inside a live allocation of this backend, which stays live until the
    /// fill has run.
    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError>;

    /// Submits a launch to the stream. `args` has the address of each argument, in order; the
    /// values are copied before this returns.
    ///
    /// # Errors
    /// [`DeviceError::GridTooLarge`] if a cooperative launch does not fit,
    /// [`DeviceError::SharedTooLarge`] if a block's shared memory does not fit, otherwise if the
    /// launch fails. Errors while the kernel runs come from [`synchronize`](Self::synchronize).
    ///
    /// # Safety
    /// `args` are the arguments that the kernel declares, in number, type and order; the memory
    /// that they refer to stays allocated until the kernel has run; the kernel's own contract
    /// holds.
    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError>;

    /// All GPUs of the emulated machine that this one belongs to, in order. Empty if it is alone,
    /// as every CUDA device is.
    fn machine(&self) -> Vec<Arc<dyn Backend>> {
        Vec::new()
    }

    /// Submits a launch to the stream of each of `all` devices, whose grids may wait for each
    /// other. `self` is the first of them. `args` has the arguments of each.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`launch`](Self::launch), or another error that
    /// concerns all devices.
    ///
    /// # Safety
    /// As for [`launch`](Self::launch), on each device.
    unsafe fn launch_on_all(
        &self,
        all: &[Device],
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[&[*const c_void]],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract of `launch` on each device.
        unsafe { launch_one_by_one(all, kernel, geometry, args) }
    }

    /// Whether a launch of the kernel can [overlap](Geometry::overlapping) the previous kernel. The
    /// device, the driver and the kernel's image must support it.
    fn can_overlap(&self, _kernel: &KernelInfo) -> bool {
        false
    }

    /// The resources that the kernel needs.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`], and if the kernel cannot be loaded.
    fn attributes(&self, kernel: &KernelInfo) -> Result<KernelAttributes, DeviceError>;

    /// Blocks of the kernel that fit on one SM at once; 0 if not even one fits.
    ///
    /// # Errors
    /// As for [`attributes`](Self::attributes), and [`DeviceError::SharedTooLarge`].
    fn occupancy(
        &self,
        kernel: &KernelInfo,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError>;

    /// Clusters of this launch that fit on the device at once. Without clusters each block counts
    /// as one.
    ///
    /// # Errors
    /// As for [`occupancy`](Self::occupancy).
    fn active_clusters(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        let threads = u32::try_from(geometry.block.volume()).unwrap_or(u32::MAX);
        let blocks = self.occupancy(kernel, threads, geometry.dynamic_shared)?
            * self.properties().multiprocessors;
        Ok(blocks / geometry.cluster.unwrap_or(1).max(1))
    }

    /// Waits for all work in the stream.
    ///
    /// # Errors
    /// The error of the work that failed; [`DeviceError::Lost`] if the context was lost with it.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Waits for all work in all streams of the device. A stream that is being recorded runs
    /// nothing.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.synchronize()
    }

    /// Makes later work in the stream wait for the work so far in all other streams of the device.
    /// The default implementation waits for it immediately.
    ///
    /// # Errors
    /// As for [`Device::join_streams`].
    fn join_streams(&self) -> Result<(), DeviceError> {
        self.synchronize_all()
    }

    /// Creates another stream of the device, with the same memory.
    ///
    /// # Errors
    /// If the driver fails; [`DeviceError::Unsupported`] if this backend has only one stream.
    fn new_stream(&self) -> Result<Arc<dyn Backend>, DeviceError> {
        Err(DeviceError::Unsupported {
            what: "several streams",
            device: self.properties().name.clone(),
            needs: "put the work into one",
        })
    }

    /// Marks the work submitted to the stream so far. The default implementation waits for it.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn mark(self: Arc<Self>) -> Result<Marked, DeviceError> {
        self.synchronize().map(|()| Marked::passed())
    }

    /// Makes later work in the stream wait for the event. The default implementation waits for it
    /// immediately.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize), and if the work of the event failed.
    fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        event.synchronize()
    }

    /// The CUDA stream, or `None` if this is not a CUDA device. Makes its context current on this
    /// thread.
    ///
    /// For libraries that submit their own work to the stream: NCCL uses the stream, and the device
    /// whose context is current.
    ///
    /// # Errors
    /// During a recording, and if the context cannot be made current.
    #[doc(hidden)]
    fn cuda_stream(&self) -> Result<Option<*mut c_void>, DeviceError> {
        Ok(None)
    }

    /// The CUDA device, if this is one.
    #[cfg(feature = "cuda")]
    #[doc(hidden)]
    fn cuda(&self) -> Option<&super::cuda::Cuda> {
        None
    }

    /// Whether all work in the stream is done. Does not wait if the device can be polled, so
    /// callers can watch something else in the meantime.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn is_idle(&self) -> Result<bool, DeviceError> {
        self.synchronize().map(|()| true)
    }

    /// Gives up the device: its work may wait forever for another device that has failed. Every
    /// later call is refused with [`DeviceError::GivenUp`], and nothing waits for the stream any
    /// more.
    fn give_up(&self) {}

    /// Submits `before` to the empty stream, and then `work` between two events. Waits, and returns
    /// the microseconds of device time between the events, with a resolution of about half a
    /// microsecond.
    ///
    /// Work that other threads submit to the stream at the same time is included.
    ///
    /// # Errors
    /// If `before`, `work` or the stream fails.
    fn time(
        &self,
        before: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError>;

    /// Runs `work` and records the [`launch`](Self::launch)es and [`zero`](Self::zero)s that this
    /// thread makes in it, instead of submitting them to the stream.
    ///
    /// # Errors
    /// If `work` or the recording fails; [`DeviceError::Unsupported`] if this backend cannot
    /// record.
    fn record(
        self: Arc<Self>,
        _work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        Err(DeviceError::Unsupported {
            what: "graphs",
            device: self.properties().name.clone(),
            needs: "launch the kernels one by one",
        })
    }

    /// Checks launches that depend on each other, and prepares them for repeated runs.
    ///
    /// # Errors
    /// If a [`launch`](Self::launch) is invalid, or the driver fails to make streams, events or a
    /// graph; [`DeviceError::Unsupported`] if this backend cannot assemble launches, or not in this
    /// way.
    fn assemble(
        self: Arc<Self>,
        _launches: &[Ordered<'_>],
        _way: Way,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        Err(DeviceError::Unsupported {
            what: "launches that depend on each other",
            device: self.properties().name.clone(),
            needs: "launch the kernels one by one",
        })
    }

    /// Whether launches of this thread become part of a recording.
    fn is_recording(&self) -> bool {
        false
    }
}

/// Submits a launch to the stream of each device.
///
/// # Errors
/// [`DeviceError::OnGpu`] with the first error of a launch. If grids on other devices have started
/// by then, all devices are given up, because those grids may wait for one that never starts.
///
/// # Safety
/// As for [`Backend::launch_on_all`].
pub(super) unsafe fn launch_one_by_one(
    all: &[Device],
    kernel: &KernelInfo,
    geometry: &Geometry,
    args: &[&[*const c_void]],
) -> Result<(), DeviceError> {
    for (number, (device, args)) in all.iter().zip(args).enumerate() {
        // SAFETY: the caller upholds the contract of `launch` on each device.
        let launched = unsafe { device.backend().launch(kernel, geometry, args) };
        if let Err(error) = launched {
            if number > 0 {
                all.iter().for_each(|device| device.backend().give_up());
            }
            return Err(error.on_gpu(number, device));
        }
    }
    Ok(())
}

/// Distinguishes the memory of one device from that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(usize, u32);

impl MemoryId {
    /// The id of part `part` of the shared `memory`.
    #[must_use]
    pub fn of<T>(memory: &Arc<T>, part: u32) -> Self {
        Self(Arc::as_ptr(memory).addr(), part)
    }
}

/// A recording of a backend.
pub trait Recording: Send + Sync {
    /// Submits everything to the stream, in the order in which it was recorded.
    ///
    /// # Errors
    /// As for [`Graph::launch`](super::Graph::launch).
    ///
    /// # Safety
    /// As for [`Graph::launch`](super::Graph::launch).
    unsafe fn launch(&self) -> Result<(), DeviceError>;
}

/// A kernel from a backend's point of view.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The name of its entry point.
    pub name: &'static str,
    /// Whether it uses a barrier over the whole grid, so that all blocks must be resident.
    pub cooperative: bool,
    /// The size of each argument in bytes, in order.
    pub args: &'static [usize],
    /// The names of its parameters, for messages of the emulator. Empty if they are unknown.
    pub parameters: &'static [&'static str],
    /// Its body on the host, run as one thread of a grid. Only an emulator calls it.
    pub run: unsafe fn(&[*const c_void]),
}

/// The resources that a kernel needs, as compiled for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAttributes {
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Bytes of static shared memory per block.
    pub static_shared: u32,
    /// Bytes of local memory per thread: stack and spilled registers.
    pub local: u32,
    /// The most threads in a block of this kernel.
    pub max_threads: u32,
}
