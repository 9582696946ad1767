//! Copies between device and shared memory that run beside the threads: Hopper and later.
//!
//! One thread asks for a whole tile, and the copy engine moves it (PTX ISA, "cp.async.bulk"; CUDA's
//! name is TMA, here without tensors). Views are of the same length, begin at multiples of 16 bytes
//! and hold a multiple of 16 bytes, at least 16; [`unaligned_head`](crate::memory::View::unaligned_head) tells how far
//! an array is from that. On the device nothing of this is checked.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | [`load`] | one thread | its bytes before the end of the phase of its barrier |
//! | [`store`] | one thread | nothing |
//! | [`wait_read`], [`wait_stored`] | the thread that stored | the copy's accesses before the caller's next ones |
//! | [`fence_shared`] | each thread that wrote what will be stored | its writes to shared memory before copies of it |
//!
//! Copies go round the path of ordinary loads and stores, by a proxy of their own (PTX ISA,
//! "Async proxy"), so that an order between threads alone is not enough from ordinary stores to a copy:
//!
//! * store a tile: write it, [`fence_shared`], a barrier, then one thread calls [`store`];
//! * load over it: the end of [`wait_read`] is enough, and for ordinary reads their threads' arrival
//!   at a barrier; ordinary *stores* need [`fence_shared`] here too;
//! * load what this very kernel wrote to device memory by ordinary stores: would need
//!   `fence.proxy.async.global`, which is not offered here.
//!
//! In the emulator a load is made at once, and a store at the latest time that the functions here
//! allow. What is overwritten before it is read, or read before it is stored, gives wrong values, and
//! a data race. Shared memory that was written after the last `fence_shared` of the block ends the
//! launch when it is stored.

use crate::backend::bulk as backend;
use crate::memory::{Global, Scalar, Shared};
use cuda_std_macros::device;

/// Copies all of `from` to `to`, and tells element `at` of `barriers` so, byte by byte:
/// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`.
///
/// By one thread; an arrival at the current phase of the barrier must expect as many bytes
/// ([`arrive_expect`](crate::mbarrier::arrive_expect)). Who has waited for that phase
/// ([`wait`](crate::mbarrier::wait)) may read them.
#[device]
pub fn load<T: Scalar>(to: Shared<T>, from: Global<T>, barriers: Shared<u64>, at: usize) {
    // SAFETY: the contract of the views.
    unsafe { backend::load(to, from, barriers.at(at)) }
}

/// Copies all of `from` to `to`, as a group of its own: `cp.async.bulk.global.shared::cta.bulk_group`,
/// then `cp.async.bulk.commit_group`.
///
/// By one thread, after [`fence_shared`] and a barrier if others wrote `from`. The thread must not
/// exit, nor may `from` be written, before its [`wait_read`]; `to` may be read by others only after
/// its [`wait_stored`] and a release, or in the next launch.
#[device]
pub fn store<T: Scalar>(to: Global<T>, from: Shared<T>) {
    // SAFETY: the contract of the views.
    unsafe { backend::store(to, from) }
}

/// Waits until all but the last `N` stores of the caller have read their shared memory, which may
/// then be written again: `cp.async.bulk.wait_group.read`.
#[device]
pub fn wait_read<const N: u32>() {
    backend::wait_read::<N>();
}

/// Waits until all stores of the caller are made and visible to it: `cp.async.bulk.wait_group 0`.
#[device]
pub fn wait_stored() {
    backend::wait_stored();
}

/// Orders what the caller did in shared memory before all copies after it, its own and, behind a
/// barrier, those of others: `fence.proxy.async.shared::cta`.
///
/// By every thread that wrote. The emulator is laxer: a fence of any thread of the block counts for
/// all that was written there before.
#[device]
pub fn fence_shared() {
    backend::fence_shared();
}
