//! Memory access in kernels: views of global and shared memory.
//!
//! Kernels access memory only through [`Global`], [`Shared`] and [`ClusterShared`]. On the device a
//! view is an address and a length, and each access is one instruction. In the emulator the same
//! access is checked: it must be inside one allocation, be aligned, and read only memory that was
//! written before. All accesses must use views, or the emulator does not see them.

mod atomic;
mod scalar;
mod shared;
mod space;
mod view;

pub use atomic::{Atomic, AtomicInt};
pub use core::sync::atomic::Ordering;
pub use scalar::{Pack, Scalar};
pub use shared::{dynamic_shared, static_shared};
pub use space::{ClusterSpace, GlobalSpace, SharedSpace, Space, SpaceKind};
pub use view::{ClusterShared, Global, Shared};

/// How far an ordering or a fence reaches (PTX ISA, "Scope").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The threads of the block (`.cta`).
    Block,
    /// The threads of the device (`.gpu`).
    Device,
    /// All devices and the host (`.sys`).
    System,
}

/// Cache hint of a load or store (PTX ISA, "Cache Operators" and "Cache Eviction Priority Hints").
/// Hints affect only speed. They do not change the result of a program without data races, except
/// [`ReadOnly`](CacheHint::ReadOnly) as described there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheHint {
    /// Cached at all levels.
    Default,
    /// Cached in the L2 only (`.cg`).
    L2Only,
    /// Used once, so it does not displace other lines of the L1 (`L1::no_allocate`).
    Streaming,
    /// Like `Streaming`, but through the non-coherent path (`.nc`): nothing may write this memory
    /// while the kernel runs. Stores with this hint behave as `Streaming`. The emulator ends the
    /// launch if a read with this hint reads memory that the launch has written.
    ReadOnly,
}
