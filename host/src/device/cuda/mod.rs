//! An NVIDIA GPU through the CUDA driver.
//!
//! All calls go through `libcuda`, which provides what [cust](https://docs.rs/cust/0.3.2) lacks:
//! JIT logs, function attributes, cooperative and cluster launches, graphs, and result numbers
//! newer than 2021. With the feature `cust`, cust holds the primary context, and a program that
//! uses cust can pass its own context, streams and memory.

mod allocation;
mod assembled;
mod context;
mod copy;
mod devrt;
mod event;
mod function;
mod gpu;
mod graph;
mod image;
mod launch;
mod link;
mod logs;
mod mailboxes;
mod memory;
mod module;
mod open;
mod peers;
mod probe;
mod query;
mod stream;
mod together;
#[cfg(feature = "cust")]
mod with_cust;

pub use image::PtxImage;
pub use peers::reaches;
pub use probe::{DeviceSummary, probe};
pub use ptx_image::{ImageError, Module as PtxModule, Modules};

use super::{
    Allocator, Backend, Device, DeviceError, Event, Geometry, KernelAttributes, KernelInfo, Marked,
    MemoryId, Ordered, Properties, Recording, Way,
};
pub(super) use event::Mark;
use function::Function;
use gpu::Gpu;
use launch::{OVERLAPPING_DRIVER, OVERLAPPING_IMAGE};
use libcuda::CUstream;
use mailboxes::Mailboxes;
use std::{
    any::Any,
    ffi::c_void,
    fmt,
    mem::ManuallyDrop,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use stream::{Given, Stream};

/// A stream of a CUDA device, in the device's primary context or in the caller's, and the kernels.
///
/// A stream that is created here is an ordinary (blocking) one: it also follows CUDA's default
/// stream, which cust uses for copies. A kernel is compiled at its first launch or query. Every
/// call makes the context current on the calling thread.
pub struct Cuda {
    /// The last launch, named when the stream reports an error.
    last: Mutex<Option<Last>>,
    /// Where memory comes from, if not from the driver.
    allocator: Option<Box<dyn Allocator>>,
    /// Host memory to which launches in the stream write results.
    mailboxes: Mutex<Mailboxes>,
    stream: ManuallyDrop<Arc<Stream>>,
    /// State shared by all streams of the device.
    gpu: ManuallyDrop<Arc<Gpu>>,
}

/// A launch that was submitted to the stream.
#[derive(Clone, Copy)]
struct Last {
    kernel: &'static str,
    geometry: Geometry,
    /// Whether it is the last launch of a graph.
    of_graph: bool,
}

impl Cuda {
    /// The driver's handle of the stream.
    fn raw_stream(&self) -> CUstream {
        self.stream.raw()
    }

    /// Whether memory comes from the device's pool.
    pub(in crate::device) fn is_pooled(&self) -> bool {
        self.gpu.is_pooled
    }

    /// Whether memory comes from the caller's allocator.
    pub(in crate::device) fn has_allocator(&self) -> bool {
        self.allocator.is_some()
    }

    /// Whether a program that owns the stream is recording it in a graph.
    pub(in crate::device) fn is_captured(&self) -> bool {
        let mut status = 0;
        if !libcuda::provides(c"cuStreamIsCapturing") {
            return false;
        }
        // SAFETY: the stream is live, and the pointer to `status` is valid for writes.
        let result = unsafe { libcuda::cuStreamIsCapturing(self.raw_stream(), &raw mut status) };
        // The default stream returns an error while another one is recorded.
        result.ok().is_ok() && status != 0
    }

    /// The last work of the stream, for a message.
    fn after_last(&self, doing: &str) -> String {
        match *lock(&self.last) {
            Some(Last { kernel, geometry, of_graph }) => {
                let graph = if of_graph { ", the last kernel of a graph," } else { "" };
                format!("{doing} after `{kernel}` with {geometry}{graph} and the work before it")
            }
            None => doing.into(),
        }
    }

    /// Waits for the stream. `doing` describes the wait in errors.
    fn wait(&self, doing: &str) -> Result<(), DeviceError> {
        self.wait_for_stream(self.raw_stream(), doing)
    }

    /// Waits for one of the GPU's streams. `doing` describes the wait in errors.
    fn wait_for_stream(&self, stream: CUstream, doing: &str) -> Result<(), DeviceError> {
        self.watch_others(stream)?;
        // SAFETY: the caller passes a live stream.
        let result = unsafe { libcuda::cuStreamSynchronize(stream) };
        DeviceError::check(result, || self.after_last(doing))
    }

    /// Whether all work in one of the GPU's streams is done. The context must be current, and no
    /// recording may be in progress.
    fn is_done(&self, stream: CUstream) -> Result<bool, DeviceError> {
        stream::is_done(stream, || self.after_last("asking whether the stream is done"))
    }

    /// Free and total bytes of the device.
    fn memory(&self) -> Result<(usize, usize), DeviceError> {
        self.gpu.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for writes, and the context is current.
        let result = unsafe { libcuda::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        DeviceError::check(result, || self.after_last("asking how much memory is free"))?;
        Ok((free, total))
    }
}

// SAFETY: the driver allocates the memory that is lent, which lives as long as this, and every copy
// is complete when it returns.
unsafe impl Backend for Cuda {
    fn properties(&self) -> &Properties {
        &self.gpu.properties
    }

    fn free_memory(&self) -> Result<usize, DeviceError> {
        self.memory().map(|(free, _)| free)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        self.allocate(bytes)
    }

    unsafe fn free(&self, address: u64) {
        // SAFETY: the caller upholds the contract of `free`, which is that of `give_back`.
        unsafe { self.give_back(Given::Allocation(address)) };
    }

    fn drop_after(&self, owner: Box<dyn Any + Send + Sync>) {
        // SAFETY: this is not an allocation.
        unsafe { self.give_back(Given::Owner(owner)) };
    }

    fn memory_id(&self) -> MemoryId {
        MemoryId::of(&self.gpu, 0)
    }

    fn expect_memory(&self, address: u64, bytes: usize) -> Result<(), DeviceError> {
        self.expect_own_memory(address, bytes)
    }

    fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.wait_for_all()
    }

    fn join_streams(&self) -> Result<(), DeviceError> {
        self.wait_on_device_for_all()
    }

    fn new_stream(&self) -> Result<Arc<dyn Backend>, DeviceError> {
        Ok(Arc::new(self.in_new_stream()?))
    }

    fn mark(self: Arc<Self>) -> Result<Marked, DeviceError> {
        Mark::new(self).map(Marked::in_stream)
    }

    fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        match event.in_stream() {
            Some(mark) => mark.let_wait(self),
            None => event.synchronize(),
        }
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        let doing = || format!("copying {} bytes to the device", from.len());
        // SAFETY: the caller vouches for the device range; `from` is borrowed until the copy is
        // complete.
        self.copy("a copy to the device", doing, || unsafe {
            libcuda::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), self.raw_stream())
        })
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        if to.is_empty() {
            return Ok(());
        }
        let (host, bytes) = (to.as_mut_ptr(), to.len());
        let doing = || format!("copying {bytes} bytes from the device");
        // SAFETY: the caller vouches for the device range; `to` is borrowed until the copy is
        // complete.
        self.copy("a copy from the device", doing, || unsafe {
            libcuda::cuMemcpyDtoHAsync_v2(host.cast(), from, bytes, self.raw_stream())
        })
    }

    unsafe fn pin(&self, memory: *mut u8, bytes: usize) -> Result<(), DeviceError> {
        let _entered = self.stream.gate.unrecorded("pinning host memory")?;
        self.gpu.enter()?;
        // SAFETY: the caller keeps the memory allocated. The flag makes it usable by every device.
        let result = unsafe {
            libcuda::cuMemHostRegister_v2(
                memory.cast(),
                bytes,
                libcuda::CU_MEMHOSTREGISTER_PORTABLE,
            )
        };
        DeviceError::check(result, || {
            self.after_last(&format!("pinning {bytes} bytes of the host"))
        })
    }

    unsafe fn unpin(&self, memory: *mut u8) -> bool {
        let _entered = self.stream.gate.either();
        // SAFETY: the caller passes memory that this backend has pinned. A failure belongs to an
        // earlier call.
        self.gpu.enter_to_free()
            && unsafe { libcuda::cuMemHostUnregister(memory.cast()) }.ok().is_ok()
    }

    fn lend_mailbox(&self, words: usize) -> Result<Option<u64>, DeviceError> {
        self.lend(words)
    }

    unsafe fn take_mailbox_back(&self, mailbox: u64, words: usize) {
        self.take_back(mailbox, words);
    }

    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.stream.gate.recordable("filling with zero")?;
        self.gpu.enter()?;
        // SAFETY: the caller vouches for the device range until the fill has run.
        let result = unsafe { libcuda::cuMemsetD8Async(at, 0, bytes, self.raw_stream()) };
        DeviceError::check(result, || self.after_last(&format!("filling {bytes} bytes with zero")))
    }

    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract of `launch`, which is that of `launch_kernel`.
        unsafe { self.launch_kernel(kernel, geometry, args) }
    }

    unsafe fn launch_on_all(
        &self,
        all: &[Device],
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[&[*const c_void]],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract of `launch_on_all`, which is that of
        // `launch_together`.
        unsafe { self.launch_together(all, kernel, geometry, args) }
    }

    fn can_overlap(&self, kernel: &KernelInfo) -> bool {
        self.image_of(kernel) >= OVERLAPPING_IMAGE
            && self.gpu.properties.driver_version >= OVERLAPPING_DRIVER
            && libcuda::provides(c"cuLaunchKernelEx")
    }

    fn attributes(&self, kernel: &KernelInfo) -> Result<KernelAttributes, DeviceError> {
        self.gpu.enter()?;
        Ok(self.gpu.function(kernel.name)?.attributes)
    }

    fn occupancy(
        &self,
        kernel: &KernelInfo,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError> {
        self.gpu.enter()?;
        let function = self.gpu.function(kernel.name)?;
        function.allow_shared(dynamic_shared, &self.gpu.properties)?;
        function.blocks_per_multiprocessor(block_threads, dynamic_shared)
    }

    fn active_clusters(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        self.resident_clusters(kernel, geometry)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let _entered = self.stream.gate.unrecorded("waiting for the stream")?;
        self.gpu.enter()?;
        self.wait("waiting for the stream")?;
        *lock(&self.last) = None;
        Ok(())
    }

    fn cuda_stream(&self) -> Result<Option<*mut c_void>, DeviceError> {
        let _entered = self.stream.gate.unrecorded("work of another library")?;
        self.gpu.enter()?;
        Ok(Some(self.raw_stream().cast()))
    }

    fn cuda(&self) -> Option<&Self> {
        Some(self)
    }

    fn is_idle(&self) -> Result<bool, DeviceError> {
        let _entered = self.stream.gate.unrecorded("asking whether the stream is done")?;
        self.gpu.enter()?;
        self.is_done(self.raw_stream())
    }

    fn give_up(&self) {
        self.gpu.give_up();
    }

    fn time(
        &self,
        before: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        let passed = self.stream.gate.unrecorded("timing")?;
        self.gpu.enter()?;
        // This wait reports earlier work that failed.
        self.wait("waiting for the work before the timed one")?;
        let new_event = || event::Event::new(libcuda::CU_EVENT_DEFAULT);
        let (start, stop) = (new_event()?, new_event()?);
        // `before` and `work` pass the gate themselves.
        drop(passed);
        before()?;
        self.gpu.enter()?;
        start.record(self.raw_stream())?;
        work()?;
        let _after = self.stream.gate.unrecorded("timing")?;
        // `work` may have made another device's context current.
        self.gpu.enter()?;
        stop.record(self.raw_stream())?;
        self.wait("waiting for timed work")?;
        stop.microseconds_since(&start)
    }

    fn record(
        self: Arc<Self>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.capture(work)
    }

    fn assemble(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
        way: Way,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.put_together(launches, way)
    }

    fn is_recording(&self) -> bool {
        self.stream.gate.is_recording()
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // The resources of the fields can be freed only while the context is current and idle.
        // After a fault it is neither, and the driver frees everything when the process exits.
        if !self.gpu.enter_to_free() || self.watch_others(self.raw_stream()).is_err() {
            return;
        }
        // SAFETY: the stream is still alive. The fields are dropped only here, the context last: it
        // is part of the state that all streams share, like the kernels.
        unsafe {
            let _lost = libcuda::cuStreamSynchronize(self.raw_stream());
            self.free_mailboxes();
            ManuallyDrop::drop(&mut self.stream);
            ManuallyDrop::drop(&mut self.gpu);
        }
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({}, compute_{})", self.gpu.properties.name, self.gpu.image)
    }
}

/// Locks the mutex even after another thread has panicked: the data of these mutexes is consistent
/// at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
