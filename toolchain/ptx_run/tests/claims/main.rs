//! Kernels of PTX run as the ISA and its memory model say, and errors in them are named with their
//! lines.

mod approximate;
mod bits;
mod calls;
mod compilers;
mod conversions;
mod damaged;
mod faults;
mod floats;
mod halves;
mod integers;
mod kernels;
mod lanes;
mod memory;
mod nvcc;
mod races;
mod roundings;
mod shipped;
mod speed;
mod support;
