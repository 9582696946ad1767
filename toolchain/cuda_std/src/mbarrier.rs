//! Barriers in shared memory, each an element of a `Shared<u64>`. Hopper and later.
//!
//! A barrier counts phases (PTX ISA, "mbarrier"). A phase ends, and the next begins, as soon as all
//! arrivals that [`init`] set have happened and all bytes that they expect have been copied by
//! [`bulk::load`](crate::bulk::load). The first phase is phase 0. Any thread of the block may wait
//! for the end of a phase, by the parity of its number, whether it arrives or not. Unlike
//! [`sync_threads`](crate::thread::sync_threads), a barrier is for a subset of the threads, a block
//! may have several, and arriving and waiting are separate.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | [`init`], then [`fence_init`] | one thread, before `sync_threads` | nothing: `sync_threads` does |
//! | [`arrive`], [`arrive_expect`] | as many threads per phase as `init` set | releases the caller's accesses before it, within the block |
//! | [`wait`] | any thread | acquires what the arrivals of the phase released, and the bytes copied |
//!
//! A ring of stages needs two barriers per stage. The loading thread arrives at the full one, the
//! readers at the empty one. In round `n` of the ring, readers wait for parity `n % 2` of the full
//! barrier, and the loader waits for parity `(n + 1) % 2` of the empty one, which returns at once
//! on a fresh barrier.
//!
//! The empty barrier orders the readers before the loader, but not before its copy: the copy uses
//! the async proxy, and no barrier orders accesses of different proxies (PTX ISA, "Async proxy").
//! So each reader calls [`bulk::fence_shared`](crate::bulk::fence_shared) after it has read the
//! stage and before it arrives at the empty barrier. Without this fence the next copy can
//! overwrite what it is still reading; in the emulator the launch ends. The full barrier needs no
//! such fence: its phase ends when the bytes are visible to the threads that wait for it.
//!
//! The instructions are per thread and not convergent. If the lanes of a warp wait, or one of them
//! has waited for the others, the warp calls [`sync_warp`](crate::warp::sync_warp) afterwards.
//!
//! A phase that cannot end hangs on the device and is a deadlock in the emulator. PTX leaves these
//! undefined, and the emulator ends the launch: more arrivals than the phase accepts, 2^20 or more
//! pending bytes, and words that `init` has not written.

use crate::backend::mbarrier as backend;
use crate::memory::Shared;
use cuda_std_macros::instruction;

/// Makes element `at` of `barriers` a barrier in phase 0 that needs `arrivals`, 1 to 2^20 - 1, in
/// each phase: `mbarrier.init.shared::cta.b64`.
///
/// Called by one thread, once for each block. Then [`fence_init`] and
/// [`sync_threads`](crate::thread::sync_threads) must come before any other use.
#[instruction]
pub fn init(barriers: Shared<u64>, at: usize, arrivals: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::init(barriers.at(at), arrivals) }
}

/// Releases the caller's [`init`]s to the threads of the cluster:
/// `fence.mbarrier_init.release.cluster` (PTX ISA, "membar / fence"). CUTLASS relies on it for its
/// bulk copies too. In the emulator, a [`bulk::load`](crate::bulk::load) to a barrier without it
/// ends the launch.
///
/// Called by the thread that initialised, once for all its barriers, before
/// [`sync_threads`](crate::thread::sync_threads).
#[instruction]
pub fn fence_init() {
    backend::fence_init();
}

/// Arrives at the current phase, and releases the caller's earlier accesses to the threads of the
/// block that [`wait`] for the phase: `mbarrier.arrive.release.cta`.
#[instruction]
pub fn arrive(barriers: Shared<u64>, at: usize) {
    // SAFETY: the contract of the view.
    unsafe { backend::arrive(barriers.at(at)) }
}

/// Like [`arrive`], but the phase now also expects `bytes` more bytes, copied by
/// [`bulk::load`](crate::bulk::load): `mbarrier.arrive.expect_tx.release.cta`.
///
/// Called by the thread that loads, preferably before the loads.
#[instruction]
pub fn arrive_expect(barriers: Shared<u64>, at: usize, bytes: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::arrive_expect(barriers.at(at), bytes) }
}

/// Waits until the current phase no longer has this `parity`, 0 or 1, and acquires what was
/// released to the phase that ended, within the block. A loop of
/// `mbarrier.try_wait.parity.acquire.cta`, each of which may sleep until the phase ends.
///
/// So parity 0 waits for the end of phase 0, 2, …, and parity 1 returns at once on a fresh barrier.
/// A barrier stores only its current phase and the previous one, so a waiting thread must not be
/// two phases late.
#[instruction]
pub fn wait(barriers: Shared<u64>, at: usize, parity: u32) {
    // SAFETY: the contract of the view.
    unsafe { backend::wait(barriers.at(at), parity) }
}
