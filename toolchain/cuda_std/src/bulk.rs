//! Asynchronous copies between device and shared memory. Hopper and later.
//!
//! One thread requests a whole tile, and the copy engine moves it (PTX ISA, "cp.async.bulk"; CUDA
//! calls it TMA, here without tensors). Both views have the same length, begin at multiples of 16
//! bytes and hold a multiple of 16 bytes, at least 16.
//! [`unaligned_head`](crate::memory::Global::unaligned_head) returns how far an array is from that
//! alignment. The device checks none of this.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | [`load`] | one thread | its bytes before the end of the phase of its barrier |
//! | [`store`] | one thread | nothing |
//! | [`wait_read`], [`wait_stored`] | the thread that stored | the copy's accesses before the caller's next ones |
//! | [`fence_shared`] | each thread that wrote what will be stored, or read or wrote what will be loaded over | its accesses to shared memory before copies of it |
//!
//! Copies bypass the path of ordinary loads and stores: they use their own proxy (PTX ISA, "Async
//! proxy"). So ordering threads is not enough to order ordinary stores before a copy:
//!
//! * to store a tile: write it, call [`fence_shared`], cross a barrier, then one thread calls
//!   [`store`];
//! * to load over a tile: after a [`store`], it is enough that [`wait_read`] has returned. After
//!   ordinary reads or stores, the threads that made them call [`fence_shared`] and arrive at a
//!   barrier;
//! * to load device memory that this kernel wrote by ordinary stores, or to store over device
//!   memory that it read or wrote by ordinary accesses: this needs `fence.proxy.async.global`,
//!   which this crate does not offer.
//!
//! One fence suffices for several threads if it comes after them: they arrive at a barrier, and a
//! thread that has waited there calls [`fence_shared`] and arrives at the next one.
//!
//! In the emulator, the seed of the schedule decides when a copy happens, between its request and
//! the wait for it. Data that is overwritten before it is read, or read before it is stored, gives
//! wrong values and a data race. A missing fence ends the launch, and so does a block that ends
//! before its loads.

use crate::backend::bulk as backend;
use crate::memory::{Global, Scalar, Shared};
use cuda_std_macros::instruction;

/// Copies all of `from` to `to`, and counts the bytes at element `at` of `barriers`:
/// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`.
///
/// Called by one thread, after [`fence_shared`] and a barrier if other threads have read or written
/// `to`. An arrival at the barrier's current phase must expect the same number of bytes
/// ([`arrive_expect`](crate::mbarrier::arrive_expect)). A thread that has waited for that phase
/// ([`wait`](crate::mbarrier::wait)) may read the bytes. Some thread must wait before the block
/// ends.
#[instruction]
pub fn load<T: Scalar>(to: Shared<T>, from: Global<T>, barriers: Shared<u64>, at: usize) {
    // SAFETY: the contract of the views.
    unsafe { backend::load(to, from, barriers.at(at)) }
}

/// Copies all of `from` to `to`, as its own group:
/// `cp.async.bulk.global.shared::cta.bulk_group`, then `cp.async.bulk.commit_group`.
///
/// Called by one thread, after [`fence_shared`] and a barrier if other threads wrote `from`. Until
/// its [`wait_read`] returns, the thread must not exit and nothing may write `from`. Other threads
/// may read `to` only after its [`wait_stored`] and a release, or in the next launch.
#[instruction]
pub fn store<T: Scalar>(to: Global<T>, from: Shared<T>) {
    // SAFETY: the contract of the views.
    unsafe { backend::store(to, from) }
}

/// Waits until all but the last `N` stores of the caller have read their shared memory, which may
/// then be overwritten: `cp.async.bulk.wait_group.read`.
#[instruction]
pub fn wait_read<const N: u32>() {
    backend::wait_read::<N>();
}

/// Waits until all stores of the caller are done and visible to it: `cp.async.bulk.wait_group 0`.
#[instruction]
pub fn wait_stored() {
    backend::wait_stored();
}

/// Orders the caller's accesses to shared memory before all later copies (its own and, after a
/// barrier, those of other threads): `fence.proxy.async.shared::cta`.
///
/// Called by every thread that wrote, or by one that a barrier orders after them. Without race
/// detection and weak memory, the emulator is less strict: a fence by any thread of the block then
/// covers all earlier writes there.
#[instruction]
pub fn fence_shared() {
    backend::fence_shared();
}
