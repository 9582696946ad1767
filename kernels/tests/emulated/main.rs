//! What the emulator reports about kernels that use the device library: the lines that it names,
//! and what it finds missing. And scans of a block, the locks, and launches that share words, under many schedules.

mod forgotten;
mod launches;
mod lines;
mod locks;
mod ring;
mod scans;
mod support;
mod tasks;
