//! Bulk stores: when they read shared memory, and when they write device memory.

use super::{Piece, pieces};
use crate::access::Space;
use crate::dim::Spot;
use crate::fiber::Request;
use crate::here::{Here, with};
use crate::weaken::Orders;

/// A bulk store that its thread has not waited for.
#[derive(Debug)]
pub(crate) struct Store {
    to: usize,
    from: usize,
    bytes: usize,
    spot: Spot,
    /// Its number in the race detector, if there is one.
    copy: Option<u32>,
    /// The data read from shared memory, and the copy's epoch then.
    read: Option<(Vec<Piece>, u32)>,
    /// Whether the thread has waited for that.
    is_read: bool,
    /// The copy's epoch when it wrote device memory, if it has.
    written: Option<u32>,
}

/// Copies `bytes` bytes of the block's shared memory to device memory (`cp.async.bulk` with
/// `.global.shared::cta`, as a separate group). A scheduling point.
///
/// With seed 0, shared memory is read when the thread waits with [`bulk_wait_read`], and device
/// memory is written when it waits with [`bulk_wait_stored`], or exits. Any other seed chooses
/// whether either happens at once instead. So a kernel that overwrites the bytes too early stores
/// wrong values.
///
/// Both the read and the write race with any thread that does not wait. Faults name the location of
/// this call. It is a [`Fault::Trap`](crate::Fault::Trap) if the thread exits before it has waited
/// for the read; and if ordinary stores wrote the bytes after the last
/// [`bulk_fence`](crate::bulk_fence), or the bytes of device memory in this launch. With race
/// detection or weak memory, fences count only along causality order, and a missing one is a
/// [`Fault::Race`](crate::Fault::Race).
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_store(to: *mut u8, from: *const u8, bytes: usize) {
    with("bulk_store", |here, spot| {
        here.ask_for_copy(bytes, spot);
        here.check_store(to.addr(), from.addr(), bytes, spot);
        let mut store = Store {
            to: to.addr(),
            from: from.addr(),
            bytes,
            spot,
            copy: here.begin_copy(true),
            read: None,
            is_read: false,
            written: None,
        };
        let haste = here.world.copies.below(4);
        if haste >= 2 {
            here.read_for(&mut store);
        }
        if haste == 3 {
            here.write_for(&mut store);
        }
        here.stores.borrow_mut().push(store);
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
        if here.meet(Orders::CopyWait, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        here.wait_for_reads(left);
    });
}

/// Waits until all but the last `left` stores of the thread are done (`cp.async.bulk.wait_group`). A
/// scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_wait_stored(left: usize) {
    with("bulk_wait_stored", |here, spot| {
        if here.meet(Orders::CopyWait, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        here.wait_for_reads(left);
        here.wait_for_writes(left);
    });
}

impl Here<'_> {
    /// Reads shared memory for a store, unless already done.
    fn read_for(&self, store: &mut Store) {
        let &mut Store { from, bytes, spot, copy, .. } = store;
        let read = |offset| self.read_piece(from + offset, Space::Shared, spot);
        let read = || self.copy(copy, true, || pieces(bytes).map(read).collect());
        store.read.get_or_insert_with(read);
    }

    /// Writes device memory for a store that has read, unless already done.
    fn write_for(&self, store: &mut Store) {
        let &mut Store { to, bytes, spot, copy, .. } = store;
        let read = store.read.iter().flat_map(|(pieces, _)| pieces);
        let write = || {
            for (offset, &piece) in pieces(bytes).zip(read) {
                self.write_piece(to + offset, Space::Global, piece, spot);
            }
        };
        store.written.get_or_insert_with(|| self.copy(copy, true, write).1);
    }

    /// Makes all but the last `left` stores read their shared memory.
    fn wait_for_reads(&self, left: usize) {
        let mut stores = self.stores.borrow_mut();
        let waits = stores.len().saturating_sub(left);
        for store in stores.iter_mut().take(waits).filter(|store| !store.is_read) {
            self.read_for(store);
            store.is_read = true;
            let epoch = store.read.as_ref().map_or(0, |(_, epoch)| *epoch);
            self.wait_for_copy(store.copy, epoch);
        }
    }

    /// Makes all but the last `left` stores write device memory. They must have read their shared
    /// memory.
    fn wait_for_writes(&self, left: usize) {
        let mut stores = self.stores.take();
        let later = stores.split_off(stores.len().saturating_sub(left));
        self.stores.replace(later);
        for mut store in stores {
            self.write_for(&mut store);
            self.wait_for_copy(store.copy, store.written.unwrap_or(0));
            self.end_copy(store.copy);
        }
    }

    /// The thread exits, so its stores end. Shared memory may be gone by the time they read it, so
    /// the thread must have waited for the reads.
    pub(crate) fn end_stores(&self) {
        let unread = |store: &&Store| !store.is_read;
        let spot = self.stores.borrow().iter().find(unread).map(|store| store.spot);
        if let Some(spot) = spot {
            let message = "the thread exits while a bulk store of it may still read shared memory: \
                           wait by `wait_read::<0>` first (`cp.async.bulk.wait_group.read 0` in PTX)";
            self.refuse_copy(message.to_owned(), spot);
        }
        self.wait_for_writes(0);
    }
}
