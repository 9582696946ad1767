//! Bulk copies between device and shared memory (PTX ISA, "cp.async.bulk"). A load is made at once,
//! a store as late as its thread allows: the two extremes that hardware permits.

use std::thread::panicking;

use crate::access::{Access, Space};
use crate::dim::Spot;
use crate::fault::Fault;
use crate::fiber::Request;
use crate::here::{Here, with};

/// Bytes that are copied and checked as one access. Lengths and addresses are multiples of it.
const PIECE: usize = 16;

/// One piece of a copy in flight.
type Piece = [u8; PIECE];

/// A bulk store that its thread has not waited for yet.
#[derive(Debug)]
pub(crate) struct Store {
    to: usize,
    from: usize,
    bytes: usize,
    spot: Spot,
    /// Its number in the race detector, if races are looked for.
    copy: Option<u32>,
    /// What it read from shared memory, once the thread has waited for that read.
    read: Option<Vec<Piece>>,
}

/// Copies `bytes` bytes of device memory to the block's shared memory (`cp.async.bulk` with
/// `.shared::cluster.global`), at once. Then calls `tell`, which reports the bytes to a barrier in
/// memory. A scheduling point.
///
/// Every 16 bytes are checked as one weak load and one weak store. These accesses, and those of
/// `tell`, race with any access that is neither before the call nor after a wait for that barrier,
/// even an access by the caller.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_load(to: *mut u8, from: *const u8, bytes: usize, tell: impl FnOnce()) {
    with("bulk_load", |here, spot| {
        let copy = here.begin_copy(bytes, spot);
        here.copying.set(copy);
        for offset in pieces(bytes) {
            let piece = here.read_piece(from.addr() + offset, Space::Global, spot);
            here.write_piece(to.addr() + offset, Space::Shared, piece, spot);
        }
        // The copy is not an ordinary store: a bulk store may read these bytes without a fence.
        if let Some((region, offset)) = here.shared.borrow().arena().find(to.addr(), bytes) {
            region.fence_proxies(offset, bytes);
        }
        tell();
        here.copying.set(None);
        here.end_copy(copy);
    });
}

/// Copies `bytes` bytes of the block's shared memory to device memory (`cp.async.bulk` with
/// `.global.shared::cta`, as a group of its own). Shared memory is read when the thread waits by
/// [`bulk_wait_read`]. Device memory is written when it waits by [`bulk_wait_stored`], or exits. A
/// scheduling point.
///
/// So a kernel that overwrites the bytes too early stores wrong values, and both ends race with any
/// thread that does not wait. Faults name the place of this call. It is a [`Fault::Trap`] if the
/// thread exits before it has waited for the read, or if ordinary stores wrote the bytes after the
/// block's last [`bulk_fence`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_store(to: *mut u8, from: *const u8, bytes: usize) {
    with("bulk_store", |here, spot| {
        let copy = here.begin_copy(bytes, spot);
        let unfenced = here.unfenced(from.addr(), bytes);
        if let Some(byte) = unfenced {
            here.refuse_copy(
                format!(
                    "a bulk store reads what an ordinary store left in byte {byte} of its {bytes} \
                     after the last fence of the proxies: who writes shared memory must call \
                     `fence_shared` after it and before the barrier"
                ),
                spot,
            );
        }
        here.stores.borrow_mut().push(Store {
            to: to.addr(),
            from: from.addr(),
            bytes,
            spot,
            copy,
            read: None,
        });
    });
}

/// Waits until all but the last `left` stores of the thread have read their shared memory
/// (`cp.async.bulk.wait_group.read`). A scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_wait_read(left: usize) {
    with("bulk_wait_read", |here, spot| {
        here.stop(Request::Step, spot);
        here.read_for_stores(left);
    });
}

/// Waits until all stores of the thread are done (`cp.async.bulk.wait_group 0`). A scheduling
/// point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_wait_stored() {
    with("bulk_wait_stored", |here, spot| {
        here.stop(Request::Step, spot);
        here.read_for_stores(0);
        here.write_for_stores();
    });
}

/// The fence between ordinary stores to shared memory and bulk stores that read it
/// (`fence.proxy.async.shared::cta`). A scheduling point.
///
/// Laxer than hardware: it covers all that the block has written so far, by any thread.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_fence() {
    with("bulk_fence", |here, spot| {
        here.stop(Request::Step, spot);
        for region in here.shared.borrow().arena().regions() {
            region.fence_proxies(0, region.size());
        }
    });
}

fn pieces(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes).step_by(PIECE)
}

impl Here<'_> {
    /// The thread starts a copy. Returns the copy's number, if races are looked for.
    fn begin_copy(&self, bytes: usize, spot: Spot) -> Option<u32> {
        self.stop(Request::Step, spot);
        if !bytes.is_multiple_of(PIECE) {
            let message =
                format!("a bulk copy moves a multiple of {PIECE} bytes, not {bytes}: pad the rest");
            self.refuse_copy(message, spot);
        }
        let races = self.world.races.as_ref()?;
        Some(races.begin_copy(self.world.thread_number(&self.position)))
    }

    /// The thread has waited for what its copy has done so far.
    fn wait_for_copy(&self, copy: Option<u32>) {
        if let (Some(races), Some(copy)) = (&self.world.races, copy) {
            races.wait_for_copy(self.world.thread_number(&self.position), copy);
        }
    }

    fn end_copy(&self, copy: Option<u32>) {
        if let (Some(races), Some(copy)) = (&self.world.races, copy) {
            races.end_copy(copy);
        }
    }

    /// Ends the launch, unless the thread is being unwound already.
    fn refuse_copy(&self, message: String, spot: Spot) {
        if !panicking() {
            let site = self.site(spot);
            self.fail(Fault::Trap { site, message });
        }
    }

    /// The first of these bytes of shared memory, counted from `address`, that an ordinary store
    /// wrote after the last fence.
    fn unfenced(&self, address: usize, bytes: usize) -> Option<usize> {
        let shared = self.shared.borrow();
        let (region, offset) = shared.arena().find(address, bytes)?;
        Some(region.first_unfenced(offset, bytes)? - offset)
    }

    fn read_piece(&self, address: usize, space: Space, spot: Spot) -> Piece {
        if !self.check(address, PIECE, Access::read(space), spot) {
            return Piece::default();
        }
        // SAFETY: checked just now: live, and written.
        unsafe { core::ptr::with_exposed_provenance::<Piece>(address).read() }
    }

    fn write_piece(&self, address: usize, space: Space, piece: Piece, spot: Spot) {
        if self.check(address, PIECE, Access::write(space), spot) {
            // SAFETY: checked just now: live, and no other emulated thread runs.
            unsafe { core::ptr::with_exposed_provenance_mut::<Piece>(address).write(piece) };
        }
    }

    /// Makes all but the last `left` stores read their shared memory.
    fn read_for_stores(&self, left: usize) {
        let mut stores = self.stores.borrow_mut();
        let read = stores.len().saturating_sub(left);
        for store in stores.iter_mut().take(read) {
            if store.read.is_some() {
                continue;
            }
            self.copying.set(store.copy);
            let read = pieces(store.bytes)
                .map(|offset| self.read_piece(store.from + offset, Space::Shared, store.spot));
            store.read = Some(read.collect());
            self.copying.set(None);
            self.wait_for_copy(store.copy);
        }
    }

    /// Makes all stores write device memory. They have read their shared memory before.
    fn write_for_stores(&self) {
        for store in self.stores.take() {
            self.copying.set(store.copy);
            for (offset, piece) in pieces(store.bytes).zip(store.read.into_iter().flatten()) {
                self.write_piece(store.to + offset, Space::Global, piece, store.spot);
            }
            self.copying.set(None);
            self.wait_for_copy(store.copy);
            self.end_copy(store.copy);
        }
    }

    /// The thread exits, so its stores end. Shared memory may be gone by the time they read it, so
    /// the thread must have waited for the reads.
    pub(crate) fn end_stores(&self) {
        let unread = |store: &&Store| store.read.is_none();
        let spot = self.stores.borrow().iter().find(unread).map(|store| store.spot);
        if let Some(spot) = spot {
            let message = "the thread exits while a bulk store of it may still read shared memory: \
                           wait by `wait_read::<0>` first";
            self.refuse_copy(message.to_owned(), spot);
        }
        self.write_for_stores();
    }
}
