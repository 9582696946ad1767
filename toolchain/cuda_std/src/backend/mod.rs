//! The two ways to carry out an operation: as PTX, or in the emulator.
//!
//! Both have the same functions under the same names. The public function says what an operation
//! means; this module only carries it out.

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub(crate) use ptx::*;

#[cfg(not(target_arch = "nvptx64"))]
mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use emulator::*;
