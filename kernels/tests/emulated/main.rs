//! Reports of the emulator on kernels that use the device library: the lines and the missing orders
//! that they name. Also scans of a block, the locks, and launches that share words, under many
//! schedules.

mod forgotten;
mod launches;
mod lines;
mod locks;
mod ring;
mod scans;
mod sort;
mod support;
mod tasks;
