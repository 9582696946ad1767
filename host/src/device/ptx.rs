//! Kernels of any compiler, as PTX, in the emulator.
//!
//! A [`Module`] is the PTX that nvcc, LLVM, Triton or numba has written. Its kernels run on an
//! emulated [`Device`], instruction by instruction, with checked memory, data races, weak memory
//! and any schedule. So a [`Check`](crate::check::Check) finds the errors of kernels that were not
//! written in Rust, without a GPU. Messages name the lines of the source if the PTX has them (nvcc
//! with `-lineinfo` or `-G`), and otherwise the lines of the PTX.
//!
//! ```
//! use gridsync::check::Check;
//! use gridsync::device::Geometry;
//! use gridsync::ptx::Module;
//!
//! // Each thread adds 1 to a word, with a load and a store in place of an atomic.
//! let text = "
//! .version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry count(.param .u64 words)
//! {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<2>;
//!     ld.param.u64 %rd1, [words];
//!     ld.global.u32 %r1, [%rd1];
//!     add.u32 %r2, %r1, 1;
//!     st.global.u32 [%rd1], %r2;
//!     ret;
//! }";
//! let count = Module::parse("count.ptx", text)?.kernel("count")?;
//! let failure = Check::default().run(|device| {
//!     let words = device.zeroed::<u32>(1)?;
//!     count.launch(device, &Geometry::new(2, 32), &[(&words).into()])?;
//!     Ok(())
//! });
//! let failure = failure.expect_err("the threads race").to_string();
//! assert!(failure.contains("count.ptx:10"), "{failure}");
//! # Ok::<(), gridsync::ptx::PtxError>(())
//! ```

use crate::device::{Buffer, Device, DeviceError, Devices, Geometry};
use bytemuck::Pod;
pub use ptx_run::Excuse;
use ptx_run::Program;
use simt::Race;
use std::fmt;
use std::sync::Arc;

/// Why a module or a kernel of it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PtxError {
    /// The text is not a module.
    #[error("{file}, {cause}")]
    Parse {
        /// The file.
        file: String,
        /// The line, and what was expected there.
        cause: ptx::ParseError,
    },
    /// The module has no such kernel, or is for another address size.
    #[error("{file}: {cause}")]
    Kernel {
        /// The file.
        file: String,
        /// The error.
        cause: ptx_run::Error,
    },
}

/// A PTX module of any compiler.
#[derive(Debug)]
pub struct Module {
    file: Arc<str>,
    /// The names of its variables, which are never freed.
    variables: Arc<[&'static str]>,
    parsed: Arc<ptx::Module>,
}

impl Module {
    /// Parses a module. `file` is its name in messages.
    ///
    /// # Errors
    /// [`PtxError::Parse`]. An instruction that the emulator does not know is an error only when a
    /// thread reaches it.
    pub fn parse(file: &str, text: &str) -> Result<Self, PtxError> {
        match ptx::parse(text) {
            Ok(parsed) => {
                let variables = parsed.variables.iter();
                let variables = variables.map(|it| &*String::from(&*it.name).leak()).collect();
                Ok(Self { file: file.into(), variables, parsed: Arc::new(parsed) })
            }
            Err(cause) => Err(PtxError::Parse { file: file.to_owned(), cause }),
        }
    }

    /// The names of its kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.parsed.kernels().map(|kernel| &*kernel.name)
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`PtxError::Kernel`].
    pub fn kernel(&self, name: &str) -> Result<Kernel, PtxError> {
        let program = Program::in_file(&self.parsed, name, &self.file);
        let program =
            program.map_err(|cause| PtxError::Kernel { file: self.file.to_string(), cause })?;
        let of_name = |function: &&ptx::Function| function.is_kernel && &*function.name == name;
        let parameters =
            self.parsed.functions.iter().find(of_name).map_or(&[][..], |it| &it.parameters);
        let arguments = (0..program.parameters().len()).map(|at| &*format!("argument {at}").leak());
        Ok(Kernel {
            // An emulated launch has names that live as long as the program.
            name: name.to_owned().leak(),
            file: self.file.clone(),
            arguments: arguments.collect(),
            parameters: parameters.iter().map(Parameter::of).collect(),
            variables: self.variables.clone(),
            module: self.parsed.clone(),
            program: Arc::new(program),
        })
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its size in bytes.
    pub bytes: usize,
    /// Whether the PTX declares it as a float (`.f32`, `.f64`). LLVM declares floats as bits.
    pub is_float: bool,
}

impl Parameter {
    fn of(parameter: &ptx::Parameter) -> Self {
        let variable = &parameter.variable;
        let bytes = variable.size.unwrap_or(0) as usize;
        Self { bytes, is_float: variable.ty.is_float() }
    }
}

/// A kernel of a [`Module`].
///
/// It keeps its name, which is never freed: make a kernel once, and launch it many times.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) name: &'static str,
    file: Arc<str>,
    /// The names of its arguments in messages.
    arguments: Vec<&'static str>,
    parameters: Vec<Parameter>,
    /// The names of the variables of the module.
    pub(crate) variables: Arc<[&'static str]>,
    /// The module, whose kernels share its variables.
    pub(crate) module: Arc<ptx::Module>,
    pub(crate) program: Arc<Program>,
}

impl Kernel {
    /// Its name in the PTX.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The instructions of the kernel, and of the functions that it can call, that the emulator
    /// does not know. A thread that reaches one ends the launch with an error that names it.
    pub fn unsupported(&self) -> impl Iterator<Item = &str> {
        self.program.unsupported()
    }

    /// Why a race in this kernel can do no harm: its load only begins a loop of compare-and-swap, or
    /// is not used. Compilers make such races. `None` if it may do harm.
    #[must_use]
    pub fn excuse(&self, race: &Race) -> Option<Excuse> {
        Excuse::in_file(&self.module, self.name, &self.file, race)
    }

    /// Runs the kernel on an emulated device. The variables of its module keep their values from
    /// launch to launch on the same device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] on a GPU, [`DeviceError::NotInterpreted`] if the arguments do
    /// not fit the parameters, and otherwise as for [`Device::launch`].
    pub fn launch(
        &self,
        device: &Device,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        emulator_of(device)?.launch_ptx(self, geometry, arguments)
    }

    /// Runs the kernel on all GPUs of an emulated machine. Their grids run at the same time.
    /// `arguments` has the arguments of each GPU.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Panics
    /// If there are not as many lists of arguments as GPUs.
    pub fn launch_on_all(
        &self,
        devices: &Devices,
        geometry: &Geometry,
        arguments: &[&[Argument]],
    ) -> Result<(), DeviceError> {
        assert_eq!(arguments.len(), devices.len(), "one list of arguments for each GPU");
        emulator_of(&devices[0])?.launch_ptx_on_all(self, geometry, arguments)
    }

    /// The bytes of the parameters.
    pub(crate) fn bytes(&self, arguments: &[Argument]) -> Result<Vec<u8>, DeviceError> {
        let places = self.program.parameters();
        let found: Vec<_> = arguments.iter().map(|argument| argument.bytes.len()).collect();
        let expected: Vec<_> = self.parameters.iter().map(|parameter| parameter.bytes).collect();
        if found != expected {
            let why =
                format!("its parameters have {expected:?} bytes, but the arguments have {found:?}");
            return Err(DeviceError::NotInterpreted { kernel: self.name, why });
        }
        let mut bytes = vec![0; self.program.argument_bytes()];
        for ((at, len), argument) in places.iter().zip(arguments) {
            bytes[*at..at + len].copy_from_slice(&argument.bytes);
        }
        Ok(bytes)
    }

    /// The addresses among the arguments, with their names in messages.
    pub(crate) fn addresses<'a>(
        &'a self,
        arguments: &'a [Argument],
    ) -> impl Iterator<Item = (u64, &'static str)> + 'a {
        let named = arguments.iter().zip(&self.arguments);
        named.filter_map(|(argument, name)| Some((argument.address?, *name)))
    }
}

fn emulator_of(device: &Device) -> Result<&crate::device::Emulator, DeviceError> {
    device.backend().emulator().ok_or_else(|| DeviceError::Unsupported {
        what: "a kernel of a PTX module",
        device: device.properties().name.clone(),
        needs: "it runs in the emulator: use `Device::emulator`",
    })
}

/// An argument of a kernel: a number, the address of a buffer, or the bytes of a structure.
#[derive(Clone, PartialEq, Eq)]
pub struct Argument {
    bytes: Vec<u8>,
    address: Option<u64>,
}

impl Argument {
    /// The bytes of a value.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), address: None }
    }

    /// The address and the length of a buffer, as kernels in Rust take a `Global<T>`. `len` is the
    /// number of elements.
    #[must_use]
    pub fn view<T: Pod>(buffer: &Buffer<T>, len: usize) -> Self {
        let address = buffer.address();
        let words = [address, len as u64];
        Self { bytes: bytemuck::cast_slice(&words).to_vec(), address: Some(address) }
    }

    /// A value that is passed as its bytes, such as a structure in the layout of the kernel.
    #[must_use]
    pub fn of(value: impl Pod) -> Self {
        Self { bytes: bytemuck::bytes_of(&value).to_vec(), address: None }
    }
}

impl<T: Pod> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        let address = buffer.address();
        Self { bytes: address.to_le_bytes().to_vec(), address: Some(address) }
    }
}

impl fmt::Debug for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "Argument({address:#x})"),
            None => write!(f, "Argument({:?})", self.bytes),
        }
    }
}
