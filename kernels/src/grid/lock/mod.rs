//! Locks for the threads of a whole grid. The README in this folder documents the protocol of each.
//!
//! | lock | file | next holder | waiting threads poll |
//! |---|---|---|---|
//! | [`SpinLock`] | `spin.rs` | whichever thread polls at the right time | the one word |
//! | [`TicketLock`] | `ticket.rs` | the thread that arrived first | the one word |
//! | [`QueueLock`] | `queue.rs` | the thread that arrived first | a separate line each |
//!
//! A lock consists of words of device memory that all threads share. Each thread **attaches** to
//! it, and gets a separate handle. [`lock`](Lock::lock) returns a [`Guard`]: the thread holds the
//! lock as long as the guard lives.
//!
//! ```no_run
//! use cuda_std::prelude::*;
//! use gridsync_kernels::grid::lock::{Lock, SpinLock};
//!
//! #[kernel]
//! pub unsafe fn count(lock: Global<u32>, counter: Global<u32>) {
//!     let mut lock = SpinLock::attach(lock);
//!     let guard = lock.lock();
//!     counter.write(0, counter.read(0) + 1);
//!     drop(guard);
//! }
//! ```
//!
//! **What it orders.** Acquiring the lock is an acquire and releasing it is a release, both at
//! device scope. So a thread sees everything that earlier holders wrote while they held the lock,
//! and before that. Plain loads and stores are enough for the data that a lock guards.
//!
//! **Do not hold a lock across a block or grid barrier.** A thread that holds the lock then waits
//! for threads that wait for the lock. The same applies to a warp barrier, except through a
//! [`WarpGuard`].
//!
//! A lock lets one thread in at a time, so keep locks few and sections short. If a section only
//! does one addition, an atomic addition does it without a lock.

mod guard;
mod queue;
mod spin;
mod ticket;

pub use guard::{Guard, WarpGuard};
pub use queue::QueueLock;
pub use spin::SpinLock;
pub use ticket::TicketLock;

use core::fmt::Debug;
use cuda_std::prelude::*;
use cuda_std::trap;
use cuda_std::warp::{lane_id, sync_warp, warp_vote_any};

/// The words of a cache line of 128 bytes, which is the distance between words that different
/// threads poll.
const LINE: usize = 32;

/// A lock, as one thread sees it.
///
/// Any thread may acquire it at any time: not all threads need to, and the blocks need not be
/// co-resident. A thread that waits has started, and so has the thread that holds the lock. A
/// thread that never releases the lock, because its guard was forgotten or it waits itself, makes
/// all others wait forever.
///
/// The words of a lock are 0 before the first use. A launch in which every guard was dropped leaves
/// them ready for the next. Launches that overlap may share them.
pub trait Lock: Sized {
    /// The data that the thread that holds the lock needs to release it.
    type Held: Copy + Debug;

    /// Waits until this thread holds the lock. Stops waiting when `give_up`, which is called in
    /// each iteration, returns true. Then the thread does not hold the lock, and the result is
    /// `None`.
    ///
    /// A thread that gives up keeps its position in the queue of a [`TicketLock`] or a
    /// [`QueueLock`]. When its turn comes, the lock stays closed to all. So give up only in kernels
    /// that then end with an error; zero the words before the next use.
    fn acquire_unless(&mut self, give_up: impl FnMut() -> bool) -> Option<Self::Held>;

    /// Releases the lock.
    ///
    /// # Safety
    ///
    /// This thread has acquired the lock and not released it since. `held` is the value that
    /// acquiring returned.
    unsafe fn release(held: Self::Held);

    /// Waits for the lock without ever giving up.
    #[device]
    fn acquire(&mut self) -> Self::Held {
        match self.acquire_unless(|| false) {
            Some(held) => held,
            None => trap("a lock should not give up by itself"),
        }
    }

    /// Waits for the lock, and holds it until the guard is dropped.
    #[device]
    fn lock(&mut self) -> Guard<'_, Self> {
        let held = self.acquire();
        // SAFETY: the lock was acquired just now.
        unsafe { Guard::new(held) }
    }

    /// [`lock`](Self::lock), unless `give_up` returns true first: see
    /// [`acquire_unless`](Self::acquire_unless).
    #[device]
    fn lock_unless(&mut self, give_up: impl FnMut() -> bool) -> Option<Guard<'_, Self>> {
        let held = self.acquire_unless(give_up)?;
        // SAFETY: the lock was acquired just now.
        Some(unsafe { Guard::new(held) })
    }

    /// Runs `section` while it holds the lock.
    #[device]
    fn with<R>(&mut self, section: impl FnOnce() -> R) -> R {
        let _guard = self.lock();
        section()
    }

    /// Acquires the lock once for several lanes of a warp. They hold it together until all of them
    /// have dropped their guards.
    ///
    /// Every lane of the mask `lanes`, and no other, calls it, with the same mask. The lowest lane
    /// acquires the lock with its own handle, and later releases it. The other lanes wait in
    /// [`sync_warp`], without accessing memory; their handles are not used. So the lanes of a warp
    /// may share one node of a [`QueueLock`].
    ///
    /// In between, the lanes hold the lock at the same time. They run their sections in sequence
    /// ([`WarpGuard::in_turn`]), or combine them with warp functions.
    #[device]
    fn warp_lock(&mut self, lanes: u32) -> WarpGuard<'_, Self> {
        let held = acquire_by_first(self, lanes);
        // SAFETY: the first lane has acquired the lock just now.
        unsafe { WarpGuard::new(held, lanes) }
    }

    /// [`warp_lock`](Self::warp_lock), unless `give_up` returns true first in the lowest lane. Then
    /// every lane gets `None`.
    #[device]
    fn warp_lock_unless(
        &mut self,
        lanes: u32,
        give_up: impl FnMut() -> bool,
    ) -> Option<WarpGuard<'_, Self>> {
        let held = acquire_by_first_unless(self, lanes, give_up)?;
        // SAFETY: the first lane has acquired the lock just now.
        Some(unsafe { WarpGuard::new(held, lanes) })
    }

    /// Runs `section` in every lane of `lanes` at the same time, while the warp holds the lock. The
    /// lanes call it as they call [`warp_lock`](Self::warp_lock).
    #[device]
    fn warp_with<R>(&mut self, lanes: u32, section: impl FnOnce() -> R) -> R {
        let _guard = self.warp_lock(lanes);
        section()
    }
}

/// The lowest lane of `lanes` acquires the lock, and the other lanes see what it has acquired. Only
/// the lowest one gets a value.
#[device]
fn acquire_by_first<L: Lock>(lock: &mut L, lanes: u32) -> Option<L::Held> {
    let first = lane_id() == lanes.trailing_zeros();
    let held = if first { Some(lock.acquire()) } else { None };
    // The other lanes wait here.
    sync_warp(lanes);
    held
}

/// [`acquire_by_first`], unless `give_up` returns true first in the lowest lane.
#[device]
fn acquire_by_first_unless<L: Lock>(
    lock: &mut L,
    lanes: u32,
    give_up: impl FnMut() -> bool,
) -> Option<Option<L::Held>> {
    let first = lane_id() == lanes.trailing_zeros();
    let held = if first { lock.acquire_unless(give_up) } else { None };
    if warp_vote_any(lanes, held.is_some()) {
        // A vote orders no memory.
        sync_warp(lanes);
        Some(held)
    } else {
        None
    }
}
