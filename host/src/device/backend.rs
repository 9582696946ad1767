//! What every device can do, a GPU or an emulated one.

use super::{Device, DeviceError, Event, Geometry, Marked, Ordered, Properties, Way};
use simt::{OrderSite, Stats};
use std::{any::Any, ffi::c_void, ptr, sync::Arc};

/// A machine that runs grids: allocates, copies, launches, times.
///
/// Work is ordered: each `Backend` is one stream, and runs what is put into it in that order. A
/// launch that [overlaps](Geometry::overlapping) may start before the one before it has ended.
/// Calls may come from any thread; threads that share a backend share its stream. Several backends may
/// be [streams](Self::new_stream) of one device, and then share its memory.
///
/// While a thread [records](Self::record), every other call that touches the stream is refused with
/// [`DeviceError::NotRecordable`] or [`DeviceError::RecordingElsewhere`].
///
/// # Safety
///
/// Safe code relies on what the methods promise:
///
/// * [`alloc`](Self::alloc) gives memory of the backend, as long as asked for, that is not given again before it is
///   freed.
/// * [`lend_mailbox`](Self::lend_mailbox) gives the address of as many words of host memory, aligned to 8 bytes, which
///   live as long as the backend and are not lent again before they are taken back.
/// * [`memory_id`](Self::memory_id) is the same only for backends with the same memory.
/// * Memory is freed, or its owner dropped, after all work that may use it.
/// * A copy has ended when it returns, also with an error.
/// * [`record`](Self::record) and [`assemble`](Self::assemble) give what runs the launches that it was made of, and
///   nothing else.
///
/// ```compile_fail,E0200
/// # use gridsync::device::{Backend, DeviceError, Geometry, KernelAttributes, KernelInfo, Properties};
/// # type Did<T> = Result<T, DeviceError>;
/// struct Mine;
/// impl Backend for Mine { // It needs `unsafe impl`.
///     fn lend_mailbox(&self, _: usize) -> Result<Option<u64>, DeviceError> {
///         Ok(Some(64)) // No memory is allocated at this address.
///     }
/// #   fn properties(&self) -> &Properties { todo!() }
/// #   fn free_memory(&self) -> Did<usize> { todo!() }
/// #   fn alloc(&self, _: usize) -> Did<u64> { todo!() }
/// #   unsafe fn free(&self, _: u64) {}
/// #   unsafe fn upload(&self, _: u64, _: &[u8]) -> Did<()> { todo!() }
/// #   unsafe fn download(&self, _: u64, _: &mut [u8]) -> Did<()> { todo!() }
/// #   unsafe fn zero(&self, _: u64, _: usize) -> Did<()> { todo!() }
/// #   unsafe fn launch(
/// #       &self, _: &KernelInfo, _: &Geometry, _: &[*const std::ffi::c_void],
/// #   ) -> Did<()> { todo!() }
/// #   fn attributes(&self, _: &KernelInfo) -> Did<KernelAttributes> { todo!() }
/// #   fn occupancy(&self, _: &KernelInfo, _: u32, _: u32) -> Did<u32> { todo!() }
/// #   fn synchronize(&self) -> Did<()> { todo!() }
/// #   fn time(
/// #       &self, _: &mut dyn FnMut() -> Did<()>, _: &mut dyn FnMut() -> Did<()>,
/// #   ) -> Did<f64> { todo!() }
/// }
/// ```
pub unsafe trait Backend: Send + Sync {
    /// What the device is and how much it has.
    fn properties(&self) -> &Properties;

    /// What an emulator has done in all launches so far that succeeded; none on a GPU.
    fn emulated(&self) -> Option<Stats> {
        None
    }

    /// The places that order memory or wait, in all launches so far, if an emulator notes them.
    fn order_sites(&self) -> Vec<OrderSite> {
        Vec::new()
    }

    /// Bytes of device memory that nobody has allocated.
    ///
    /// # Errors
    /// If the device does not answer.
    fn free_memory(&self) -> Result<usize, DeviceError>;

    /// Allocates `bytes` of device memory, more than none, at an address that is a multiple of 256.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] with the bytes asked for and free.
    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError>;

    /// Frees an allocation, after the work in all streams of the device that may still use it.
    ///
    /// A failure cannot be returned from here and is dropped. It means that the device is lost, and
    /// the next call that returns a result says so.
    ///
    /// # Safety
    /// `address` came from [`alloc`](Self::alloc) of a backend with this [memory](Self::memory_id), and
    /// has not been freed; nothing launched later uses it.
    unsafe fn free(&self, address: u64);

    /// Drops the owner of memory that this backend has not allocated, as [`free`](Self::free) frees its
    /// own. If it cannot wait for the work that may use the memory, it never drops the owner.
    fn drop_after(&self, owner: Box<dyn Any + Send + Sync>) {
        let _waited = self.synchronize();
        drop(owner);
    }

    /// What tells the memory of one device from that of another. Streams of one device give the same.
    fn memory_id(&self) -> MemoryId {
        MemoryId(ptr::from_ref(self).addr(), 0)
    }

    /// Refuses memory that is not a live allocation of the device. A backend that cannot tell takes any.
    ///
    /// # Errors
    /// [`DeviceError::NoMemory`], [`DeviceError::OtherContext`].
    fn expect_memory(&self, _address: u64, _bytes: usize) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Copies `from` to the device, after the work in the stream; done on return.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    ///
    /// # Safety
    /// `to .. to + from.len()` lies in a live allocation of this backend.
    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError>;

    /// Copies from the device into `to`, after the work in the stream; done on return.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    ///
    /// # Safety
    /// `from .. from + to.len()` lies in a live allocation of this backend.
    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError>;

    /// Pins `bytes` bytes of host memory, so that copies between them and any device need no other memory on their
    /// way. An emulated device has nothing to do.
    ///
    /// # Errors
    /// If the driver refuses. Then copies still work, and are slower.
    ///
    /// # Safety
    /// The memory stays allocated until [`unpin`](Self::unpin) is called with its address.
    unsafe fn pin(&self, _memory: *mut u8, _bytes: usize) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Ends that. Returns whether it has ended: if the device is lost or given up, the memory may stay pinned, and
    /// must not be freed then. The driver would mistake later allocations at its address for the pinned memory.
    ///
    /// # Safety
    /// The memory was pinned by this backend, and no copy uses it.
    #[must_use]
    unsafe fn unpin(&self, _memory: *mut u8) -> bool {
        true
    }

    /// Lends `words` words of host memory that kernels can write, at an address that is the same for host and
    /// device. None if there are none: then results are copied, which costs an emulated device nothing.
    ///
    /// # Errors
    /// While a thread records, and errors of the driver.
    #[doc(hidden)]
    fn lend_mailbox(&self, _words: usize) -> Result<Option<u64>, DeviceError> {
        Ok(None)
    }

    /// Takes them back.
    ///
    /// # Safety
    /// This backend lent so many there. Nobody uses them from now on, nor does a launch.
    #[doc(hidden)]
    unsafe fn take_mailbox_back(&self, _mailbox: u64, _words: usize) {}

    /// Puts a filling of `bytes` bytes with zero into the stream.
    ///
    /// # Errors
    /// If it cannot be put there; later errors come from [`synchronize`](Self::synchronize).
    ///
    /// # Safety
    /// `at .. at + bytes` lies in a live allocation of this backend, and stays so until it has run.
    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError>;

    /// Puts a launch into the stream. `args` has the address of each argument, in order; the
    /// values are copied before this returns.
    ///
    /// # Errors
    /// [`DeviceError::GridTooLarge`] if a cooperative launch does not fit,
    /// [`DeviceError::SharedTooLarge`] if a block's shared memory does not, otherwise errors of the
    /// launch. Errors while the kernel runs come from [`synchronize`](Self::synchronize).
    ///
    /// # Safety
    /// `args` are the arguments that the kernel declares, in number, type and order; the memory
    /// that they name stays allocated until the kernel has run; the kernel's own contract holds.
    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError>;

    /// All GPUs of the emulated machine that this one is part of, in their order. None if it is alone, as
    /// every CUDA device is.
    fn machine(&self) -> Vec<Arc<dyn Backend>> {
        Vec::new()
    }

    /// Puts a launch into the stream of each of `all` devices, whose grids may wait for each other. This is the
    /// first of them. `args` has the arguments of each.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`launch`](Self::launch), or that error of all.
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
        // SAFETY: the caller's promise.
        unsafe { launch_one_by_one(all, kernel, geometry, args) }
    }

    /// Whether a launch of the kernel can [overlap](Geometry::overlapping) the kernel before it: the device,
    /// the driver and the image that the kernel is from have to support it.
    fn can_overlap(&self, _kernel: &KernelInfo) -> bool {
        false
    }

    /// What the kernel needs of the device.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`], and errors of loading the kernel.
    fn attributes(&self, kernel: &KernelInfo) -> Result<KernelAttributes, DeviceError>;

    /// Blocks of the kernel that fit on one SM at once; 0 if not even one does.
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

    /// Waits for everything in the stream.
    ///
    /// # Errors
    /// The error of the work that failed; [`DeviceError::Lost`] if the context is lost with it.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Waits for everything in all streams of the device. A stream that is recorded runs nothing.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.synchronize()
    }

    /// Another stream of the device, with the same memory.
    ///
    /// # Errors
    /// What the driver says; [`DeviceError::Unsupported`] if this backend has one stream only.
    fn new_stream(&self) -> Result<Arc<dyn Backend>, DeviceError> {
        Err(DeviceError::Unsupported {
            what: "several streams",
            device: self.properties().name.clone(),
            needs: "put the work into one",
        })
    }

    /// Marks what has been put into the stream so far. A backend waits for it, unless it can do without.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn mark(self: Arc<Self>) -> Result<Marked, DeviceError> {
        self.synchronize().map(|()| Marked::passed())
    }

    /// Lets what comes into the stream from now on wait for the event. A backend waits for it at once, unless
    /// it can do without.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize), and those of the event.
    fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        event.synchronize()
    }

    /// The CUDA stream, whose context is made current on this thread; none if this is no CUDA device.
    ///
    /// For a library that puts work of its own into the stream: NCCL takes the stream, and the
    /// device whose context is current.
    ///
    /// # Errors
    /// While somebody records, and if the context cannot be made current.
    #[doc(hidden)]
    fn cuda_stream(&self) -> Result<Option<*mut c_void>, DeviceError> {
        Ok(None)
    }

    /// This, if it is a CUDA device.
    #[cfg(feature = "cuda")]
    #[doc(hidden)]
    fn cuda(&self) -> Option<&super::cuda::Cuda> {
        None
    }

    /// Whether everything in the stream is done. Does not wait if the device can tell without: for
    /// whoever has to look after something else in the meantime.
    ///
    /// # Errors
    /// As for [`synchronize`](Self::synchronize).
    fn is_idle(&self) -> Result<bool, DeviceError> {
        self.synchronize().map(|()| true)
    }

    /// Gives up the device: what runs on it may wait for ever for another device, which has failed. Every later
    /// call is refused with [`DeviceError::GivenUp`], and nothing waits for the stream any more.
    fn give_up(&self) {}

    /// Puts `before` into the empty stream, and then `work` between two events. Waits, and returns
    /// the microseconds of device time between the events, with a resolution of about half a
    /// microsecond.
    ///
    /// What other threads put into the stream meanwhile counts too.
    ///
    /// # Errors
    /// Errors of `before`, of `work`, and of the stream.
    fn time(
        &self,
        before: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError>;

    /// Runs `work` and records the [`launch`](Self::launch)es and [`zero`](Self::zero)s that this
    /// thread makes in it, instead of putting them into the stream.
    ///
    /// # Errors
    /// Errors of `work` and of the recording; [`DeviceError::Unsupported`] if this backend cannot
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

    /// Checks launches that depend on each other, and gets them ready to be run again and again.
    ///
    /// # Errors
    /// Errors of each [`launch`](Self::launch), and of the driver when it makes streams, events or a graph;
    /// [`DeviceError::Unsupported`] if this backend cannot do it, or not in this way.
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

    /// Whether what this thread launches now becomes part of a recording.
    fn is_recording(&self) -> bool {
        false
    }
}

/// Puts a launch into the stream of each device.
///
/// # Errors
/// [`DeviceError::OnGpu`] with the first error of a launch. If grids on other devices have started by then, all
/// devices are given up: those grids may wait for one that does not come.
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
        // SAFETY: the caller's promise.
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

/// What tells the memory of one device from that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(usize, u32);

impl MemoryId {
    /// Memory number `part` of what is shared by those who share `memory`.
    #[must_use]
    pub fn of<T>(memory: &Arc<T>, part: u32) -> Self {
        Self(Arc::as_ptr(memory).addr(), part)
    }
}

/// What a backend recorded.
pub trait Recording: Send + Sync {
    /// Puts everything into the stream, in the order in which it was recorded.
    ///
    /// # Errors
    /// As for [`Graph::launch`](super::Graph::launch).
    ///
    /// # Safety
    /// As for [`Graph::launch`](super::Graph::launch).
    unsafe fn launch(&self) -> Result<(), DeviceError>;
}

/// A kernel as a backend sees it.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The name of its entry point.
    pub name: &'static str,
    /// Whether it holds a barrier over the whole grid, and so must have all blocks resident.
    pub cooperative: bool,
    /// The bytes of each of its arguments, in order.
    pub args: &'static [usize],
    /// The names of its parameters, for messages of the emulator. Empty if they are not known.
    pub parameters: &'static [&'static str],
    /// Its body on the host, run as one thread of a grid; only an emulator calls it.
    pub run: unsafe fn(&[*const c_void]),
}

/// What one kernel needs of the device, as compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAttributes {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory of a block.
    pub static_shared: u32,
    /// Bytes of local memory of a thread: stack and spilled registers.
    pub local: u32,
    /// Threads that a block of this kernel may have.
    pub max_threads: u32,
}
