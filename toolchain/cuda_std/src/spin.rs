//! Waiting for another thread by looking again and again.
//!
//! Every spin of gridsync uses this module. The condition must use a volatile, relaxed or acquire
//! load: the compiler may drop a loop around a plain one (seed row R5). On the device a turn costs
//! nothing but the load. In the emulator it hands over to the other threads, which also tells the
//! emulator when nobody can go on.
//!
//! A spin on another block's action ends only if that block runs at the same time, so such a kernel
//! must be launched cooperatively.

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

/// Waits until element `at` of `words`, which only grows (modulo 2^32), has reached or passed
/// `goal`. The loop is written in PTX, so the compiler cannot change it: the seed's first cure for
/// a spin that is compiled away (row R5).
///
/// The load is `ld.volatile`, as in the seed's other cure, so the two differ only in who wrote the
/// loop. Orders nothing: a fence must follow.
#[device]
pub fn until_reached(words: Global<u32>, at: usize, goal: u32) {
    backend::access::spin_until_reached(words.part(at, 1), goal);
}

/// Waits until element `i` of `words` is 0, in a loop that no compiler can change: one inline block
/// of `ld.relaxed.gpu; setp.ne; @p bra` (seed row R5).
///
/// Orders nothing else: what is read after it may be older than the 0. If it must not be, wait by
/// [`until`] and an acquire load, or let an acquire fence follow.
// The seed's loop has a plain `ld.global.u32`. It races with the store that ends the wait, which
// the memory model does not define, and the driver's compiler may move it out of the loop. A
// relaxed load is like `ld.volatile`, but at device scope in place of system scope.
#[device]
pub fn while_nonzero(words: Global<u32>, i: usize) {
    // SAFETY: the contract of the view.
    unsafe { backend::access::wait_while_nonzero(words.at(i)) }
}

/// Turns between two looks at the clock. The emulator declares a deadlock after some turns of pure
/// spinning, so there each turn looks at the clock and the timeout comes first.
const TURNS_PER_LOOK: u32 = if cfg!(target_arch = "nvptx64") { 64 } else { 1 };

/// Waits until `condition` holds, for at most about `nanoseconds`. Returns whether it held.
///
/// On the device it reads the time only every 64 turns, so that short waits do not pay for it.
#[device]
pub fn until_timeout(nanoseconds: u64, mut condition: impl FnMut() -> bool) -> bool {
    let (mut start, mut turns) = (None, 0u32);
    loop {
        if condition() {
            return true;
        }
        backend::thread::spin();
        // One loop with a counter: an inner loop of 64 turns would be unrolled to 64 loads.
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(TURNS_PER_LOOK) {
            let now = time::global_timer();
            if now.wrapping_sub(*start.get_or_insert(now)) >= nanoseconds {
                return false;
            }
        }
    }
}
