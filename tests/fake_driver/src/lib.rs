//! A CUDA driver of one device, for tests without a GPU.
//!
//! It has the calls of the driver API that gridsync and cust make. Its memory is the emulator's,
//! and the kernels of `kernels.rs` run in the emulator, immediately. Other kernels act by their
//! names: `…store` writes its second argument where its first points, `…fault` breaks its stream,
//! `…too_large` never fits cooperatively, and all others do nothing. A capturing stream keeps its
//! launches. As in a real driver, a call that cannot be captured breaks the capture.
//!
//! `GRIDSYNC_FAKE_PCI_BUS` is the number of its PCI bus. If `GRIDSYNC_FAKE_LOG` names a file, calls are logged there. Tests can make any call that may
//! fail do so, once or from then on ([`control`]). The driver counts what has not been given back.
#![allow(non_snake_case)]

pub mod api;
pub mod control;
mod device;
mod kernels;
mod launch;
mod log;
pub mod params;
