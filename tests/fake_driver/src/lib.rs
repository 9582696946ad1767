//! A CUDA driver of one or more devices, for tests without a GPU.
//!
//! It has the calls of the driver API that gridsync and cust make. Its memory is the emulator's,
//! and the kernels of `kernels.rs` run in the emulator, immediately. Other kernels act by their
//! names: `…store` writes its second argument where its first points, `…fault` breaks its stream,
//! `…too_large` never fits cooperatively, and all others do nothing. A capturing stream keeps its
//! launches. As in a real driver, a call that cannot be captured breaks the capture.
//!
//! There is one device, or as many as `GRIDSYNC_FAKE_DEVICES` or a test says. Each has a context,
//! and memory of its own. What was made while a context was current belongs to its device. To use
//! it while another one is current is an error, which is also counted as something that is never
//! given back. Only `…store` reaches the memory of other devices, where access has been enabled.
//! Grids run one after the other, so kernels must not wait for each other. For those that would
//! wait for ever, a test makes all launches on a device endless, and may end them later. It may also make
//! the calls that launch on a device slow, and let copies run only after the calls that start them.
//!
//! `GRIDSYNC_FAKE_PCI_BUS` is the number of the first device's PCI bus. If `GRIDSYNC_FAKE_LOG` names
//! a file, calls are logged there. Tests can make any call that may fail do so, once or from then on
//! ([`control`]). The driver counts what has not been given back.
#![allow(non_snake_case)]

pub mod api;
pub mod control;
mod device;
mod kernels;
mod launch;
mod log;
pub mod params;
