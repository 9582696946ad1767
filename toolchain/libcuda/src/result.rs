//! `CUresult`: the numbers that gridsync can encounter, with their names.

use std::fmt;

/// The result of a driver call (`CUresult`).
///
/// A transparent number and not an enum, because a newer driver may return a number that is not in
/// today's tables.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a driver call says here whether it failed"]
pub struct CUresult(pub u32);

impl CUresult {
    /// `Ok` for `CUDA_SUCCESS`, the result itself otherwise.
    ///
    /// # Errors
    /// Every result except `CUDA_SUCCESS`.
    pub fn ok(self) -> Result<(), Self> {
        if self == CUDA_SUCCESS { Ok(()) } else { Err(self) }
    }

    /// Whether this error leaves the context unusable, so that every later call on it fails too.
    /// These are faults of a kernel, after which the driver API requires a new process, and
    /// uncorrectable hardware errors.
    #[must_use]
    pub fn is_sticky(self) -> bool {
        matches!(
            self,
            CUDA_ERROR_ECC_UNCORRECTABLE
                | CUDA_ERROR_NVLINK_UNCORRECTABLE
                | CUDA_ERROR_CONTAINED
                | CUDA_ERROR_ILLEGAL_ADDRESS
                | CUDA_ERROR_LAUNCH_TIMEOUT
                | CUDA_ERROR_ASSERT
                | CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUDA_ERROR_MISALIGNED_ADDRESS
                | CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUDA_ERROR_INVALID_PC
                | CUDA_ERROR_LAUNCH_FAILED
                | CUDA_ERROR_TENSOR_MEMORY_LEAK
        )
    }
}

impl fmt::Display for CUresult {
    /// The name and the number: `CUDA_ERROR_OUT_OF_MEMORY (2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("an unknown CUDA error"), self.0)
    }
}

impl fmt::Debug for CUresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! results {
    ($($name:ident = $number:literal, $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $name: CUresult = CUresult($number);
        )*

        impl CUresult {
            /// The driver API's name for this result, if gridsync can encounter it.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// The meaning of this result, in a sentence, if it has a name.
            #[must_use]
            pub const fn meaning(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($meaning),)*
                    _ => None,
                }
            }
        }
    };
}

results! {
    CUDA_SUCCESS = 0, "The call succeeded.";
    CUDA_ERROR_INVALID_VALUE = 1, "An argument is out of its range.";
    CUDA_ERROR_OUT_OF_MEMORY = 2, "Not enough memory on the device or the host.";
    CUDA_ERROR_NOT_INITIALIZED = 3, "`cuInit` has not run, or it failed.";
    CUDA_ERROR_DEINITIALIZED = 4, "The driver is shutting down.";
    CUDA_ERROR_STUB_LIBRARY = 34, "There is no driver: the library is a stub, or absent.";
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46, "The device is busy, or in exclusive or prohibited compute mode.";
    CUDA_ERROR_NO_DEVICE = 100, "The driver sees no CUDA device.";
    CUDA_ERROR_INVALID_DEVICE = 101, "There is no device with this ordinal, or it cannot do this.";
    CUDA_ERROR_DEVICE_NOT_LICENSED = 102, "The device has no valid Grid licence.";
    CUDA_ERROR_INVALID_IMAGE = 200, "The module image is not one the driver can read.";
    CUDA_ERROR_INVALID_CONTEXT = 201, "No context is current, or it is gone.";
    CUDA_ERROR_MAP_FAILED = 205, "A map or register operation failed.";
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209, "The module has no code for this GPU.";
    CUDA_ERROR_ECC_UNCORRECTABLE = 214, "Device memory had an error that ECC could not correct.";
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215, "The device has no such limit.";
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216, "The context is current on another thread.";
    CUDA_ERROR_INVALID_PTX = 218, "The driver's JIT compiler rejected the PTX.";
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220, "NVLink had an error it could not correct.";
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221, "The driver's PTX JIT library is not installed.";
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222, "The PTX is of a version that this driver is too old to compile.";
    CUDA_ERROR_JIT_COMPILATION_DISABLED = 223, "JIT compilation is disabled (CUDA_DISABLE_PTX_JIT).";
    CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225, "The PTX calls the device runtime's removed cudaDeviceSynchronize.";
    CUDA_ERROR_CONTAINED = 226, "An error was contained to the process that caused it.";
    CUDA_ERROR_INVALID_SOURCE = 300, "The source of a module is invalid.";
    CUDA_ERROR_FILE_NOT_FOUND = 301, "A file was not found.";
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302, "A module refers to a symbol that nothing defines.";
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303, "A shared object did not initialise.";
    CUDA_ERROR_OPERATING_SYSTEM = 304, "An operating-system call failed.";
    CUDA_ERROR_INVALID_HANDLE = 400, "A handle is not valid, or of another context.";
    CUDA_ERROR_ILLEGAL_STATE = 401, "A resource is not in a state that allows this.";
    CUDA_ERROR_NOT_FOUND = 500, "A name was not found: a kernel in its module, or a function in the driver.";
    CUDA_ERROR_NOT_READY = 600, "The work asked about has not finished.";
    CUDA_ERROR_ILLEGAL_ADDRESS = 700, "A kernel read or wrote an address that is not its own.";
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701, "The launch needs more registers or threads than a block may have.";
    CUDA_ERROR_LAUNCH_TIMEOUT = 702, "The kernel ran longer than the display watchdog allows.";
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704, "The context can reach that memory already.";
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217, "The devices cannot reach each other's memory.";
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709, "The context current on this thread has been destroyed.";
    CUDA_ERROR_ASSERT = 710, "A device-side assertion failed.";
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714, "A kernel's call stack was corrupted or overflowed.";
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715, "A kernel ran an illegal instruction.";
    CUDA_ERROR_MISALIGNED_ADDRESS = 716, "A kernel read or wrote an address that is not aligned to its access.";
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717, "An instruction got an address of another address space.";
    CUDA_ERROR_INVALID_PC = 718, "A kernel's program counter left its code.";
    CUDA_ERROR_LAUNCH_FAILED = 719, "A kernel trapped, or faulted in a way that has no number of its own.";
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720, "The blocks of a cooperative launch cannot all be resident at once.";
    CUDA_ERROR_TENSOR_MEMORY_LEAK = 721, "A kernel exited without freeing its tensor memory.";
    CUDA_ERROR_NOT_PERMITTED = 800, "The operation is not permitted.";
    CUDA_ERROR_NOT_SUPPORTED = 801, "The device or the driver does not support the operation.";
    CUDA_ERROR_SYSTEM_NOT_READY = 802, "The system is not ready: on NVSwitch machines, the fabric manager is not running.";
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803, "The kernel module and libcuda are of different driver versions.";
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804, "The forward-compatibility driver does not support this device.";
    CUDA_ERROR_MPS_CONNECTION_FAILED = 805, "The MPS server could not be reached.";
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900, "The operation cannot be captured into a graph.";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901, "An earlier error ended the capture.";
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906, "The captured stream would wait for the legacy default stream.";
    CUDA_ERROR_CAPTURED_EVENT = 907, "The event was last recorded in a capture.";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908, "The capture was begun on another thread.";
    CUDA_ERROR_TIMEOUT = 909, "The operation timed out.";
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910, "The executable graph cannot be updated this way.";
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912, "The cluster has more blocks than the device or the kernel allows.";
    CUDA_ERROR_UNKNOWN = 999, "An internal error of the driver.";
}
