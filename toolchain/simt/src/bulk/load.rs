//! Bulk loads: when they are made, and the handling of loads that are never waited for.

use super::{Copies, pieces};
use crate::access::{Access, Order, Scope, Space};
use crate::dim::{Position, Spot};
use crate::fault::Fault;
use crate::here::{Here, with};
use crate::library::LibraryCall;

/// A late load is made after at most this many warp steps.
const LATEST: u64 = 1 << 16;

/// The delay of a load between the earliest and the latest has one of this many orders of
/// magnitude.
const MAGNITUDES: u64 = 12;

/// Computes a barrier's word after `bytes` more bytes have arrived, or the reason why it cannot
/// count them.
pub type Count = fn(word: u64, bytes: usize) -> Result<u64, String>;

/// A load that a thread has requested.
#[derive(Debug)]
pub(crate) struct Load {
    to: usize,
    from: usize,
    bytes: usize,
    barrier: usize,
    count: Count,
    pub(crate) spot: Spot,
    /// The thread that requested it, and the library call that it was in.
    pub(crate) position: Position,
    pub(crate) library: LibraryCall,
    /// Its number in the race detector, if there is one.
    copy: Option<u32>,
    /// Steps until it is made.
    steps: u64,
}

/// Copies `bytes` bytes of device memory to the block's shared memory (`cp.async.bulk` with
/// `.shared::cluster.global`). Then reports them to the barrier in the eight bytes at `barrier`,
/// whose new word is computed by `count`. A scheduling point.
///
/// With seed 0 it is made at once. Any other seed chooses when: at once, some steps later, or as
/// late as possible, which is when no thread can make progress without it.
///
/// Every 16 bytes are checked as one weak load and one weak store. These accesses, and that of the
/// barrier, race with any access that is neither before the call nor after a wait for that barrier,
/// even an access by the caller. It is a [`Fault::Trap`] if the block ends before the load is made;
/// if ordinary stores wrote these bytes of shared memory after the last [`bulk_fence`], or those of
/// device memory in this launch; and if the barrier was initialised ([`mbarrier_init`]) without an
/// [`mbarrier_fence`]. With race detection or weak memory, fences count only along causality order,
/// and a missing one is a [`Fault::Race`].
///
/// # Panics
/// Outside an emulated thread.
///
/// [`bulk_fence`]: crate::bulk_fence
/// [`mbarrier_init`]: crate::mbarrier_init
/// [`mbarrier_fence`]: crate::mbarrier_fence
#[track_caller]
pub fn bulk_load(to: *mut u8, from: *const u8, bytes: usize, barrier: *mut u8, count: Count) {
    with("bulk_load", |here, spot| {
        here.ask_for_copy(bytes, spot);
        here.check_load(to.addr(), from.addr(), bytes, spot);
        here.check_barrier(barrier.addr(), spot);
        let copies = &here.world.copies;
        let load = Load {
            to: to.addr(),
            from: from.addr(),
            bytes,
            barrier: barrier.addr(),
            count,
            spot,
            position: here.position,
            library: here.library.get(),
            copy: here.begin_copy(true),
            steps: copies.lateness(),
        };
        match load.steps {
            0 => here.make(&load),
            _ => copies.loads.borrow_mut().push(load),
        }
    });
}

impl Copies {
    /// Number of steps until the next load is made.
    fn lateness(&self) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => LATEST,
            _ => {
                let least = 1 << self.below(MAGNITUDES);
                least + self.below(least)
            }
        }
    }

    /// Whether all loads have been made.
    pub(crate) fn is_quiet(&self) -> bool {
        self.loads.borrow().is_empty()
    }

    /// A step has passed. Returns the loads to make now.
    pub(crate) fn step(&self) -> Vec<Load> {
        let mut loads = self.loads.borrow_mut();
        loads.iter_mut().for_each(|load| load.steps -= 1);
        loads.extract_if(.., |load| load.steps == 0).collect()
    }

    /// The load to make now if no thread can make progress.
    pub(crate) fn next(&self) -> Option<Load> {
        let mut loads = self.loads.borrow_mut();
        let next = (0..loads.len()).min_by_key(|&at| loads[at].steps)?;
        Some(loads.remove(next))
    }

    /// A block has ended. Returns one of its loads that has not been made.
    pub(crate) fn left_by(&self, block: u64) -> Option<Load> {
        let mut loads = self.loads.borrow_mut();
        let left = loads.iter().position(|load| load.position.block_number() == block)?;
        Some(loads.remove(left))
    }
}

impl Load {
    /// The reason why a block must not end before it.
    pub(crate) fn explain(&self) -> String {
        format!(
            "the block ends while a bulk load may still write {} bytes of its shared memory: a thread \
             of the block must wait for the load's barrier first",
            self.bytes
        )
    }
}

impl Here<'_> {
    /// Makes a load of this thread.
    pub(crate) fn make(&self, load: &Load) {
        let &Load { to, from, bytes, spot, copy, .. } = load;
        self.copy(copy, true, || {
            for offset in pieces(bytes) {
                let piece = self.read_piece(from + offset, Space::Global, spot);
                self.write_piece(to + offset, Space::Shared, piece, spot);
            }
            self.report(load);
        });
        self.end_copy(copy);
    }

    /// Reports a load to its barrier.
    fn report(&self, load: &Load) {
        let access = Access::atomic(Space::Shared, Order::Release, Scope::Block);
        if !self.check(load.barrier, size_of::<u64>(), access, load.spot) {
            return;
        }
        let word = core::ptr::with_exposed_provenance_mut::<u64>(load.barrier);
        // SAFETY: the checks above found the word live, aligned and written, and no other emulated
        // thread runs.
        match (load.count)(unsafe { word.read() }, load.bytes) {
            // SAFETY: the checks above found the word live and aligned, and no other emulated
            // thread runs.
            Ok(after) => unsafe { word.write(after) },
            Err(why) => self.refuse_copy(why, load.spot),
        }
    }

    /// The fault if the thread's block has ended before one of its loads.
    pub(crate) fn left(&self, load: &Load) -> Fault {
        Fault::Trap { site: self.site(load.spot), message: load.explain() }
    }
}
