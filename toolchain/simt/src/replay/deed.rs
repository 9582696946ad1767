//! What a thread does, as a story needs it.

use crate::access::{Access, Order, Scope};
use crate::dim::{Place, Position};
use crate::memory::Label;

/// Something that a thread has done.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) position: Position,
    pub(crate) place: Place,
    pub(crate) what: Done,
}

/// What it was.
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
    pub(crate) label: Label,
    /// Tells the shared memories of blocks apart.
    pub(crate) owner: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// What it read, and what it wrote.
    pub(crate) read: Option<u128>,
    pub(crate) wrote: Option<u128>,
    /// Whether it read an old value, or wrote one that is not the last of its location.
    pub(crate) is_old: bool,
}

impl Deed {
    /// The number of its thread in the grid.
    pub(super) fn thread(&self) -> u64 {
        let at = &self.position;
        at.block_number() * at.block_dim.count() + u64::from(at.linear_thread())
    }

    pub(super) fn touch(&self) -> Option<&Touch> {
        match &self.what {
            Done::Access(touch) => Some(touch),
            _ => None,
        }
    }
}

impl Touch {
    /// Whether the two touch a common byte.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (self.label, self.owner) == (other.label, other.owner)
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }
}
