//! Kernels of PTX run as the ISA and its memory model say, and errors in them are named with their
//! lines.

mod async_copies;
mod barriers;
mod bulk;
mod calls;
mod clusters;
mod conversions;
mod damaged;
mod faults;
mod floats;
mod integers;
mod kernels;
mod mbarriers;
mod memory;
mod nvcc;
mod races;
mod runtime;
mod shipped;
mod speed;
mod support;
