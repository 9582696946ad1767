//! Waits for another thread by loading in a loop.
//!
//! Every spin loop of gridsync uses this module. The condition must use a volatile, relaxed or
//! acquire load: the compiler may drop a loop around a plain one. On the device an iteration costs
//! only the load. In the emulator it lets the other threads run, which is also how the emulator
//! detects that no thread can make progress.
//!
//! A spin on another block's action ends only if that block runs at the same time, so such a kernel
//! must be launched cooperatively.

use crate::backend;
use crate::memory::Global;
use crate::time;
use cuda_std_macros::instruction;

/// Waits until `condition` holds.
#[instruction]
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() && backend::thread::spin() {}
}

/// Waits until element `at` of `words`, which only grows (modulo 2^32), has reached or passed
/// `goal`. The loop is written in PTX, so that the compiler cannot remove it.
///
/// The load is `ld.volatile`, so only the loop differs from [`until`] with a volatile load. It does
/// not order memory: a fence must follow.
#[instruction]
pub fn until_reached(words: Global<u32>, at: usize, goal: u32) {
    backend::access::spin_until_reached(words.part(at, 1), goal);
}

/// Waits until element `i` of `words` is 0, in a loop that no compiler can change: one inline block
/// of `ld.relaxed.gpu; setp.ne; @p bra`.
///
/// It does not order other accesses: a later read may return a value older than the 0. To prevent
/// that, wait with [`until`] and an acquire load, or add an acquire fence after it.
// With a plain `ld.global.u32`, the load would race with the store that ends the wait. The memory
// model does not define that, and the driver's compiler may move the load out of the loop. A
// relaxed load is like `ld.volatile`, but at device scope instead of system scope.
#[instruction]
pub fn while_nonzero(words: Global<u32>, i: usize) {
    // SAFETY: the contract of the view.
    unsafe { backend::access::wait_while_nonzero(words.at(i)) }
}

/// Iterations between two polls of the clock. The emulator reports a deadlock after some iterations
/// of pure spinning, so there each iteration polls the clock and the timeout comes first.
const TURNS_PER_LOOK: u32 = if cfg!(target_arch = "nvptx64") { 64 } else { 1 };

/// Waits until `condition` holds, for at most about `nanoseconds`. Returns whether it held.
///
/// On the device it polls the clock only every 64 iterations, to keep short waits cheap.
#[instruction]
pub fn until_timeout(nanoseconds: u64, mut condition: impl FnMut() -> bool) -> bool {
    let (mut start, mut turns) = (None, 0u32);
    loop {
        if condition() {
            return true;
        }
        if !backend::thread::spin() {
            return true;
        }
        // One loop with a counter: an inner loop of 64 iterations would be unrolled to 64 loads.
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(TURNS_PER_LOOK) {
            let now = time::global_timer();
            if now.wrapping_sub(*start.get_or_insert(now)) >= nanoseconds {
                return false;
            }
        }
    }
}
