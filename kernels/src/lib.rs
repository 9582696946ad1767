//! The device library of gridsync: barriers, reductions, scans and selections over a whole grid, to
//! call from your own kernels.
//!
//! The folders follow the thread hierarchy: [`warp`], [`block`], [`grid`]. [`op`] has the
//! operations. This crate has no kernels, so your image holds only what you call.
//!
//! The crate depends only on `cuda_std`. Compiled for nvptx64 it is PTX; compiled for the host it
//! runs in the emulator.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]

pub mod block;
pub mod grid;
pub mod op;
pub mod warp;
