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
use crate::memory::Global;
use crate::time;
use cuda_std_macros::device;

/// Waits until `condition` holds.
#[device]
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        backend::thread::spin();
    }
}

/// Waits until element `at` of `words`, which only grows (modulo 2^32), has come to `goal` or past
/// it, by a loop that is written in PTX, out of the compiler's reach: the seed's first cure of the
/// spin that is compiled away (row R5).
///
/// The load is `ld.volatile`, as in the seed's other cure, so that the two differ in who wrote the
/// loop and in nothing else. Orders nothing: a fence must follow.
#[device]
pub fn until_reached(words: Global<u32>, at: usize, goal: u32) {
    backend::access::spin_until_reached(words.part(at, 1), goal);
}

/// Waits until element `i` of `words` is 0, in a loop that no compiler sees into: one inline block
/// of `ld.relaxed.gpu; setp.ne; @p bra` (seed row R5).
///
/// Orders nothing else: what is read after it may be older than the 0. Where it must not be, wait
/// by [`until`] and an acquire load, or let an acquire fence follow.
// The seed's loop has a plain `ld.global.u32`. It races with the store that ends the wait, which
// the memory model does not define, and the driver's compiler may move it out of the loop in turn.
// A relaxed load is what `ld.volatile` is too, but of the device, not of the system.
#[device]
pub fn while_nonzero(words: Global<u32>, i: usize) {
    // SAFETY: the contract of the view.
    unsafe { backend::access::wait_while_nonzero(words.at(i)) }
}

/// Turns between two looks at the clock. The emulator takes a launch for deadlocked after some turns
/// of nothing but spinning: there each turn looks, so that the timeout comes first.
const TURNS_PER_LOOK: u32 = if cfg!(target_arch = "nvptx64") { 64 } else { 1 };

/// Waits until `condition` holds, for at most about `nanoseconds`. Says whether it held.
///
/// On the device the time is looked up only every 64 turns, off the path of a wait that ends soon.
#[device]
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
