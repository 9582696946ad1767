//! Kernels of PTX images, which the emulator runs in place of their source.

use super::config::HOPPER;
use super::lock;
use crate::device::{DeviceError, KernelInfo};
use ptx_image::{Modules, PtxImage};
use ptx_run::{Kernel, Program};
use simt::Memory;
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// The kernels of PTX images as an emulator runs them: the instructions that a GPU gets, one by
/// one, in place of the kernels' source.
///
/// Set [`EmulatorConfig::ptx`](super::EmulatorConfig::ptx) to such kernels. Each is parsed at its
/// first launch, once for all emulators.
///
/// ```
/// use gridsync::device::{Device, Emulator, EmulatorConfig, KERNELS, PtxKernels};
/// use gridsync::primitives::reduce;
/// use gridsync_kernels::op::Sum;
///
/// let ptx: &'static PtxKernels = Box::leak(Box::new(PtxKernels::new(&KERNELS, 75)?));
/// let config = EmulatorConfig { ptx: Some(ptx), ..EmulatorConfig::default() };
/// let device = Device::new(Emulator::new(config));
/// assert_eq!(reduce(Sum::<u32, u64>::new(), &device.upload(&[1, 2, 3])?)?, 6);
/// assert_eq!(ptx.loaded(), ["reduce_sum_u32_in_u64"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PtxKernels {
    modules: Modules<'static>,
    compute: u32,
    programs: Mutex<HashMap<&'static str, Arc<Program>>>,
}

static BY_DEFAULT: OnceLock<&PtxKernels> = OnceLock::new();

impl PtxKernels {
    /// The kernels that a device of compute capability `compute` runs: each from the newest of
    /// `images` that has it and that is not newer than `compute`.
    ///
    /// # Errors
    /// [`DeviceError::NoImage`], and [`DeviceError::Image`] if an image is damaged.
    pub fn new(images: &[PtxImage<'static>], compute: u32) -> Result<Self, DeviceError> {
        let modules = Modules::of(images, compute)?;
        if modules.newest().is_none() {
            let offered = images.iter().map(PtxImage::compute).collect::<Result<_, _>>()?;
            return Err(DeviceError::NoImage { compute, offered });
        }
        Ok(Self { modules, compute, programs: Mutex::default() })
    }

    /// The compute capability that the kernels are chosen for, 10·major + minor.
    #[must_use]
    pub const fn compute(&self) -> u32 {
        self.compute
    }

    /// The names of all kernels, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.kernels()
    }

    /// The names of the kernels that emulators have loaded so far, to launch them, in alphabetical
    /// order.
    #[must_use]
    pub fn loaded(&self) -> Vec<&'static str> {
        lock(&self.programs).keys().copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Makes these the kernels of every [`EmulatorConfig::default`](super::EmulatorConfig) of this
    /// process that is made later. So tests that were written for the source run the PTX.
    ///
    /// # Panics
    /// If the process has such kernels already.
    pub fn run_by_default(&'static self) {
        assert!(BY_DEFAULT.set(self).is_ok(), "a process sets its default kernels once");
    }

    /// The kernels of a default configuration.
    pub(super) fn by_default() -> Option<&'static Self> {
        BY_DEFAULT.get().copied()
    }

    /// Whether the kernel of this name may start while the one before it runs: the kernels for
    /// compute capability 9.0 wait for its end.
    pub(super) fn waits(&self, name: &str) -> bool {
        self.modules.built_for(name) >= Some(HOPPER)
    }

    /// The kernel of this name, parsed and resolved.
    fn program(&self, name: &'static str) -> Result<Arc<Program>, DeviceError> {
        if let Some(program) = lock(&self.programs).get(name) {
            return Ok(program.clone());
        }
        let module = self.modules.module(name)?;
        let module = module.ok_or(DeviceError::UnknownKernel { name, image: self.compute })?;
        let module = ptx::parse(&module.text).map_err(|error| cannot_run(name, error))?;
        let program = Program::new(&module, name).map_err(|error| cannot_run(name, error))?;
        let program = Arc::new(program);
        Ok(lock(&self.programs).entry(name).or_insert(program).clone())
    }

    /// Loads the kernel of this name into the memory of a machine.
    pub(super) fn load(
        &self,
        name: &'static str,
        memory: &mut Memory,
    ) -> Result<Arc<Kernel>, DeviceError> {
        let kernel = Kernel::load(self.program(name)?, memory);
        kernel.map(Arc::new).map_err(|error| cannot_run(name, error))
    }
}

impl fmt::Debug for PtxKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PtxKernels(compute_{}, {} kernels)", self.compute, self.names().count())
    }
}

/// The bytes of the parameters of a kernel.
///
/// # Safety
/// `args` are live arguments of `kernel`, in number, type and order.
pub(super) unsafe fn parameters(
    kernel: &KernelInfo,
    loaded: &Kernel,
    args: &[*const c_void],
) -> Result<Vec<u8>, DeviceError> {
    let places = loaded.parameters();
    let in_ptx: Vec<_> = places.iter().map(|(_, bytes)| *bytes).collect();
    if in_ptx != kernel.args {
        let in_source = kernel.args;
        let why = format!(
            "its parameters have {in_ptx:?} bytes, but those of the source have {in_source:?}: \
             build the image again"
        );
        return Err(DeviceError::NotInterpreted { kernel: kernel.name, why });
    }
    let mut bytes = vec![0; loaded.argument_bytes()];
    for ((at, len), arg) in places.iter().zip(args) {
        // SAFETY: the argument is live and has this many bytes.
        let argument = unsafe { std::slice::from_raw_parts(arg.cast::<u8>(), *len) };
        bytes[*at..at + len].copy_from_slice(argument);
    }
    Ok(bytes)
}

fn cannot_run(kernel: &'static str, why: impl fmt::Display) -> DeviceError {
    DeviceError::NotInterpreted { kernel, why: why.to_string() }
}
