//! What the functions of `cuda_std` mean, seen in the emulator: each against its definition.

mod atomic;
mod bulk;
mod cluster;
mod kernel;
mod lines;
mod mbarrier;
mod misuse;
mod shared;
mod spin;
mod support;
mod thread;
mod view;
mod warp;
