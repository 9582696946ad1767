//! What can go wrong between the host and a device.

use super::{Device, Geometry, NoCuda};
use libcuda::CUresult;
use std::path::PathBuf;

/// Why a device did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// CUDA cannot be used.
    #[error(transparent)]
    NoCuda(#[from] NoCuda),

    /// There are CUDA devices, but not this one.
    #[error(
        "there is no CUDA device {ordinal}: the driver sees {count}, counted from 0 (CUDA_VISIBLE_DEVICES may hide some)"
    )]
    NoSuchDevice {
        /// The ordinal asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },

    /// There is no kernel image for this device.
    #[error(
        "no kernel image runs on compute capability {compute}: the images are for {offered:?} and newer; build one for compute_{compute} (cargo xtask build-kernels)"
    )]
    NoImage {
        /// The device's compute capability, 10·major + minor.
        compute: u32,
        /// What the images are compiled for.
        offered: Vec<u32>,
    },

    /// A kernel image cannot be read.
    #[error(transparent)]
    Image(#[from] ptx_image::ImageError),

    /// The driver did not accept a kernel's PTX.
    #[error("the driver rejected `{kernel}` of the compute_{image} kernels: {result}, {}{}", meaning(.result), after_a_line(.log))]
    Jit {
        /// The kernel.
        kernel: &'static str,
        /// The compute capability that its image was compiled for.
        image: u32,
        /// The driver's answer.
        result: CUresult,
        /// What the JIT compiler wrote, errors first. It counts the lines of
        /// [`Modules::module`](ptx_image::Modules::module), not of the image.
        log: String,
    },

    /// The kernel launches others, and the library to link it with was not found.
    #[error(
        "`{kernel}` launches kernels, and the library that it has to be linked with, libcudadevrt.a, is not here; install CUDA's cuda-cudart-dev or the Python package nvidia-cuda-runtime, or name the file in {variable} (looked at {})",
        paths(.looked_at)
    )]
    NoDeviceRuntime {
        /// The kernel.
        kernel: &'static str,
        /// The environment variable that can name the library.
        variable: &'static str,
        /// Where it was looked for.
        looked_at: Vec<PathBuf>,
    },

    /// The kernel is in none of the images that the device can run.
    #[error(
        "there is no kernel `{name}` in the compute_{image} kernels; they may be older than this program (cargo xtask build-kernels)"
    )]
    UnknownKernel {
        /// The name asked for.
        name: &'static str,
        /// What the newest of them was compiled for.
        image: u32,
    },

    /// There is not enough free device memory.
    #[error(
        "out of device memory: {requested} bytes requested, {free} of {total} are free; use a smaller input or free buffers first"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: usize,
        /// Bytes free on the device when it failed.
        free: usize,
        /// All bytes of the device.
        total: usize,
    },

    /// A copy between a buffer and a slice of different lengths.
    #[error(
        "a slice of {given} elements does not fill a buffer of {buffer}: the lengths must be the same"
    )]
    LengthMismatch {
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the slice.
        given: usize,
    },

    /// An array is spread in stripes that part a tile.
    #[error(
        "stripes of {stripe} elements are too short for {what}, whose tiles have {tile}: spread the array by Spread::alloc, or in longer stripes"
    )]
    ShortStripes {
        /// What was to take the array.
        what: &'static str,
        /// Elements of a stripe.
        stripe: usize,
        /// Elements of a tile.
        tile: usize,
    },

    /// A matrix of another size than was planned for.
    #[error(
        "{given} elements are no matrix of {rows} rows of {columns}: plan for the size that the data has"
    )]
    ShapeMismatch {
        /// Rows planned for.
        rows: usize,
        /// Elements of a row planned for.
        columns: usize,
        /// Elements given.
        given: usize,
    },

    /// A buffer of one device was given to work on another.
    #[error(
        "a buffer on {other} was given to work on {own}: open each device once, make further streams of it by Device::new_stream, or copy the data"
    )]
    OtherDevice {
        /// The device that was to work.
        own: String,
        /// The device of the buffer.
        other: String,
    },

    /// A stream or memory is of another CUDA context than the device.
    #[error(
        "{what} is of another CUDA context than {device} works in: make it while the context of the device is current"
    )]
    OtherContext {
        /// What does.
        what: &'static str,
        /// The device that was to work with it.
        device: String,
    },

    /// There is no allocation that has all of this memory.
    #[error(
        "{bytes} bytes from {address:#x} on do not lie in one live allocation of {device}: give the address and the length of memory that has been allocated there and not freed"
    )]
    NoMemory {
        /// The address.
        address: u64,
        /// Bytes from there on.
        bytes: usize,
        /// The device.
        device: String,
    },

    /// Memory begins at an address that kernels cannot take.
    #[error(
        "memory at {address:#x} cannot be a buffer, which begins at a multiple of {alignment} bytes: take the whole allocation, and name a part of it in the call"
    )]
    Misaligned {
        /// The address.
        address: u64,
        /// What it has to be a multiple of.
        alignment: u64,
    },

    /// A block asks for more shared memory than the device gives one.
    #[error(
        "`{kernel}` needs {static_shared} B of static and {dynamic_shared} B of dynamic shared memory a block; the device has {limit} B: use smaller blocks or tiles"
    )]
    SharedTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// Its static shared memory, bytes.
        static_shared: u32,
        /// The dynamic shared memory asked for, bytes.
        dynamic_shared: u32,
        /// What a block may have, bytes.
        limit: u32,
    },

    /// The blocks of a cooperative launch cannot all be resident.
    #[error(
        "`{kernel}` needs all its blocks resident at once, and {geometry} are too many: {device} holds {resident} such blocks ({multiprocessors} multiprocessors); launch at most {resident} blocks, or smaller ones"
    )]
    GridTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// Blocks of this size that the device can hold.
        resident: u64,
        /// The device's name.
        device: String,
        /// Its streaming multiprocessors.
        multiprocessors: u32,
    },

    /// A block of no threads, or of more than the kernel can have.
    #[error(
        "`{kernel}` cannot run in blocks of {threads} threads: a block of it has 1 to {limit} here"
    )]
    BadBlock {
        /// The kernel.
        kernel: &'static str,
        /// Threads asked for.
        threads: u32,
        /// The most it can have.
        limit: u32,
    },

    /// A grid of no blocks.
    #[error("`{kernel}` was to be launched with 0 blocks: launch at least 1")]
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

    /// The device, or its driver, cannot do this at all.
    #[error("{device} cannot do {what}: {needs}")]
    Unsupported {
        /// What was asked.
        what: &'static str,
        /// The device's name.
        device: String,
        /// What the device or the driver would need.
        needs: &'static str,
    },

    /// The call cannot be part of a graph, and this thread records one.
    #[error(
        "{doing} cannot be recorded: a graph is made of launches and of fillings with zero; do it before recording or after"
    )]
    NotRecordable {
        /// What was asked.
        doing: &'static str,
    },

    /// Another thread records a graph on this device.
    #[error(
        "{doing} has to wait: another thread is recording a graph on this device; let threads that share a device take turns"
    )]
    RecordingElsewhere {
        /// What was asked.
        doing: &'static str,
    },

    /// There is no result: nothing was launched, or the last launch failed.
    #[error(
        "there is no {what} to read: nothing was launched, or the last launch failed; launch it first"
    )]
    NoResult {
        /// What was asked for.
        what: &'static str,
    },

    /// A longer array needs new memory, but a graph has recorded launches that use the old memory.
    #[error(
        "{what} for {needed} places is refused: a graph has recorded launches that use its memory of {room} places, and replacing that would leave the graph without; make it for the longest array before recording"
    )]
    InGraph {
        /// Whose memory it is.
        what: &'static str,
        /// Places that the array needs.
        needed: usize,
        /// Places that there are.
        room: usize,
    },

    /// A launch asks for more than the device gives, or the kernel allows.
    #[error(
        "`{kernel}` cannot be launched with {geometry}: {asked} {what} are {} more than the {limit} that there may be; {remedy}",
        .asked - .limit
    )]
    OverLimit {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// What there is too much of.
        what: &'static str,
        /// How much the launch asks for.
        asked: u64,
        /// How much there may be.
        limit: u64,
        /// What to do.
        remedy: &'static str,
    },

    /// The driver refused a launch for another reason.
    #[error("launching `{kernel}` with {geometry}: {result}, {}", meaning(.result))]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// The launch.
        geometry: Geometry,
        /// The driver's answer.
        result: CUresult,
    },

    /// Something failed on one of several GPUs that work together.
    #[error("GPU {gpu} ({name}): {error}")]
    OnGpu {
        /// Its place among them.
        gpu: usize,
        /// Its name.
        name: String,
        /// What failed. The message has it, so it is no source.
        error: Box<DeviceError>,
    },

    /// Two GPUs cannot reach each other's memory.
    #[error(
        "CUDA devices {from} and {to} cannot reach each other's memory: they need NVLink or a shared PCIe root; use those that can (nvidia-smi topo -p2p r), or one process for each (--ranks)"
    )]
    NoPeerAccess {
        /// The device that would read and write.
        from: u32,
        /// The device whose memory it would be.
        to: u32,
    },

    /// The driver lets each launch wait for its kernel, and the kernel waits for one on another GPU.
    #[error(
        "CUDA_LAUNCH_BLOCKING={value} lets each launch wait until its kernel has ended, and kernels on {gpus} GPUs that wait for each other would never end: start the program without CUDA_LAUNCH_BLOCKING"
    )]
    LaunchBlocking {
        /// The value of the variable.
        value: String,
        /// How many GPUs there are.
        gpus: usize,
    },

    /// An array that is spread over other GPUs.
    #[error(
        "an array that is spread over {parts} GPUs was given to work on {gpus}: spread it over the same Devices"
    )]
    SpreadElsewhere {
        /// Over how many GPUs it is spread.
        parts: usize,
        /// How many were to work.
        gpus: usize,
    },

    /// No GPU, or more than can work together.
    #[error("{asked} GPUs cannot work together: name 1 to {limit}")]
    GpuCount {
        /// How many were named.
        asked: usize,
        /// The most that can work together.
        limit: usize,
    },

    /// The device works with others, and one of them has failed.
    #[error(
        "{name} is given up: another GPU has failed, and what runs here may wait for it for ever. Start the program again"
    )]
    GivenUp {
        /// The device's name.
        name: String,
    },

    /// A kernel faulted, and the context is lost.
    #[error("{during}: {result}, {}. The CUDA context is lost: every later call on this device fails. Start the program again; compute-sanitizer or the emulator shows where the fault is", meaning(.result))]
    Lost {
        /// What was being done when the fault was reported; earlier work may have caused it.
        during: String,
        /// The driver's answer.
        result: CUresult,
    },

    /// The emulator stopped a grid.
    #[error("the emulator stopped the grid: {0}")]
    Fault(Box<simt::Fault>),

    /// The emulator has stopped a grid before, and has been lost since.
    #[error(
        "{doing} is refused: the emulator is lost since it stopped a grid halfway, and its memory means nothing; make another Emulator. The fault was: {fault}"
    )]
    Stopped {
        /// What was asked.
        doing: &'static str,
        /// Why the grid was stopped.
        fault: Box<simt::Fault>,
    },

    /// The emulator refused a copy between host and device.
    #[error("emulated device memory: {0}")]
    EmulatedMemory(Box<simt::MemoryError>),

    /// Any other answer of the driver.
    #[error("{during}: {result}, {}", meaning(.result))]
    Driver {
        /// What was being done.
        during: String,
        /// The driver's answer.
        result: CUresult,
    },
}

/// What the driver API says about a result, for the end of a message.
fn meaning(result: &CUresult) -> &'static str {
    result
        .meaning()
        .map_or("which this program does not know", |meaning| meaning.trim_end_matches('.'))
}

/// The paths, one after the other.
fn paths(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    shown.join(", ")
}

/// A log as the end of a message, if anything was logged.
fn after_a_line(log: &str) -> String {
    match log.trim_end() {
        "" => String::new(),
        log => format!("\n{log}"),
    }
}

impl DeviceError {
    /// The error as that of one of several GPUs, unless it names one already.
    pub(crate) fn on_gpu(self, gpu: usize, device: &Device) -> Self {
        self.on_gpu_named(gpu, &device.properties().name)
    }

    /// As [`on_gpu`](Self::on_gpu), with the name of the GPU.
    pub(super) fn on_gpu_named(self, gpu: usize, name: &str) -> Self {
        if let Self::OnGpu { .. } = self {
            return self;
        }
        Self::OnGpu { gpu, name: name.into(), error: Box::new(self) }
    }

    /// Whether a call was only refused because somebody records a graph.
    pub(super) fn is_about_recording(&self) -> bool {
        match self {
            Self::NotRecordable { .. } | Self::RecordingElsewhere { .. } => true,
            Self::OnGpu { error, .. } => error.is_about_recording(),
            _ => false,
        }
    }

    /// `Ok` for success; otherwise the [error](Self::of_driver), with what was being done.
    #[cfg(feature = "cuda")]
    pub(super) fn check(
        result: CUresult,
        during: impl FnOnce() -> String,
    ) -> Result<(), DeviceError> {
        result.ok().map_err(|result| Self::of_driver(result, during()))
    }

    /// [`Lost`](Self::Lost) or [`Driver`](Self::Driver), with what was being done.
    #[cfg(feature = "cuda")]
    pub(super) fn of_driver(result: CUresult, during: String) -> Self {
        if result.is_sticky() {
            Self::Lost { during, result }
        } else {
            Self::Driver { during, result }
        }
    }
}
