//! The functions of `cuda_std` in the emulator, each checked against its definition.

mod atomic;
mod bulk;
mod cluster;
#[cfg(feature = "device-runtime")]
mod device_runtime;
mod kernel;
mod lines;
mod mbarrier;
mod misuse;
mod proxies;
mod shared;
mod spin;
mod support;
mod thread;
mod view;
mod warp;
