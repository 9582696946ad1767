//! An NVIDIA GPU through the CUDA driver.
//!
//! [cust](https://docs.rs/cust/0.3.2) holds the primary context, the stream and the events;
//! `libcuda` has what cust lacks: JIT logs, function attributes, cooperative and cluster launches,
//! graphs, and result numbers newer than 2021.

mod assembled;
mod devrt;
mod function;
mod graph;
mod image;
mod launch;
mod link;
mod logs;
mod mailboxes;
mod module;
mod peers;
mod probe;
mod query;

pub use image::PtxImage;
pub use peers::reaches;
pub use probe::{DeviceSummary, probe};
pub use ptx_image::{ImageError, Module as PtxModule, Modules};

use super::{
    Backend, DeviceError, Geometry, KernelAttributes, KernelInfo, Ordered, Properties, Recording,
    Way, gate::Gate,
};
use cust::{
    context::{Context, CurrentContext},
    error::CudaError,
    event::{Event, EventFlags},
    stream::{Stream, StreamFlags},
};
use function::Function;
use graph::Capture;
use libcuda::{CUDA_ERROR_NOT_READY, CUDA_ERROR_OUT_OF_MEMORY, CUresult, CUstream};
use mailboxes::Mailboxes;
use std::{
    collections::HashMap,
    ffi::c_void,
    fmt,
    mem::ManuallyDrop,
    sync::atomic::{AtomicBool, Ordering},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

/// One CUDA device: its primary context, one stream, and the kernels.
///
/// The stream is an ordinary (blocking) one, because cust does not make others. This matters only
/// to a process that also uses CUDA's default stream. A kernel is compiled at its own first launch
/// or query. Every call makes the context current on the thread that calls.
pub struct Cuda {
    ordinal: u32,
    properties: Properties,
    /// Whether nothing may wait for the stream any more, because what runs in it may not end.
    given_up: AtomicBool,
    /// The devices that work with it, in their order, itself among them.
    together: OnceLock<Vec<Weak<Cuda>>>,
    /// What the newest image that it can run is compiled for.
    image: u32,
    modules: Modules<'static>,
    /// The kernels that have been loaded so far.
    functions: ManuallyDrop<Mutex<HashMap<&'static str, Arc<Function>>>>,
    /// What was launched last, to name it when the stream reports an error.
    last: Mutex<Option<Last>>,
    mailboxes: Mutex<Mailboxes>,
    gate: Gate<Capture>,
    stream: ManuallyDrop<Stream>,
    context: ManuallyDrop<Context>,
}

/// A launch that was put into the stream.
#[derive(Clone, Copy)]
struct Last {
    kernel: &'static str,
    geometry: Geometry,
    /// Whether it is the last one of a graph.
    of_graph: bool,
}

impl Cuda {
    /// Opens device `ordinal` with those of `images` that it can run. A kernel is taken from the
    /// newest of them that has it.
    ///
    /// # Errors
    /// [`DeviceError::NoCuda`] with the reason, [`DeviceError::NoSuchDevice`],
    /// [`DeviceError::NoImage`], [`DeviceError::Image`], or what the driver says when it makes the
    /// context.
    pub fn new(ordinal: u32, images: &[PtxImage]) -> Result<Self, DeviceError> {
        let count = probe::count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchDevice { ordinal, count });
        }
        let during = || format!("opening CUDA device {ordinal}");
        let device =
            cust::device::Device::get_device(ordinal).map_err(|error| from_cust(error, during))?;
        let properties = query::properties(device)?;
        let (modules, image) = image::usable(images, properties.compute)?;
        query::retainable(device.as_raw(), during)?;
        let context = Context::new(device).map_err(|error| from_cust(error, during))?;
        // cust makes the context current too, but does not look whether that worked. The stream must
        // not become one of another device.
        CurrentContext::set_current(&context).map_err(|error| from_cust(error, during))?;
        let stream =
            Stream::new(StreamFlags::DEFAULT, None).map_err(|error| from_cust(error, during))?;
        Ok(Self {
            ordinal,
            properties,
            given_up: AtomicBool::new(false),
            together: OnceLock::new(),
            image,
            modules,
            functions: ManuallyDrop::new(Mutex::default()),
            last: Mutex::new(None),
            mailboxes: Mutex::default(),
            gate: Gate::default(),
            stream: ManuallyDrop::new(stream),
            context: ManuallyDrop::new(context),
        })
    }

    /// Makes the context current on this thread.
    fn enter(&self) -> Result<(), DeviceError> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(DeviceError::GivenUp { name: self.properties.name.clone() });
        }
        CurrentContext::set_current(&*self.context)
            .map_err(|error| from_cust(error, || "making the CUDA context current".into()))
    }

    /// Makes the context current to give something back. Returns whether that can be done: not on a
    /// device that is given up, where to wait is to hang. Tries twice, because what is not given back
    /// now never is. The context of another device may be current otherwise.
    fn enter_to_free(&self) -> bool {
        self.enter().or_else(|_| self.enter()).is_ok()
    }

    /// The kernel's function, compiled and loaded at its first use.
    fn function(&self, name: &'static str) -> Result<Arc<Function>, DeviceError> {
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(function.clone());
        }
        let image = self.image;
        let module =
            self.modules.module(name)?.ok_or(DeviceError::UnknownKernel { name, image })?;
        let function = Arc::new(Function::load(name, module)?);
        functions.insert(name, function.clone());
        Ok(function)
    }

    /// The stream as the driver knows it.
    fn raw_stream(&self) -> CUstream {
        self.stream.as_inner().cast()
    }

    /// What the stream was busy with, for a message.
    fn after_last(&self, doing: &str) -> String {
        match *lock(&self.last) {
            Some(Last { kernel, geometry, of_graph }) => {
                let graph = if of_graph { ", the last kernel of a graph," } else { "" };
                format!("{doing} after `{kernel}` with {geometry}{graph} and the work before it")
            }
            None => doing.into(),
        }
    }

    /// Waits for the stream; `doing` says for what.
    fn wait(&self, doing: &str) -> Result<(), DeviceError> {
        self.watch_others()?;
        // SAFETY: the stream is this backend's own and lives as long as it.
        let result = unsafe { libcuda::cuStreamSynchronize(self.raw_stream()) };
        DeviceError::check(result, || self.after_last(doing))
    }

    /// Asks whether everything in the stream is done. The context is current, and nobody records.
    fn is_done(&self) -> Result<bool, DeviceError> {
        // SAFETY: the stream is this backend's own and lives as long as it.
        match unsafe { libcuda::cuStreamQuery(self.raw_stream()) } {
            CUDA_ERROR_NOT_READY => Ok(false),
            result => {
                let doing = "asking whether the stream is done";
                DeviceError::check(result, || self.after_last(doing)).map(|()| true)
            }
        }
    }

    /// Free bytes and total bytes of the device.
    fn memory(&self) -> Result<(usize, usize), DeviceError> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are there to be written, and the context is current.
        let result = unsafe { libcuda::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        DeviceError::check(result, || self.after_last("asking how much memory is free"))?;
        Ok((free, total))
    }
}

impl Backend for Cuda {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<usize, DeviceError> {
        self.memory().map(|(free, _)| free)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        let _entered = self.gate.unrecorded("an allocation")?;
        self.enter()?;
        let mut address = 0;
        // SAFETY: `address` is there to be written, and the context is current.
        let result = unsafe { libcuda::cuMemAlloc_v2(&raw mut address, bytes) };
        if result == CUDA_ERROR_OUT_OF_MEMORY {
            let (free, total) = self.memory().unwrap_or_default();
            return Err(DeviceError::OutOfMemory { requested: bytes, free, total });
        }
        DeviceError::check(result, || self.after_last(&format!("allocating {bytes} bytes")))?;
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let entered = self.gate.either();
        if let Some(capture) = entered.recorded() {
            lock(&capture.freed).push(address);
        } else {
            if !self.enter_to_free() || self.watch_others().is_err() {
                return;
            }
            // SAFETY: the caller gives an address from `alloc` that is freed only now. This and the
            // driver both wait first for the work that may use it. A failure belongs to an earlier
            // call.
            unsafe {
                let _waited = libcuda::cuStreamSynchronize(self.raw_stream());
                let _lost = libcuda::cuMemFree_v2(address);
            }
        }
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        let _entered = self.gate.unrecorded("a copy to the device")?;
        self.enter()?;
        // The driver may wait for the stream by itself.
        self.watch_others()?;
        // SAFETY: the caller vouches for the device range; `from` outlives the copy because the
        // stream is waited for before this returns.
        let result = unsafe {
            libcuda::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), self.raw_stream())
        };
        let doing = || format!("copying {} bytes to the device", from.len());
        DeviceError::check(result, || self.after_last(&doing()))?;
        self.wait(&doing())
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        if to.is_empty() {
            return Ok(());
        }
        let _entered = self.gate.unrecorded("a copy from the device")?;
        self.enter()?;
        // The driver may wait for the stream by itself.
        self.watch_others()?;
        // SAFETY: the caller vouches for the device range; `to` is borrowed until the stream has
        // been waited for.
        let result = unsafe {
            libcuda::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), self.raw_stream())
        };
        let doing = || format!("copying {} bytes from the device", to.len());
        DeviceError::check(result, || self.after_last(&doing()))?;
        self.wait(&doing())
    }

    unsafe fn pin(&self, memory: *mut u8, bytes: usize) -> Result<(), DeviceError> {
        let _entered = self.gate.unrecorded("pinning host memory")?;
        self.enter()?;
        // SAFETY: the caller keeps the memory allocated. The flag lets every device use it.
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

    unsafe fn unpin(&self, memory: *mut u8) {
        let _entered = self.gate.either();
        if self.enter_to_free() {
            // SAFETY: the caller gives memory that this backend has pinned. A failure belongs to an earlier call.
            let _lost = unsafe { libcuda::cuMemHostUnregister(memory.cast()) };
        }
    }

    fn lend_mailbox(&self) -> Result<Option<u64>, DeviceError> {
        self.lend()
    }

    unsafe fn take_mailbox_back(&self, mailbox: u64) {
        self.take_back(mailbox);
    }

    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.gate.recordable("filling with zero")?;
        self.enter()?;
        // SAFETY: the caller vouches for the device range until the filling has run.
        let result = unsafe { libcuda::cuMemsetD8Async(at, 0, bytes, self.raw_stream()) };
        DeviceError::check(result, || self.after_last(&format!("filling {bytes} bytes with zero")))
    }

    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise is the one that `launch_kernel` asks for.
        unsafe { self.launch_kernel(kernel, geometry, args) }
    }

    fn attributes(&self, kernel: &KernelInfo) -> Result<KernelAttributes, DeviceError> {
        self.enter()?;
        Ok(self.function(kernel.name)?.attributes)
    }

    fn occupancy(
        &self,
        kernel: &KernelInfo,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError> {
        self.enter()?;
        let function = self.function(kernel.name)?;
        function.allow_shared(dynamic_shared, &self.properties)?;
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
        let _entered = self.gate.unrecorded("waiting for the stream")?;
        self.enter()?;
        self.wait("waiting for the stream")?;
        *lock(&self.last) = None;
        Ok(())
    }

    fn cuda_stream(&self) -> Result<Option<*mut c_void>, DeviceError> {
        let _entered = self.gate.unrecorded("work of another library")?;
        self.enter()?;
        Ok(Some(self.raw_stream().cast()))
    }

    fn is_idle(&self) -> Result<bool, DeviceError> {
        let _entered = self.gate.unrecorded("asking whether the stream is done")?;
        self.enter()?;
        self.is_done()
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn time(
        &self,
        before: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        let passed = self.gate.unrecorded("timing")?;
        self.enter()?;
        // This wait reports earlier work that failed. cust's event calls must not do it: they read
        // the driver's answer as an enum of 2021, and it may be a newer number.
        self.wait("waiting for the work before the timed one")?;
        let timing = |error| from_cust(error, || self.after_last("timing work"));
        let start = Event::new(EventFlags::DEFAULT).map_err(timing)?;
        let stop = Event::new(EventFlags::DEFAULT).map_err(timing)?;
        // `before` and `work` pass the gate themselves.
        drop(passed);
        before()?;
        self.enter()?;
        start.record(&self.stream).map_err(timing)?;
        work()?;
        let _after = self.gate.unrecorded("timing")?;
        // `work` may have made another device's context current.
        self.enter()?;
        stop.record(&self.stream).map_err(timing)?;
        self.wait("waiting for timed work")?;
        let milliseconds = stop.elapsed_time_f32(&start).map_err(timing)?;
        Ok(f64::from(milliseconds) * 1e3)
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
        self.gate.is_recording()
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // What the fields own can be freed only while the context is current and idle. After a
        // fault it is neither, and the driver frees everything when the process ends.
        if !self.enter_to_free() || self.watch_others().is_err() {
            return;
        }
        // SAFETY: the stream is still there. The fields are dropped here and nowhere else, the
        // context last.
        unsafe {
            let _lost = libcuda::cuStreamSynchronize(self.raw_stream());
            self.free_mailboxes();
            ManuallyDrop::drop(&mut self.functions);
            ManuallyDrop::drop(&mut self.stream);
            ManuallyDrop::drop(&mut self.context);
        }
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({}, compute_{})", self.properties.name, self.image)
    }
}

/// cust's error as ours. cust keeps the driver's number for what it knows and 999 for the rest;
/// its own `Display` asks the driver for text and panics when there is none, so it is not used.
fn from_cust(error: CudaError, during: impl FnOnce() -> String) -> DeviceError {
    let result = CUresult(error as u32);
    match DeviceError::check(result, during) {
        Err(error) => error,
        Ok(()) => unreachable!("cust has no error that means success"),
    }
}

/// Locks, also after another thread has panicked: what these mutexes guard is consistent at every
/// step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
