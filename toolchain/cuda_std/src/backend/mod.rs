//! The two ways to carry out an operation: as PTX, or in the emulator.
//!
//! Both have the same functions under the same names. What each operation means is documented where
//! it is public; here stands only how it is done.

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub(crate) use ptx::*;

#[cfg(not(target_arch = "nvptx64"))]
mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use emulator::*;
