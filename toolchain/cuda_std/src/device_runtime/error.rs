//! Errors of the device runtime, as values.

use core::fmt;

/// Why the device runtime did not do what it was asked: a number of CUDA's `cudaError_t`, never 0.
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
    /// A parameter that is not allowed.
    INVALID_VALUE = 1;
    /// There is no memory for this, such as for the arguments of a launch.
    MEMORY_ALLOCATION = 2;
    /// No blocks or threads, or more of them than a grid may have.
    INVALID_CONFIGURATION = 9;
    /// More than 24 launches deep.
    LAUNCH_MAX_DEPTH_EXCEEDED = 65;
    /// More grids wait to begin than there is room for. Launch fewer, or let the host raise
    /// `cudaLimitDevRuntimePendingLaunchCount`.
    LAUNCH_PENDING_COUNT_EXCEEDED = 69;
    /// What is to be launched is no kernel of this module.
    INVALID_DEVICE_FUNCTION = 98;
    /// A device other than the kernel's own.
    INVALID_DEVICE = 101;
    /// A stream or event that does not exist, or is of another block.
    INVALID_RESOURCE_HANDLE = 400;
    /// A block that needs more registers or shared memory than there are.
    LAUNCH_OUT_OF_RESOURCES = 701;
    /// What a kernel must not do.
    NOT_PERMITTED = 800;
    /// What this device or runtime cannot do.
    NOT_SUPPORTED = 801;
    /// Any other error.
    UNKNOWN = 999;
}

impl Error {
    /// The result that a number of the runtime means; 0 is success.
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
