//! The shared memories of the blocks of a cluster, which can access each other's (PTX ISA, "Shared
//! State Space").

use core::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::early::Waits;
use crate::fault::Target;
use crate::shared::SharedMemory;

/// The shared memories of a cluster, by the rank of their blocks.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Bytes of dynamic shared memory per block.
    dynamic: usize,
    blocks: Vec<Peer>,
    /// How many clusters had started before it, once it has started, if the launch counts them.
    order: Cell<Option<u64>>,
}

#[derive(Debug)]
struct Peer {
    /// Created on first use. It lives until the whole cluster has ended, so that an access after
    /// its block has ended is detected.
    shared: OnceCell<Rc<RefCell<SharedMemory>>>,
    life: Cell<Life>,
}

/// Whether the shared memory of a block may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    NotStarted,
    Running,
    Ended,
}

impl Peers {
    /// The shared memories of a cluster of `blocks` blocks, none of which has started.
    pub(crate) fn new(blocks: u32, dynamic: usize) -> Rc<Self> {
        let fresh = || Peer { shared: OnceCell::new(), life: Cell::new(Life::NotStarted) };
        Rc::new(Self {
            dynamic,
            blocks: (0..blocks).map(|_| fresh()).collect(),
            order: Cell::new(None),
        })
    }

    /// A block starts.
    pub(crate) fn start(&self, rank: usize, waits: Option<&Waits>) -> Rc<RefCell<SharedMemory>> {
        if self.order.get().is_none() {
            self.order.set(waits.map(Waits::start));
        }
        self.blocks[rank].life.set(Life::Running);
        Rc::clone(self.made(rank))
    }

    /// All threads of a block have exited.
    pub(crate) fn end(&self, rank: usize) {
        self.blocks[rank].life.set(Life::Ended);
    }

    /// How many clusters had started before this one, if it has started and the launch counts them.
    pub(crate) fn order(&self) -> Option<u64> {
        self.order.get()
    }

    pub(crate) fn life(&self, rank: usize) -> Life {
        self.blocks[rank].life.get()
    }

    /// Number of blocks of the cluster.
    pub(crate) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The shared memory of a block, which need not have started.
    pub(crate) fn made(&self, rank: usize) -> &Rc<RefCell<SharedMemory>> {
        let new = || Rc::new(RefCell::new(SharedMemory::new(self.dynamic)));
        self.blocks[rank].shared.get_or_init(new)
    }

    /// The rank of the block whose shared memory contains `bytes` bytes from `address`.
    pub(crate) fn holder(&self, address: usize, bytes: usize) -> Option<usize> {
        let holds = |peer: &Peer| {
            let shared = peer.shared.get();
            shared.is_some_and(|shared| shared.borrow().arena().find(address, bytes).is_some())
        };
        self.blocks.iter().position(holds)
    }

    /// The first result for the shared memory of one of the blocks.
    pub(crate) fn find<T>(&self, find: impl Fn(&SharedMemory) -> Option<T>) -> Option<T> {
        let mut made = self.blocks.iter().filter_map(|peer| peer.shared.get());
        made.find_map(|shared| find(&shared.borrow()))
    }

    /// Describes an address by the variable that contains it or ends shortly before it.
    pub(crate) fn describe(&self, address: usize) -> Option<Target> {
        let made = self.blocks.iter().filter_map(|peer| peer.shared.get());
        let described = made.filter_map(|shared| shared.borrow().arena().describe(address));
        described.min_by_key(|target| target.region.map_or(u64::MAX, |(_, offset)| offset))
    }
}
