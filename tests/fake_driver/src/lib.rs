//! A CUDA driver of one device, for tests without a GPU.
//!
//! It has the calls of the driver API that gridsync and cust make. Memory is the emulator's, and the
//! kernels of `kernels.rs` run there, at once. Other kernels are known by their names: `…store` writes its
//! second argument where its first points, `…fault` breaks its stream, `…too_large` never fits
//! cooperatively, and all others do nothing. A stream that captures keeps its launches, and takes what
//! cannot be captured as the end of that, as a driver does.
//!
//! What it is asked goes into a log, if `GRIDSYNC_FAKE_LOG` names a file. Any of the calls that may fail
//! can be made to ([`control`]), once or from then on; and it counts what has not been given back.
#![allow(non_snake_case)]

pub mod api;
pub mod control;
mod device;
mod kernels;
mod launch;
mod log;
