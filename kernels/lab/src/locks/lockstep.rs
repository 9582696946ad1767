//! The deadlock of lanes that run in lockstep, and its fix.
//!
//! Before Volta a warp had one program counter. After a loop, the lanes that had left it waited
//! until the last one left it too. In a loop that acquires a lock, the lane that holds it then
//! waits for the lanes that wait for the lock. Since Volta each lane has a separate program
//! counter, and this happens only if the program itself makes the lanes wait for each other.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp, warp_vote_all};
use gridsync_kernels::grid::lock::SpinLock;

/// Adds one to `counter` in each lane under a lock, with the lanes in lockstep after the loop that
/// acquires the lock: **wrong**, on purpose. It never ends. Launch it in the emulator only.
///
/// # Safety
///
/// `lock` and `counter` have one element each, both 0. The threads are full warps.
#[kernel]
pub unsafe fn locks_lockstep(lock: Global<u32>, counter: Global<u32>) {
    spin::until(|| lock.compare_exchange(0, 0, 1, Ordering::Acquire, Scope::Device) == 0);
    // The lane that holds the lock waits here for the lanes that are still in the loop.
    sync_warp(FULL_MASK);
    counter.write(0, counter.read(0) + 1);
    lock.store(0, 0, Ordering::Release, Scope::Device);
}

/// The fixed version: the section and the release are in the loop. So whenever the lanes
/// synchronise, none of them holds the lock. This works on any GPU.
///
/// # Safety
///
/// Same as for [`locks_lockstep`].
#[kernel]
pub unsafe fn locks_lockstep_cured(lock: Global<u32>, counter: Global<u32>) {
    let mut lock = SpinLock::attach(lock);
    let mut done = false;
    spin::until(|| {
        if !done && let Some(guard) = lock.try_lock() {
            counter.write(0, counter.read(0) + 1);
            drop(guard);
            done = true;
        }
        warp_vote_all(FULL_MASK, done)
    });
}
