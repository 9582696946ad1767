//! Memory accesses, in the terms of the PTX memory model.

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

/// Set of threads to which an order applies.
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

/// State space of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.global`: must be in the launch's [`Memory`](crate::Memory).
    Global,
    /// `.global` through the non-coherent path (`ld.global.nc`): like [`Space::Global`], but this
    /// launch must not have written it.
    ReadOnly,
    /// `.shared`: must be in the block's own shared memory.
    Shared,
    /// `.shared::cluster`: must be in the shared memory of a block of the cluster, at an address
    /// returned by [`cluster_shared`](crate::cluster_shared).
    Cluster,
    /// Generic addressing: the address may be in either.
    Generic,
}

/// One access, with the qualifiers of its instruction.
///
/// Order and scope decide what counts as a race
/// ([`LaunchConfig::races`](crate::LaunchConfig::races)), and which values a read may return if
/// memory is weak ([`LaunchConfig::weak_memory`](crate::LaunchConfig::weak_memory)). Otherwise
/// memory is sequentially consistent, and they do not affect values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Load, store, or read-modify-write.
    pub kind: AccessKind,
    /// Its memory order.
    pub order: Order,
    /// The scope of that order. [`Order::Weak`] ignores it.
    pub scope: Scope,
    /// Its state space.
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

    /// The same access with an order and its scope.
    #[must_use]
    pub const fn ordered(self, order: Order, scope: Scope) -> Self {
        Self { order, scope, ..self }
    }

    const fn weak(kind: AccessKind, space: Space) -> Self {
        Self { kind, order: Order::Weak, scope: Scope::Block, space }
    }
}

impl fmt::Display for Order {
    /// The PTX qualifier, without the dot.
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
