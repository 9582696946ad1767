//! Barriers in shared memory, clusters and copies in the form that threads run.

use ptx::decode::{AddressSpace, MbarrierAction, Order, Scope};

use crate::code::{Address, Slot};

/// What an instruction does.
#[derive(Debug)]
pub(crate) enum Synchronise {
    Mbarrier(Mbarrier),
    /// `mbarrier.pending_count`: destination, state.
    PendingCount(Slot, Slot),
    /// A fence between ordinary accesses to shared, and to global memory, and bulk copies.
    ProxyFence {
        shared: bool,
        global: bool,
    },
    MbarrierFence,
    ClusterArrive(simt::Order),
    ClusterWait,
    /// `mapa`
    MapShared {
        to: Slot,
        from: Slot,
        rank: Slot,
        generic: bool,
    },
    BulkLoad {
        to: (AddressSpace, Address),
        from: Address,
        bytes: Slot,
        barrier: Address,
    },
    BulkStore {
        to: Address,
        from: Address,
        bytes: Slot,
    },
    /// Ends a group of bulk copies.
    CommitBulk,
    /// Waits until so many groups of bulk copies are left that have not read their sources, or are
    /// not complete.
    WaitBulk {
        left: Slot,
        read: bool,
    },
}

/// An operation of a barrier in shared memory.
#[derive(Debug)]
pub(crate) struct Mbarrier {
    pub(crate) action: MbarrierAction,
    pub(crate) space: AddressSpace,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    pub(crate) address: Address,
    /// Gets the state before an arrival, or whether a phase is complete.
    pub(crate) to: Slot,
    /// Arrivals, bytes, a state or a parity.
    pub(crate) operand: Slot,
}
