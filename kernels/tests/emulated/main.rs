//! What the emulator reports about kernels that use the device library: the lines that it names,
//! and what it finds missing.

mod forgotten;
mod lines;
mod support;
