//! Guards: a lock is held as long as its guard lives.

use super::Lock;
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::protocol::Caller;
use cuda_std::warp::{lane_id, sync_warp};

/// One thread holds the lock until this is dropped.
///
/// A guard that is forgotten ([`core::mem::forget`]) never releases the lock.
#[derive(Debug)]
#[must_use = "the lock is released when the guard is dropped"]
pub struct Guard<'a, L: Lock> {
    held: L::Held,
    taken: Caller,
    /// A handle holds its lock at most once at a time.
    handle: PhantomData<&'a mut L>,
}

impl<L: Lock> Guard<'_, L> {
    /// A guard for a lock that is held.
    ///
    /// # Safety
    ///
    /// `held` is from the handle that the guard borrows, and nothing else will release the lock.
    #[device]
    pub(super) unsafe fn new(held: L::Held) -> Self {
        Self { held, taken: Caller::here(), handle: PhantomData }
    }
}

impl<L: Lock> Drop for Guard<'_, L> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the guard was made for a lock that is held.
        self.taken.within(|| unsafe { L::release(self.held) });
    }
}

/// Lanes of one warp hold the lock together until each of them has dropped its guard.
///
/// All lanes drop their guards at the same point of the program. The accesses of all of them before
/// that are released.
#[derive(Debug)]
#[must_use = "the lock is released when the guards are dropped"]
pub struct WarpGuard<'a, L: Lock> {
    /// The data that the lowest lane needs to release the lock. `None` in the other lanes.
    held: Option<L::Held>,
    lanes: u32,
    taken: Caller,
    handle: PhantomData<&'a mut L>,
}

impl<L: Lock> WarpGuard<'_, L> {
    /// A guard for a lock that the lowest lane of `lanes` holds.
    ///
    /// # Safety
    ///
    /// In that lane, `held` is from the handle that the guard borrows, and nothing else will
    /// release the lock.
    #[device]
    pub(super) unsafe fn new(held: Option<L::Held>, lanes: u32) -> Self {
        Self { held, lanes, taken: Caller::here(), handle: PhantomData }
    }

    /// Runs `section` once in each lane, in sequence, the lowest lane first. Each lane sees the
    /// writes of the lanes before it. Called by all lanes that hold the lock.
    #[device]
    pub fn in_turn(&self, mut section: impl FnMut()) {
        let mut rest = self.lanes;
        while rest != 0 {
            if lane_id() == rest.trailing_zeros() {
                section();
            }
            sync_warp(self.lanes);
            rest &= rest - 1;
        }
    }
}

impl<L: Lock> Drop for WarpGuard<'_, L> {
    #[inline(always)]
    fn drop(&mut self) {
        self.taken.within(|| {
            // The release below then covers the accesses of all lanes.
            sync_warp(self.lanes);
            if let Some(held) = self.held {
                // SAFETY: the guard was made for a lock that this lane holds.
                unsafe { L::release(held) }
            }
        });
    }
}
