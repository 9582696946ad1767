//! Clocks and sleep.

use crate::backend::time as backend;
use cuda_std_macros::instruction;

/// The cycle counter of this thread's multiprocessor: `%clock64`. Counters of different
/// multiprocessors are unrelated. In the emulator it counts the schedule's steps.
#[instruction]
pub fn clock() -> u64 {
    backend::clock()
}

/// Nanoseconds of a device-wide clock: `%globaltimer`. Its resolution may be a microsecond or more.
#[instruction]
pub fn global_timer() -> u64 {
    backend::global_timer()
}

/// Suspends the thread for about `nanoseconds`, between 0 and twice as long: `nanosleep.u32`
/// (sm_70; at most one millisecond).
#[instruction]
pub fn nanosleep(nanoseconds: u32) {
    backend::nanosleep(nanoseconds);
}
