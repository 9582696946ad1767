//! Barriers in shared memory, clusters and copies in the form that threads run.

use ptx::decode::{AddressSpace, MbarrierAction, Order, Scope};

use crate::code::{Address, Calling, Predicate, Slot};

/// Whether all lanes of a warp execute the same instruction.
type Aligned = bool;

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
    ClusterArrive(simt::Order, Aligned),
    ClusterWait(Aligned),
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
    /// `griddepcontrol.launch_dependents`
    LetNextStart,
    /// `griddepcontrol.wait`
    WaitForPrevious,
    /// Waits until so many groups of bulk copies are left that have not read their sources, or are
    /// not complete.
    WaitBulk {
        left: Slot,
        read: bool,
    },
    AsyncCopy(AsyncCopy),
    /// `cp.async.mbarrier.arrive`
    AsyncArrive {
        space: AddressSpace,
        address: Address,
        increments: bool,
    },
    /// Ends a group of other copies.
    CommitAsync,
    /// Waits until so many groups of other copies are left, or none and no copy either.
    WaitAsync(Option<Slot>),
    /// `elect.sync`: the lane, whether it is the own one, mask.
    Elect((Slot, Slot), Slot),
    /// A call of the device runtime.
    Runtime(Runtime, Calling),
}

/// `cp.async`
#[derive(Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: usize,
    /// The bytes to read, if not all.
    pub(crate) read: Option<Slot>,
    /// Whether to read none.
    pub(crate) ignore: Option<Predicate>,
}

/// A function of the device runtime (`cuda_device_runtime_api.h`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runtime {
    GetParameterBuffer,
    LaunchDevice,
    GetLastError,
    StreamCreate,
    StreamWaitEvent,
    EventCreate,
    EventRecord,
    /// Streams and events are kept until the grid has ended.
    Destroy,
    GetDevice,
    DeviceGetAttribute,
    /// `vprintf`
    Print,
}

impl Runtime {
    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "vprintf" {
            return Some(Self::Print);
        }
        let name = name.strip_prefix("__cudaCDP2").or_else(|| name.strip_prefix("cuda"))?;
        Some(match name {
            "GetParameterBufferV2" => Self::GetParameterBuffer,
            "LaunchDeviceV2" => Self::LaunchDevice,
            "GetLastError" | "PeekAtLastError" => Self::GetLastError,
            "StreamCreateWithFlags" => Self::StreamCreate,
            "StreamWaitEvent" => Self::StreamWaitEvent,
            "EventCreateWithFlags" => Self::EventCreate,
            "EventRecord" => Self::EventRecord,
            "StreamDestroy" | "EventDestroy" => Self::Destroy,
            "GetDevice" => Self::GetDevice,
            "DeviceGetAttribute" => Self::DeviceGetAttribute,
            _ => return None,
        })
    }

    /// The arguments that it needs.
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::GetParameterBuffer => 4,
            Self::StreamWaitEvent | Self::DeviceGetAttribute => 3,
            Self::GetLastError => 0,
            Self::GetDevice | Self::Destroy => 1,
            _ => 2,
        }
    }
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
