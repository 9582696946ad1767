//! Waiting for another thread by looking again and again.
//!
//! Every spin of gridsync goes through this module. The condition must look by a volatile, relaxed
//! or acquire load: the compiler is free to drop a loop around a plain one (seed row R5). On the
//! device a turn costs nothing but the look; in the emulator it hands over to the other threads,
//! which is also how the emulator notices that nobody can go on.
//!
//! Spinning on what a thread of another block does ends only if that block runs at the same time:
//! such a kernel must be launched cooperatively.

use crate::backend;
use crate::time;

/// Waits until `condition` holds.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        backend::thread::spin();
    }
}

/// Turns between two looks at the clock. The emulator takes a launch for deadlocked after some turns
/// of nothing but spinning: there each turn looks, so that the timeout comes first.
const TURNS_PER_LOOK: u32 = if cfg!(target_arch = "nvptx64") { 64 } else { 1 };

/// Waits until `condition` holds, for at most about `nanoseconds`. Says whether it held.
///
/// On the device the time is looked up only every 64 turns, off the path of a wait that ends soon.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn until_timeout(nanoseconds: u64, mut condition: impl FnMut() -> bool) -> bool {
    let (mut start, mut turns) = (None, 0u32);
    loop {
        if condition() {
            return true;
        }
        backend::thread::spin();
        // One loop with a counter: an inner loop of 64 turns would be unrolled, 64 times the look.
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(TURNS_PER_LOOK) {
            let now = time::global_timer();
            if now.wrapping_sub(*start.get_or_insert(now)) >= nanoseconds {
                return false;
            }
        }
    }
}
