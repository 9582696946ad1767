//! The device library of gridsync: barriers, reductions, scans and selections over a whole grid, to call
//! from your own kernels.
//!
//! The folders are the thread hierarchy: [`warp`], [`block`], [`grid`]. [`op`] says what can be reduced.
//! There is no kernel in this crate, so that your image holds what you call and nothing else.
//!
//! The crate knows `cuda_std` and nothing else. Compiled for nvptx64 it is PTX; compiled for the host it
//! runs in the emulator.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]

pub mod block;
pub mod grid;
pub mod op;
pub mod warp;
