//! What the emulator reports about kernels that use the device library: the lines that it names,
//! and what it finds missing. And the locks, under many schedules.

mod forgotten;
mod lines;
mod locks;
mod ring;
mod support;
mod tasks;
