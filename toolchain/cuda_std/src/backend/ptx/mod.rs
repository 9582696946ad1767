//! Operations as PTX.
//!
//! Whatever threads do together (barriers, shuffles, votes) goes through LLVM's intrinsics, because
//! those are marked convergent and `asm!` is not: the compiler would be free to duplicate or move
//! the instruction into a branch. Memory instructions are `asm!`: they are not convergent, and the
//! intrinsics lack most orderings and scopes.

pub(crate) mod access;
#[cfg(compute_ge_90)]
pub(crate) mod bulk;
#[cfg(compute_ge_90)]
pub(crate) mod cluster;
#[cfg(compute_ge_90)]
pub(crate) mod dependent;
pub(crate) mod fence;
#[cfg(compute_ge_90)]
pub(crate) mod mbarrier;
pub(crate) mod rmw;
pub(crate) mod shared;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod warp;
