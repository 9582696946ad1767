//! Bulk copies between device and shared memory (PTX ISA, "cp.async.bulk"), and the barriers that
//! they report to.
//!
//! A copy happens between its request and the wait for its end. The schedule's seed chooses when.

mod element;
mod load;
mod phase;
mod proxies;
mod store;

use core::cell::RefCell;
use std::thread::panicking;

pub(crate) use element::Element;
pub use element::{Arrive, async_arrive, async_copy, async_wait};
pub(crate) use load::Load;
pub use load::{Count, bulk_load};
pub(crate) use proxies::Init;
pub use proxies::{
    bulk_fence, bulk_fence_global, mbarrier_at, mbarrier_fence, mbarrier_init, mbarrier_invalidate,
};
pub(crate) use store::Store;
pub use store::{bulk_store, bulk_wait_read, bulk_wait_stored};

use crate::access::{Access, Space};
use crate::dim::Spot;
use crate::fault::Fault;
use crate::fiber::Request;
use crate::here::Here;
use crate::schedule::SplitMix;

/// Bytes that are copied and checked as one access. Lengths and addresses are multiples of it.
const PIECE: usize = 16;

/// One piece of a copy in flight.
type Piece = [u8; PIECE];

/// The bulk copies of a launch.
#[derive(Debug)]
pub(crate) struct Copies {
    /// Chooses their times; `None` if loads are made at once, and stores as late as possible.
    random: Option<RefCell<SplitMix>>,
    /// Loads that have not been made.
    loads: RefCell<Vec<Load>>,
}

/// The copy that is making accesses now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copying {
    /// Its number in the race detector, if there is one.
    pub(crate) number: Option<u32>,
    /// Whether it is a bulk copy, which accesses memory through another proxy.
    pub(crate) is_bulk: bool,
}

impl Copies {
    /// The copies of a launch with this seed; 0 disables random choices.
    pub(crate) fn new(seed: u64) -> Self {
        let random = (seed != 0).then(|| RefCell::new(SplitMix(seed ^ 0xB01C_C091_5EED)));
        Self { random, loads: RefCell::default() }
    }

    /// A number in `0..bound`; 0 for seed 0.
    fn below(&self, bound: u64) -> u64 {
        self.random.as_ref().map_or(0, |random| random.borrow_mut().below(bound))
    }
}

fn pieces(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes).step_by(PIECE)
}

impl Here<'_> {
    /// A scheduling point, followed by the check of a copy's length.
    fn ask_for_copy(&self, bytes: usize, spot: Spot) {
        self.stop(Request::Step, spot);
        if !bytes.is_multiple_of(PIECE) {
            let message =
                format!("a bulk copy moves a multiple of {PIECE} bytes, not {bytes}: pad the rest");
            self.refuse_copy(message, spot);
        }
    }

    /// The thread starts a copy. Returns the copy's number, if there is a race detector.
    fn begin_copy(&self, is_bulk: bool) -> Option<u32> {
        let races = self.world.races.as_ref()?;
        Some(races.begin_copy(self.world.thread_number(&self.position), is_bulk))
    }

    /// Makes the accesses of a copy. Returns the copy's epoch that they are in; 0 without race
    /// detector.
    fn copy<R>(
        &self,
        number: Option<u32>,
        is_bulk: bool,
        accesses: impl FnOnce() -> R,
    ) -> (R, u32) {
        self.copying.set(Some(Copying { number, is_bulk }));
        let done = accesses();
        self.settle();
        self.copying.set(None);
        let races = self.world.races.as_ref().zip(number);
        (done, races.map_or(0, |(races, number)| races.end_epoch(number)))
    }

    /// The thread has waited for the copy up to this epoch.
    fn wait_for_copy(&self, copy: Option<u32>, epoch: u32) {
        if let (Some(races), Some(copy)) = (&self.world.races, copy) {
            races.wait_for_copy(self.world.thread_number(&self.position), (copy, epoch));
        }
    }

    fn end_copy(&self, copy: Option<u32>) {
        if let (Some(races), Some(copy)) = (&self.world.races, copy) {
            races.end_copy(copy);
        }
    }

    /// Ends the launch, unless the thread is already being unwound.
    fn refuse_copy(&self, message: String, spot: Spot) {
        if !panicking() {
            let site = self.site(spot);
            self.fail(Fault::Trap { site, message });
        }
    }

    fn read_piece(&self, address: usize, space: Space, spot: Spot) -> Piece {
        if !self.check(address, PIECE, Access::read(space), spot) {
            return Piece::default();
        }
        // SAFETY: `check` has found the bytes live and written.
        unsafe { core::ptr::with_exposed_provenance::<Piece>(address).read() }
    }

    fn write_piece(&self, address: usize, space: Space, piece: Piece, spot: Spot) {
        if self.check(address, PIECE, Access::write(space), spot) {
            // SAFETY: `check` has found the bytes live, and no other emulated thread runs.
            unsafe { core::ptr::with_exposed_provenance_mut::<Piece>(address).write(piece) };
        }
    }
}
