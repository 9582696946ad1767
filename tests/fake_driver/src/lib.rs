//! A CUDA driver of one or more devices, for tests without a GPU.
//!
//! It has the driver API calls that gridsync and cust make, and those of cudarc that its tests need. Its memory is the emulator's, and the
//! kernels of `kernels.rs` run in the emulator, immediately. Other kernels act by name: `…store`
//! writes its second argument to the address in its first, `…fault` breaks its stream, `…too_large`
//! never fits cooperatively, and all others do nothing. A capturing stream keeps its launches. As
//! in a real driver, a call that cannot be captured breaks the capture.
//!
//! It has one device, or as many as `GRIDSYNC_FAKE_DEVICES` or a test sets. Each has its own
//! context and memory. Objects belong to the device whose context was current when they were
//! created. Using one while another context is current is an error, which also counts as an object
//! that is never released. Only `…store` can access the memory of other devices, where access has
//! been enabled. Grids run one at a time, so kernels must not wait for each other. For kernels that
//! would wait forever, a test makes all launches on a device endless, and may end them later. It
//! can also slow down the calls that launch on a device, and delay copies until after the calls
//! that start them.
//!
//! `GRIDSYNC_FAKE_PCI_BUS` is the number of the first device's PCI bus. If `GRIDSYNC_FAKE_LOG`
//! names a file, calls are logged there. Tests can make any call that may fail do so, once or
//! permanently ([`control`]). The driver counts everything that has not been released.
#![allow(non_snake_case)]

pub mod api;
pub mod control;
mod device;
mod kernels;
mod launch;
mod log;
pub mod params;
