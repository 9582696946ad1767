//! Kernels of PTX run as the ISA and its memory model say, and errors in them are named with their
//! lines.

mod calls;
#[path = "../nvcc/mod.rs"]
mod compiler;
mod conversions;
mod damaged;
mod excuses;
mod faults;
mod floats;
mod integers;
mod kernels;
mod memory;
mod nvcc;
mod races;
mod shipped;
mod speed;
mod support;
