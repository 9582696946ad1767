//! Kernels of PTX run as the ISA and its memory model say, and errors in them are named with their
//! lines.

mod approximate;
mod async_copies;
mod barriers;
mod bits;
mod bulk;
mod calls;
mod clusters;
#[path = "../nvcc/mod.rs"]
mod compiler;
mod compilers;
mod conversions;
mod damaged;
mod excuses;
mod faults;
mod floats;
mod halves;
mod integers;
mod kernels;
mod lanes;
mod mbarriers;
mod memory;
mod nvcc;
mod races;
mod roundings;
mod runtime;
mod shipped;
mod speed;
mod support;
