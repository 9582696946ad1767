//! The fences between ordinary accesses and bulk copies (PTX ISA, "Proxies"), and the checks made
//! without a race detector. A race detector checks the accesses themselves: see [`crate::race`].

use core::fmt;

use crate::access::Space;
use crate::dim::Spot;
use crate::fiber::Request;
use crate::here::{Here, with};
use crate::memory::Proxy;
use crate::place::Place;
use crate::race::NEEDS_GLOBAL_FENCE;
use crate::shared::SharedMemory;
use crate::weaken::Orders;

/// An initialised barrier in a block's shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Init {
    address: usize,
    /// The thread that initialised it, by its number in the block, and the location.
    thread: u32,
    place: Place,
    /// That thread's epoch at the initialisation, and at its fence for barriers, if it has executed
    /// one. 0 without race detector.
    epoch: u32,
    fence: Option<u32>,
}

/// The fence between ordinary accesses to shared memory and bulk copies
/// (`fence.proxy.async.shared::cta`). A scheduling point.
///
/// With race detection or weak memory, it covers everything before it in causality order. Otherwise
/// it covers everything that any thread of the block has written so far.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_fence() {
    with("bulk_fence", |here, spot| {
        if here.meet(Orders::ProxyFence, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        if let Some(races) = &here.world.races {
            return races.fence_proxies(here.world.thread_number(&here.position), Space::Shared);
        }
        let mut shared = here.shared.borrow_mut();
        for region in shared.arena().regions() {
            region.fence_stores(0, region.size());
        }
        for init in &mut shared.inits {
            init.fence.get_or_insert(0);
        }
    });
}

/// The fence between ordinary accesses to device memory and bulk copies (`fence.proxy.async.global`).
/// A scheduling point.
///
/// With race detection or weak memory, it covers everything before it in causality order. Otherwise
/// it covers everything that any thread has written so far.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_fence_global() {
    with("bulk_fence_global", |here, spot| {
        if here.meet(Orders::ProxyFence, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        if let Some(races) = &here.world.races {
            return races.fence_proxies(here.world.thread_number(&here.position), Space::Global);
        }
        for region in here.world.memory.arena().regions() {
            region.fence_stores(0, region.size());
        }
    });
}

/// The thread has written the first word of a barrier to the eight bytes at `barrier`
/// (`mbarrier.init`). Not a scheduling point.
///
/// A bulk load may report to the barrier only after an [`mbarrier_fence`] by this thread, or a
/// [`bulk_fence`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn mbarrier_init(barrier: *mut u8) {
    with("mbarrier_init", |here, spot| {
        let address = barrier.addr();
        let init = Init {
            address,
            thread: here.position.linear_thread(),
            place: spot.place,
            epoch: here.end_epoch(),
            fence: None,
        };
        if let Some(recorder) = &here.world.recorder {
            recorder.wrote_barrier();
        }
        let inits = &mut here.shared.borrow_mut().inits;
        inits.retain(|old| old.address != address);
        inits.push(init);
    });
}

/// The eight bytes at `barrier` are no longer a barrier (`mbarrier.inval`). Not a scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn mbarrier_invalidate(barrier: *mut u8) {
    with("mbarrier_invalidate", |here, _| {
        here.shared.borrow_mut().inits.retain(|init| init.address != barrier.addr());
    });
}

/// Where a barrier was initialised ([`mbarrier_init`]) that is in the `bytes` bytes at `address`, in
/// the shared memory of the caller's cluster. Only operations of barriers may access it. Not a
/// scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[must_use]
#[track_caller]
pub fn mbarrier_at(address: *const u8, bytes: usize) -> Option<Place> {
    with("mbarrier_at", |here, _| {
        let (start, end) = (address.addr(), address.addr() + bytes);
        let is_in = |init: &&Init| init.address < end && start < init.address + size_of::<u64>();
        here.peers.find(|shared| shared.inits.iter().find(is_in).map(|init| init.place))
    })
}

/// The fence between the caller's [`mbarrier_init`]s and bulk copies that report to these barriers
/// (`fence.mbarrier_init`). A scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn mbarrier_fence() {
    with("mbarrier_fence", |here, spot| {
        if here.meet(Orders::BarrierFence, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        let (thread, epoch) = (here.position.linear_thread(), here.end_epoch());
        let inits = &mut here.shared.borrow_mut().inits;
        for init in inits.iter_mut().filter(|init| init.thread == thread) {
            init.fence.get_or_insert(epoch);
        }
    });
}

impl SharedMemory {
    /// Whether the block has initialised a barrier at this address.
    pub(crate) fn has_barrier(&self, address: usize) -> bool {
        self.inits.iter().any(|init| init.address == address)
    }
}

impl Here<'_> {
    /// Ends the thread's epoch and returns it; 0 without race detector.
    fn end_epoch(&self) -> u32 {
        let races = self.world.races.as_ref();
        races.map_or(0, |races| races.end_epoch(self.world.thread_number(&self.position)))
    }

    /// Checks that a load may report to this barrier.
    pub(super) fn check_barrier(&self, barrier: usize, spot: Spot) {
        let shared = self.shared.borrow();
        let Some(&init) = shared.inits.iter().find(|init| init.address == barrier) else { return };
        drop(shared);
        let is_fenced = match &self.world.races {
            None => init.fence.is_some(),
            Some(races) => {
                let me = self.world.thread_number(&self.position);
                let other = me - self.position.linear_thread() + init.thread;
                races.is_fenced(me, (other, init.epoch))
                    || init.fence.is_some_and(|epoch| races.follows(me, (other, epoch)))
            }
        };
        if !is_fenced {
            let thread = self.position.block_dim.index_of(init.thread.into());
            let message = format!(
                "a bulk load reports to a barrier that thread {thread} has initialised at {}, without `fence_init` in between: that thread must call `fence_init` after `init`, and before the \
                 barrier of the block that comes before the load (`fence.mbarrier_init` in PTX)",
                init.place
            );
            self.refuse_copy(message, spot);
        }
    }

    /// Checks the reads and writes of a load, unless a race detector does.
    pub(super) fn check_load(&self, to: usize, from: usize, bytes: usize, spot: Spot) {
        self.check_shared("a bulk load writes over", (to, bytes), spot);
        self.check_global("a bulk load reads", (from, bytes), spot);
    }

    /// Checks the reads and writes of a store, unless a race detector does.
    pub(super) fn check_store(&self, to: usize, from: usize, bytes: usize, spot: Spot) {
        self.check_shared("a bulk store reads", (from, bytes), spot);
        self.check_global("a bulk store writes over", (to, bytes), spot);
    }

    /// Refuses a copy if an ordinary store wrote to its bytes of shared memory after the last
    /// fence. `does` describes the copy's access.
    fn check_shared(&self, does: &str, (address, bytes): (usize, usize), spot: Spot) {
        let shared = self.shared.borrow();
        let found = shared.arena().find(address, bytes).and_then(|(region, offset)| {
            Some(region.first_stored(offset, bytes, Proxy::Generic)? - offset)
        });
        drop(shared);
        let remedy = "after the last fence of the proxies: the thread that writes shared memory must call `fence_shared` (`fence.proxy.async.shared::cta` in PTX) after it and before the barrier";
        self.refuse_stored(found, (does, bytes), remedy, spot);
    }

    /// Refuses a copy if an ordinary store of this launch wrote to its bytes of device memory.
    /// `does` describes the copy's access.
    fn check_global(&self, does: &str, (address, bytes): (usize, usize), spot: Spot) {
        let found = self.world.memory.arena().find(address, bytes).and_then(|(region, offset)| {
            Some(region.first_stored(offset, bytes, Proxy::Generic)? - offset)
        });
        let remedy = format_args!("in this launch: {NEEDS_GLOBAL_FENCE}");
        self.refuse_stored(found, (does, bytes), remedy, spot);
    }

    /// Refuses a copy of `bytes` bytes because of the first byte `found`, if there is one.
    fn refuse_stored(
        &self,
        found: Option<usize>,
        (does, bytes): (&str, usize),
        remedy: impl fmt::Display,
        spot: Spot,
    ) {
        if let Some(byte) = found {
            let message = format!(
                "{does} what an ordinary store left in byte {byte} of its {bytes} {remedy}"
            );
            self.refuse_copy(message, spot);
        }
    }
}
