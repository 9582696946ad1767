//! Errors between the host and a device.

mod messages;

use super::{Device, Geometry, NoCuda};
use libcuda::CUresult;
use messages::{after_a_line, meaning, offset_fault, paths};
use std::path::PathBuf;

/// Why a device failed to do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// CUDA cannot be used.
    #[error(transparent)]
    NoCuda(#[from] NoCuda),

    /// CUDA devices exist, but not this one.
    #[error(
        "there is no CUDA device {ordinal}: the driver sees {count}, counted from 0 (CUDA_VISIBLE_DEVICES may hide some)"
    )]
    NoSuchDevice {
        /// The requested ordinal.
        ordinal: u32,
        /// Number of devices.
        count: u32,
    },

    /// No kernel image runs on this device.
    #[error(
        "no kernel image runs on compute capability {compute}: the images are for {offered:?} and newer; build one for compute_{compute}"
    )]
    NoImage {
        /// The device's compute capability, 10·major + minor.
        compute: u32,
        /// The targets of the images.
        offered: Vec<u32>,
    },

    /// A kernel image cannot be read.
    #[error(transparent)]
    Image(#[from] ptx_image::ImageError),

    /// The driver rejected a kernel's PTX.
    #[error("the driver rejected `{kernel}` of the compute_{image} kernels: {result}, {}{}", meaning(.result), after_a_line(.log))]
    Jit {
        /// The kernel.
        kernel: &'static str,
        /// The compute capability that its image was compiled for.
        image: u32,
        /// The driver's result.
        result: CUresult,
        /// The log of the JIT compiler, errors first. Its line numbers are those of
        /// [`Modules::module`](ptx_image::Modules::module), not of the image.
        log: String,
    },

    /// The kernel launches other kernels, and the library that this needs was not found.
    #[error(
        "`{kernel}` launches kernels and must be linked with libcudadevrt.a, which was not found; install CUDA's cuda-cudart-dev or the Python package nvidia-cuda-runtime, or set {variable} to its path (tried {})",
        paths(.looked_at)
    )]
    NoDeviceRuntime {
        /// The kernel.
        kernel: &'static str,
        /// The environment variable that can hold the path of the library.
        variable: &'static str,
        /// The paths that were tried.
        looked_at: Vec<PathBuf>,
    },

    /// None of the images that the device can run contains the kernel.
    #[error(
        "there is no kernel `{name}` in the compute_{image} kernels; they may be older than this program: rebuild them"
    )]
    UnknownKernel {
        /// The requested name.
        name: &'static str,
        /// The target of the newest of these images.
        image: u32,
    },

    /// The emulator cannot run a kernel of a PTX image.
    #[error("the emulator cannot run the PTX of `{kernel}`: {why}")]
    NotInterpreted {
        /// The kernel.
        kernel: &'static str,
        /// Why.
        why: String,
    },

    /// Not enough free device memory.
    #[error(
        "out of device memory: {requested} bytes requested, {free} of {total} are free; use a smaller input or free buffers first"
    )]
    OutOfMemory {
        /// Requested bytes.
        requested: usize,
        /// Bytes that were free on the device at the time of the failure.
        free: usize,
        /// Total bytes of the device.
        total: usize,
    },

    /// A copy between a buffer and a slice of different lengths.
    #[error(
        "a slice of {given} elements does not match a buffer of {buffer}: the lengths must be equal"
    )]
    LengthMismatch {
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the slice.
        given: usize,
    },

    /// An array is distributed in stripes that split a tile.
    #[error(
        "stripes of {stripe} elements are too short for {what}, whose tiles have {tile}: allocate the array with Spread::alloc, or use longer stripes"
    )]
    ShortStripes {
        /// The operation on the array.
        what: &'static str,
        /// Elements per stripe.
        stripe: usize,
        /// Elements per tile.
        tile: usize,
    },

    /// A matrix of a different size than planned.
    #[error(
        "{given} elements are not a matrix of {rows} rows of {columns}: make the plan for the size of the data"
    )]
    ShapeMismatch {
        /// Planned number of rows.
        rows: usize,
        /// Planned number of elements per row.
        columns: usize,
        /// Elements passed.
        given: usize,
    },

    /// These are not the offsets of segments.
    #[error(
        "{}: the offsets of segments are the index of the first element of each, beginning with 0, and at last the number of elements",
        offset_fault(*at, *offset, *before)
    )]
    NotOffsets {
        /// The index of the offset.
        at: usize,
        /// The offset, if there is one.
        offset: Option<u64>,
        /// The offset before it.
        before: u64,
    },

    /// An index is past the end of the array that is indexed.
    #[error("index {index} is past the end of an array of {len} elements")]
    NoSuchIndex {
        /// The index.
        index: u64,
        /// The number of elements.
        len: usize,
    },

    /// A buffer of one device was passed to an operation on another.
    #[error(
        "a buffer on {other} was passed to an operation on {own}: open each device once, make more streams with Device::new_stream, or copy the data"
    )]
    OtherDevice {
        /// The device of the operation.
        own: String,
        /// The device of the buffer.
        other: String,
    },

    /// A stream or memory belongs to another CUDA context than the device.
    #[error(
        "{what} belongs to a different CUDA context than {device}: create it while the device's context is current"
    )]
    OtherContext {
        /// The kind of object.
        what: &'static str,
        /// The device that was to use it.
        device: String,
    },

    /// No allocation contains all of this memory.
    #[error(
        "{bytes} bytes at {address:#x} are not inside one live allocation of {device}: pass the address and length of memory that is allocated there and not freed"
    )]
    NoMemory {
        /// The address.
        address: u64,
        /// Bytes starting at this address.
        bytes: usize,
        /// The device.
        device: String,
    },

    /// Memory starts at an address that kernels cannot use.
    #[error(
        "memory at {address:#x} does not start at a multiple of {alignment} bytes, as it must here: copy it to memory that does"
    )]
    Misaligned {
        /// The address.
        address: u64,
        /// The required alignment.
        alignment: u64,
    },

    /// A block needs more shared memory than the device gives one.
    #[error(
        "`{kernel}` needs {static_shared} B of static and {dynamic_shared} B of dynamic shared memory per block; the device allows {limit} B: use smaller blocks or tiles"
    )]
    SharedTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// Its static shared memory in bytes.
        static_shared: u32,
        /// The requested dynamic shared memory in bytes.
        dynamic_shared: u32,
        /// The limit per block in bytes.
        limit: u32,
    },

    /// The blocks of a cooperative launch cannot all be resident.
    #[error(
        "`{kernel}` needs all its blocks resident at once, but {geometry} are too many: {device} holds {resident} such blocks ({multiprocessors} multiprocessors); launch at most {resident} blocks, or smaller ones"
    )]
    GridTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// Blocks of this size that the device can hold.
        resident: u64,
        /// Name of the device.
        device: String,
        /// Number of its streaming multiprocessors.
        multiprocessors: u32,
    },

    /// A block with no threads, or more than the kernel allows.
    #[error(
        "`{kernel}` cannot run in blocks of {threads} threads: its blocks must have 1 to {limit} here"
    )]
    BadBlock {
        /// The kernel.
        kernel: &'static str,
        /// Requested threads.
        threads: u32,
        /// The limit.
        limit: u32,
    },

    /// A grid without blocks.
    #[error("`{kernel}` cannot be launched with 0 blocks: launch at least 1")]
    EmptyGrid {
        /// The kernel.
        kernel: &'static str,
    },

    /// A grid that is not a whole number of clusters.
    #[error(
        "`{kernel}` cannot run as {geometry}: launch a multiple of the cluster's blocks, and at least one cluster"
    )]
    PartialCluster {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
    },

    /// The device or its driver does not support this.
    #[error("{device} cannot do {what}: {needs}")]
    Unsupported {
        /// The requested operation.
        what: &'static str,
        /// Name of the device.
        device: String,
        /// The requirement that is not met.
        needs: &'static str,
    },

    /// The call cannot be part of a graph, and this thread is recording one.
    #[error(
        "{doing} cannot be recorded: a graph can contain only launches and zero fills; do this before or after recording"
    )]
    NotRecordable {
        /// The requested operation.
        doing: &'static str,
    },

    /// Another thread is recording a graph on this device.
    #[error(
        "{doing} must wait: another thread is recording a graph on this device; threads that share a device must take turns"
    )]
    RecordingElsewhere {
        /// The requested operation.
        doing: &'static str,
    },

    /// No result to read: nothing was launched, or the last launch failed.
    #[error(
        "there is no {what} to read: nothing was launched, or the last launch failed; launch it first"
    )]
    NoResult {
        /// The requested result.
        what: &'static str,
    },

    /// A longer array needs new memory, but a graph has recorded launches that use the old memory.
    #[error(
        "{what} cannot grow to {needed} elements: a graph has recorded launches that use its memory for {room} elements, and growing would replace it; create it for the longest array before recording"
    )]
    InGraph {
        /// The owner of the memory.
        what: &'static str,
        /// Number of elements needed.
        needed: usize,
        /// Number of elements that fit.
        room: usize,
    },

    /// A launch exceeds a limit of the device or the kernel.
    #[error(
        "`{kernel}` cannot be launched with {geometry}: {asked} {what} exceed the limit of {limit} by {}; {remedy}",
        .asked - .limit
    )]
    OverLimit {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// The resource.
        what: &'static str,
        /// The requested amount.
        asked: u64,
        /// The limit.
        limit: u64,
        /// The fix.
        remedy: &'static str,
    },

    /// The driver refused a launch for another reason.
    #[error("launching `{kernel}` with {geometry}: {result}, {}", meaning(.result))]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// The driver's result.
        result: CUresult,
    },

    /// A failure on one of several GPUs that work together.
    #[error("GPU {gpu} ({name}): {error}")]
    OnGpu {
        /// Its index among them.
        gpu: usize,
        /// Name of the GPU.
        name: String,
        /// The failure. The message includes it, so it is not a `source`.
        error: Box<DeviceError>,
    },

    /// Two GPUs cannot access each other's memory.
    #[error(
        "CUDA devices {from} and {to} cannot reach each other's memory: they need NVLink or a shared PCIe root; use those that can (nvidia-smi topo -p2p r), or a process for each"
    )]
    NoPeerAccess {
        /// The device that would read and write.
        from: u32,
        /// The device that owns the memory.
        to: u32,
    },

    /// The driver makes each launch wait for its kernel, but the kernel waits for one on another
    /// GPU.
    #[error(
        "CUDA_LAUNCH_BLOCKING={value} makes each launch wait until its kernel ends, so kernels on {gpus} GPUs that wait for each other would hang: start the program without CUDA_LAUNCH_BLOCKING"
    )]
    LaunchBlocking {
        /// The value of the variable.
        value: String,
        /// Number of GPUs.
        gpus: usize,
    },

    /// An array that is distributed over other GPUs.
    #[error(
        "an array spread over {parts} GPUs was passed to an operation on {gpus}: spread it over the same Devices"
    )]
    SpreadElsewhere {
        /// Number of GPUs that hold the array.
        parts: usize,
        /// Number of GPUs of the operation.
        gpus: usize,
    },

    /// No GPU, or more than can work together.
    #[error("{asked} GPUs cannot work together: name 1 to {limit}")]
    GpuCount {
        /// Number of GPUs named.
        asked: usize,
        /// The most that can work together.
        limit: usize,
    },

    /// The device works with others, and one of them has failed.
    #[error(
        "{name} cannot be used any more: another GPU has failed, and kernels here may wait for it forever. Restart the program"
    )]
    GivenUp {
        /// Name of the device.
        name: String,
    },

    /// A kernel faulted, and the context is lost.
    #[error("{during}: {result}, {}. The CUDA context is lost: every later call on this device fails. Restart the program; compute-sanitizer or the emulator can find the fault", meaning(.result))]
    Lost {
        /// The operation during which the fault was reported; earlier work may have caused it.
        during: String,
        /// The driver's result.
        result: CUresult,
    },

    /// The emulator stopped a grid.
    #[error("the emulator stopped the grid: {0}")]
    Fault(Box<simt::Fault>),

    /// The emulator stopped a grid earlier, and has been lost since.
    #[error(
        "{doing} failed: the emulator stopped a grid halfway, so its memory is no longer valid; make a new Emulator. The fault was: {fault}"
    )]
    Stopped {
        /// The requested operation.
        doing: &'static str,
        /// Why the grid was stopped.
        fault: Box<simt::Fault>,
    },

    /// The emulator refused a copy between host and device.
    #[error("emulated device memory: {0}")]
    EmulatedMemory(Box<simt::MemoryError>),

    /// Any other error of the driver.
    #[error("{during}: {result}, {}", meaning(.result))]
    Driver {
        /// The operation that failed.
        during: String,
        /// The driver's result.
        result: CUresult,
    },
}

impl DeviceError {
    /// Attributes the error to one of several GPUs, unless it already names one.
    pub(crate) fn on_gpu(self, gpu: usize, device: &Device) -> Self {
        self.on_gpu_named(gpu, &device.properties().name)
    }

    /// Like [`on_gpu`](Self::on_gpu), with the name of the GPU.
    pub(super) fn on_gpu_named(self, gpu: usize, name: &str) -> Self {
        if let Self::OnGpu { .. } = self {
            return self;
        }
        Self::OnGpu { gpu, name: name.into(), error: Box::new(self) }
    }

    /// Whether a call was refused only because a graph is being recorded.
    pub(super) fn is_about_recording(&self) -> bool {
        match self {
            Self::NotRecordable { .. } | Self::RecordingElsewhere { .. } => true,
            Self::OnGpu { error, .. } => error.is_about_recording(),
            _ => false,
        }
    }

    /// `Ok` for success; otherwise the [error](Self::of_driver), with the operation that failed.
    #[cfg(feature = "cuda")]
    pub(super) fn check(
        result: CUresult,
        during: impl FnOnce() -> String,
    ) -> Result<(), DeviceError> {
        result.ok().map_err(|result| Self::of_driver(result, during()))
    }

    /// [`Lost`](Self::Lost) or [`Driver`](Self::Driver), with the operation that failed.
    #[cfg(feature = "cuda")]
    pub(super) fn of_driver(result: CUresult, during: String) -> Self {
        if result.is_sticky() {
            Self::Lost { during, result }
        } else {
            Self::Driver { during, result }
        }
    }
}
