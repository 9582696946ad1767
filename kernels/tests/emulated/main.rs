//! Reports of the emulator on kernels that use the device library: the lines and the missing orders
//! that they name. Also ranks, sorts and scans of a block, the locks, and launches that share words, under many
//! schedules.

mod forgotten;
mod launches;
mod lines;
mod locks;
mod ranks;
mod ring;
mod scans;
mod sort;
mod support;
mod tasks;
