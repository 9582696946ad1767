//! Operations in the emulator, `simt`. Each is a checked scheduling point.

pub(crate) mod access;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod dependent;
#[cfg(feature = "device-runtime")]
pub(crate) mod device_runtime;
pub(crate) mod fence;
pub(crate) mod mbarrier;
pub(crate) mod rmw;
pub(crate) mod shared;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod warp;

use crate::memory::{Ordering, Scope, Space, SpaceKind};

/// The emulator's type for a scope.
fn scope_of(scope: Scope) -> simt::Scope {
    match scope {
        Scope::Block => simt::Scope::Block,
        Scope::Device => simt::Scope::Device,
        Scope::System => simt::Scope::System,
    }
}

/// The scope of an access to `S`: in global memory the given scope, in shared memory the block or
/// the cluster.
fn scope_in<S: Space>(scope: Scope) -> simt::Scope {
    match S::KIND {
        SpaceKind::Global => scope_of(scope),
        SpaceKind::Shared => simt::Scope::Block,
        SpaceKind::Cluster => simt::Scope::Cluster,
    }
}

/// The emulator's type for an ordering.
fn order_of(order: Ordering) -> simt::Order {
    match order {
        Ordering::Relaxed => simt::Order::Relaxed,
        Ordering::Acquire => simt::Order::Acquire,
        Ordering::Release => simt::Order::Release,
        Ordering::AcqRel => simt::Order::AcqRel,
        _ => simt::Order::SeqCst,
    }
}

/// The emulator's type for a state space.
fn space_of<S: Space>() -> simt::Space {
    match S::KIND {
        SpaceKind::Global => simt::Space::Global,
        SpaceKind::Shared => simt::Space::Shared,
        SpaceKind::Cluster => simt::Space::Cluster,
    }
}
