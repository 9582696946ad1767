//! Barriers in shared memory, each an element of a `Shared<u64>`: Hopper and later.
//!
//! A barrier counts phases (PTX ISA, "mbarrier"). Phase 0 ends, and phase 1 begins, as soon as all
//! the arrivals that [`init`] names have come and all the bytes that they expect have been copied by
//! [`bulk::load`](crate::bulk::load); so do the phases after it. Any thread of the block may wait for
//! the end of a phase, by the parity of its number, whether it arrives or not: unlike
//! [`sync_threads`](crate::thread::sync_threads) a barrier is for some of the threads, for as many as
//! wanted at a time, and arriving and waiting are apart.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | [`init`], then [`fence_init`] | one thread, before `sync_threads` | nothing: `sync_threads` does |
//! | [`arrive`], [`arrive_expect`] | as many threads a phase as `init` said | releases the caller's accesses before it, within the block |
//! | [`wait`] | any thread | acquires what the arrivals of the phase released, and the bytes copied |
//!
//! A ring of stages takes two barriers a stage: one that is full, at which the thread arrives that
//! loads, and one that is empty, at which the readers arrive. In turn `n` of the ring readers wait
//! for parity `n % 2` of the full one, and the loader for parity `(n + 1) % 2` of the empty one: on a
//! fresh barrier that returns at once.
//!
//! The instructions are for each thread and none is convergent: a warp whose lanes wait, or of which
//! one has waited for the others, calls [`sync_warp`](crate::warp::sync_warp) afterwards.
//!
//! A phase that cannot end hangs on the device and is a deadlock in the emulator. Arrivals beyond a
//! phase's, more than 2^20 - 1 bytes to come and words that `init` has not written, all of which PTX
//! leaves undefined, end the launch there.

use crate::backend::mbarrier as backend;
use crate::memory::Shared;
use cuda_std_macros::device;

/// Makes element `at` of `barriers` a barrier in phase 0 that takes `arrivals`, 1 to 2^20 - 1, in
/// each phase: `mbarrier.init.shared::cta.b64`.
///
/// By one thread, once for each block. Then [`fence_init`] and
/// [`sync_threads`](crate::thread::sync_threads) must come before any other use.
#[device]
pub fn init(barriers: Shared<u64>, at: usize, arrivals: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::init(barriers.at(at), arrivals) }
}

/// Releases the [`init`]s of the caller to the threads of the cluster:
/// `fence.mbarrier_init.release.cluster` (PTX ISA, "membar / fence"); CUTLASS relies on it for its
/// bulk copies too. It does nothing in the emulator.
///
/// By the thread that initialised, once for all its barriers, before
/// [`sync_threads`](crate::thread::sync_threads).
#[device]
pub fn fence_init() {
    backend::fence_init();
}

/// Arrives at the current phase, and releases what the caller did before to those who [`wait`] for
/// the phase, within the block: `mbarrier.arrive.release.cta`.
#[device]
pub fn arrive(barriers: Shared<u64>, at: usize) {
    // SAFETY: the contract of the view.
    unsafe { backend::arrive(barriers.at(at)) }
}

/// As [`arrive`], and the phase now also takes `bytes` bytes more, copied by
/// [`bulk::load`](crate::bulk::load): `mbarrier.arrive.expect_tx.release.cta`.
///
/// By the thread that loads, best before the loads.
#[device]
pub fn arrive_expect(barriers: Shared<u64>, at: usize, bytes: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::arrive_expect(barriers.at(at), bytes) }
}

/// Waits until the current phase is no longer one of this `parity`, 0 or 1, and acquires what was
/// released to the phase that has ended, within the block: a loop of
/// `mbarrier.try_wait.parity.acquire.cta`, each of which may sleep until the phase ends.
///
/// So parity 0 waits for the end of phase 0, 2, …; and parity 1 on a fresh barrier returns at once.
/// A barrier knows its current phase and the one before: who waits for a phase must not fall two
/// behind.
#[device]
pub fn wait(barriers: Shared<u64>, at: usize, parity: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::wait(barriers.at(at), parity) }
}
