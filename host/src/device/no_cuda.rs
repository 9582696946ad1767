//! Why CUDA cannot be used.

use libcuda::{CUresult, Unavailable};

/// The oldest CUDA version of a supported driver, 1000·major + 10·minor: 11.4, the version of the
/// declarations in cust 0.3.2.
pub const OLDEST_DRIVER: u32 = 11_040;

/// Why no CUDA device can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCuda {
    /// No driver is installed.
    #[error(transparent)]
    NoLibrary(#[from] Unavailable),
    /// The driver is installed, but finds no device.
    #[error(
        "the CUDA driver sees no device: there is no NVIDIA GPU here, or CUDA_VISIBLE_DEVICES hides it"
    )]
    NoDevice,
    /// The driver is too old.
    #[error("the driver supports CUDA {}.{}, but gridsync needs {}.{} or newer: update the NVIDIA driver", .found / 1000, .found % 1000 / 10, OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10)]
    DriverTooOld {
        /// CUDA version of the driver found, 1000·major + 10·minor.
        found: u32,
    },
    /// The driver does not start.
    #[error("the CUDA driver does not start: {result}, {}; nvidia-smi may show more", .result.meaning().unwrap_or("an unknown error").trim_end_matches('.'))]
    Broken {
        /// The driver's result.
        result: CUresult,
    },
}
