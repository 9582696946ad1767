//! Operations as PTX.
//!
//! Operations between threads (barriers, shuffles, votes) use LLVM's intrinsics, which are marked
//! convergent. `asm!` is not, so the compiler could duplicate the instruction or move it into a
//! branch. Memory instructions use `asm!`: they are not convergent, and the intrinsics lack most
//! orderings and scopes. rustc's own atomics do not work either: up to LLVM 22, they lose the
//! ordering of read-modify-write operations on nvptx64.

pub(crate) mod access;
#[cfg(compute_ge_90)]
pub(crate) mod bulk;
#[cfg(compute_ge_90)]
pub(crate) mod cluster;
#[cfg(compute_ge_90)]
pub(crate) mod dependent;
#[cfg(feature = "device-runtime")]
pub(crate) mod device_runtime;
pub(crate) mod fence;
#[cfg(compute_ge_90)]
pub(crate) mod mbarrier;
pub(crate) mod rmw;
pub(crate) mod shared;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod warp;
