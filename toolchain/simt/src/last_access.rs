//! The last access of a thread, until its next call: the bytes being written, or the old value
//! being read.
//!
//! The caller of [`access`](crate::access) reads or writes the bytes itself, after the checks. No
//! other emulated thread runs before this one's next call. So that call can see what was written,
//! and restore the value that an old one replaced.

use core::cell::Cell;

use crate::memory::Region;
use crate::race::Old;
use crate::world::{World, bump};

/// The last access of a thread.
#[derive(Debug, Default)]
pub(crate) struct LastAccess {
    watch: Cell<Option<Bytes>>,
    shown: Cell<Option<Bytes>>,
}

/// Bytes of memory, and their value before the access.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    at: *mut u8,
    bytes: usize,
    before: u128,
}

impl LastAccess {
    /// Records bytes that the caller is about to write, to distinguish a change from a rewrite of
    /// the same value.
    pub(crate) fn watch(
        &self,
        world: &World<'_>,
        region: &Region,
        (offset, bytes): (usize, usize),
    ) {
        self.settle(world);
        if bytes > size_of::<u128>() {
            bump(&world.changes);
            if let Some(guide) = &world.guide {
                guide.wrote(true);
            }
            return;
        }
        let before = bits(region, offset, bytes);
        self.watch.set(Some(Bytes { at: region.at(offset), bytes, before }));
    }

    /// Lets the caller read an old value. Unless the value is stuck, this counts as a change of
    /// memory, because a polling thread sees the last value eventually.
    pub(crate) fn show(
        &self,
        world: &World<'_>,
        region: &Region,
        (offset, bytes): (usize, usize),
        old: Old,
    ) {
        let at = region.at(offset);
        self.shown.set(Some(Bytes { at, bytes, before: bits(region, offset, bytes) }));
        // SAFETY: the bytes are in this live region. Only this thread's next read sees the old
        // value, because `settle` runs before anything else.
        unsafe { store(at, bytes, old.bits) };
        if !old.is_stuck {
            bump(&world.changes);
        }
    }

    /// Whether the thread is reading an old value.
    pub(crate) fn is_old(&self) -> bool {
        self.shown.get().is_some()
    }

    /// Ends the access. Restores the last value if an old one was shown. Counts a change if a write
    /// changed anything. If memory is weak and another write is the location's last, restores that
    /// write's value. Returns whether a write changed anything.
    pub(crate) fn settle(&self, world: &World<'_>) -> bool {
        if let Some(Bytes { at, bytes, before }) = self.shown.take() {
            // SAFETY: regions of a launch live at least as long as its threads: global ones are
            // borrowed by the world, and threads keep the shared ones of their cluster.
            unsafe { store(at, bytes, before) };
        }
        if let Some(Bytes { at, bytes, before }) = self.watch.take() {
            // SAFETY: the region is still live: the world or the thread keeps it.
            let new = unsafe { load(at, bytes) };
            let changed = new != before;
            if changed {
                bump(&world.changes);
            }
            if let Some(guide) = &world.guide {
                guide.wrote(changed);
            }
            let last = world.races.as_ref().and_then(|races| races.wrote(new));
            if let Some(recorder) = &world.recorder {
                recorder.wrote(new, last.is_some());
            }
            if let Some(last) = last {
                // SAFETY: the region is still live: the world or the thread keeps it.
                unsafe { store(at, bytes, last) };
            }
            return changed;
        }
        false
    }
}

/// Bytes of a region as a number. At most 16.
pub(crate) fn bits(region: &Region, offset: usize, bytes: usize) -> u128 {
    assert!(
        bytes <= size_of::<u128>() && offset + bytes <= region.size(),
        "an access is checked first"
    );
    // SAFETY: the bytes are in this live region, and no other fiber is running.
    unsafe { load(region.at(offset), bytes) }
}

/// The bytes as a number, for comparison. At most 16 bytes.
///
/// # Safety
/// `bytes` bytes from `at` are readable, and `bytes <= 16`.
unsafe fn load(at: *const u8, bytes: usize) -> u128 {
    // SAFETY: each arm reads `bytes` bytes, which are readable by the contract, and does not assume
    // alignment. The destination has 16 bytes.
    unsafe {
        match bytes {
            4 => at.cast::<u32>().read_unaligned().into(),
            8 => at.cast::<u64>().read_unaligned().into(),
            16 => at.cast::<u128>().read_unaligned(),
            _ => {
                let mut number = 0;
                at.copy_to_nonoverlapping((&raw mut number).cast(), bytes);
                number
            }
        }
    }
}

/// Writes the bytes of a number returned by [`load`].
///
/// # Safety
/// `bytes` bytes from `at` are writable, and `bytes <= 16`.
unsafe fn store(at: *mut u8, bytes: usize, number: u128) {
    // SAFETY: the bytes are writable by the contract, and the number has 16 bytes.
    unsafe { at.copy_from_nonoverlapping((&raw const number).cast(), bytes) };
}
