//! Errors of the device runtime, as values.

use core::fmt;

/// An error of the device runtime: a number of CUDA's `cudaError_t`, never 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(
    /// The number.
    pub u32,
);

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        impl Error {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// The name of the constant, if there is one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}
errors! {
    /// An invalid parameter.
    INVALID_VALUE = 1;
    /// Not enough memory, such as for the arguments of a launch.
    MEMORY_ALLOCATION = 2;
    /// Zero blocks or threads, or more than a grid may have.
    INVALID_CONFIGURATION = 9;
    /// More than 24 launches deep.
    LAUNCH_MAX_DEPTH_EXCEEDED = 65;
    /// Too many pending grids. Launch fewer, or raise `cudaLimitDevRuntimePendingLaunchCount` on
    /// the host.
    LAUNCH_PENDING_COUNT_EXCEEDED = 69;
    /// Not a kernel of this module.
    INVALID_DEVICE_FUNCTION = 98;
    /// A device other than the kernel's own.
    INVALID_DEVICE = 101;
    /// A stream or event that does not exist, or belongs to another block.
    INVALID_RESOURCE_HANDLE = 400;
    /// The block needs more registers or shared memory than available.
    LAUNCH_OUT_OF_RESOURCES = 701;
    /// Not allowed in a kernel.
    NOT_PERMITTED = 800;
    /// Not supported by this device or runtime.
    NOT_SUPPORTED = 801;
    /// Any other error.
    UNKNOWN = 999;
}

impl Error {
    /// Converts a status number of the runtime; 0 is success.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn check(number: u32) -> Result<(), Self> {
        if number == 0 { Ok(()) } else { Err(Self(number)) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "CUDA error {}", self.0),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}
