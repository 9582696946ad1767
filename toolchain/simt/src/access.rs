//! What a memory access is, in the words of the PTX memory model.

use core::fmt;

/// Load, store, or read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// `ld`: needs bytes that were written.
    Read,
    /// `st`: marks bytes as written.
    Write,
    /// `atom`, `red`: both.
    Atomic,
}

/// Memory order (PTX ISA, "Memory Consistency Model": `.weak` … `.acq_rel`, `fence.sc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.weak`: an ordinary access.
    Weak,
    /// `.volatile`: relaxed at system scope, never merged or removed.
    Volatile,
    /// `.relaxed`.
    Relaxed,
    /// `.acquire`.
    Acquire,
    /// `.release`.
    Release,
    /// `.acq_rel`.
    AcqRel,
    /// `fence.sc`.
    SeqCst,
}

/// Which threads an order reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `.cta`.
    Block,
    /// `.cluster`.
    Cluster,
    /// `.gpu`.
    Device,
    /// `.sys`.
    System,
}

/// State space that the instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.global`: must lie in the launch's [`Memory`](crate::Memory).
    Global,
    /// `.global` through the path that is not coherent (`ld.global.nc`): as [`Space::Global`], and
    /// nothing in this launch may have written it.
    ReadOnly,
    /// `.shared`: must lie in the block's own shared memory.
    Shared,
    /// `.shared::cluster`: must lie in the shared memory of a block of the cluster, at an address
    /// that [`cluster_shared`](crate::cluster_shared) gave.
    Cluster,
    /// No space named: the address may be in either.
    Generic,
}

/// One access as the instruction states it.
///
/// Order and scope decide what counts as a race ([`LaunchConfig::races`](crate::LaunchConfig::races)),
/// and which values a read may return where memory is weak
/// ([`LaunchConfig::weak_memory`](crate::LaunchConfig::weak_memory)). Otherwise memory is sequentially
/// consistent, and they change no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Load, store, or read-modify-write.
    pub kind: AccessKind,
    /// Its memory order.
    pub order: Order,
    /// The scope of that order. [`Order::Weak`] ignores it.
    pub scope: Scope,
    /// The state space it names.
    pub space: Space,
}

impl Access {
    /// A weak load.
    pub const fn read(space: Space) -> Self {
        Self::weak(AccessKind::Read, space)
    }

    /// A weak store.
    pub const fn write(space: Space) -> Self {
        Self::weak(AccessKind::Write, space)
    }

    /// A read-modify-write.
    pub const fn atomic(space: Space, order: Order, scope: Scope) -> Self {
        Self::weak(AccessKind::Atomic, space).ordered(order, scope)
    }

    /// The same access with an order and the scope it reaches.
    #[must_use]
    pub const fn ordered(self, order: Order, scope: Scope) -> Self {
        Self { order, scope, ..self }
    }

    const fn weak(kind: AccessKind, space: Space) -> Self {
        Self { kind, order: Order::Weak, scope: Scope::Block, space }
    }
}

impl fmt::Display for Order {
    /// The word of PTX, without the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weak => "weak",
            Self::Volatile => "volatile",
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "sc",
        })
    }
}

impl fmt::Display for Scope {
    /// `block`, `cluster`, `device` or `system`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Block => "block",
            Self::Cluster => "cluster",
            Self::Device => "device",
            Self::System => "system",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            AccessKind::Read => "load",
            AccessKind::Write => "store",
            AccessKind::Atomic => "atomic",
        })
    }
}
