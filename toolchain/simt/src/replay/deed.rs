//! A thread's action, as needed by a story.

use crate::access::{Access, AccessKind, Order, Scope};
use crate::dim::Position;
use crate::memory::Label;
use crate::place::Place;
use std::sync::Arc;

/// A thread of a recording: the launch, the block and the thread in the block.
pub(super) type Thread = (usize, u64, u32);

/// An action of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    /// The grid, counted from 1.
    pub(crate) launch: usize,
    /// The kernel, if several run at the same time.
    pub(crate) kernel: Option<Arc<str>>,
    pub(crate) position: Position,
    pub(crate) place: Place,
    pub(crate) what: Done,
}

/// Kind of action.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Access(Touch),
    Fence(Scope, Order),
    Spin,
    BlockBarrier,
    ClusterArrival,
    ClusterWait,
}

/// An access to memory.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) access: Access,
    pub(crate) is_float: bool,
    /// Whether it accesses the word of a barrier in shared memory.
    pub(crate) is_barrier: bool,
    pub(crate) label: Label,
    /// The kernel argument that is a view of the memory, if there is one.
    pub(crate) name: Option<&'static str>,
    /// Distinguishes the shared memories of blocks.
    pub(crate) owner: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// The values read and written.
    pub(crate) read: Option<u128>,
    pub(crate) wrote: Option<u128>,
    /// Whether it read an old value, or wrote one that is not the last of its location.
    pub(crate) is_old: bool,
}

impl Deed {
    pub(super) fn thread(&self) -> Thread {
        let (launch, block) = self.block();
        (launch, block, self.position.linear_thread())
    }

    /// Its block: the launch and the block.
    pub(super) fn block(&self) -> (usize, u64) {
        (self.launch, self.position.block_number())
    }

    pub(super) fn touch(&self) -> Option<&Touch> {
        match &self.what {
            Done::Access(touch) => Some(touch),
            _ => None,
        }
    }
}

impl Touch {
    pub(super) fn reads_only(&self) -> bool {
        self.access.kind == AccessKind::Read
    }

    /// Whether the two touch a common byte.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (self.label, self.owner) == (other.label, other.owner)
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }
}
