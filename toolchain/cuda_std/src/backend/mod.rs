//! Two implementations of every operation: PTX, and the emulator.
//!
//! Both have the same functions under the same names. The public function documents the operation;
//! this module only implements it.

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub(crate) use ptx::*;

#[cfg(not(target_arch = "nvptx64"))]
mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use emulator::*;
