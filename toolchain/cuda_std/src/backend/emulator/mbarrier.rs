//! Barriers in shared memory: each operation updates the word atomically.

use super::{access, rmw};
use crate::memory::{Ordering, Scope, SharedSpace};
use simt::Phase;

/// Updates a barrier and releases to its waiters.
#[track_caller]
unsafe fn update(at: *mut u8, f: impl FnOnce(Phase) -> Result<Phase, String>) {
    let mut flaw = None;
    // SAFETY: the contract of a view.
    unsafe {
        rmw::update::<u64, SharedSpace>(at, Ordering::Release, Scope::Block, |word| {
            match Phase::of_word(word).and_then(f) {
                Ok(phase) => phase.settled().word(),
                Err(why) => {
                    flaw = Some(why);
                    word
                }
            }
        });
    }
    if let Some(why) = flaw {
        simt::trap(&why);
    }
}

#[track_caller]
pub(crate) unsafe fn init(at: *mut u8, arrivals: u32) {
    let first = match Phase::first(arrivals) {
        Ok(first) => first,
        Err(why) => simt::trap(&why),
    };
    // SAFETY: the contract of a view.
    unsafe { access::write::<u64, SharedSpace>(at, first.word()) }
    simt::mbarrier_init(at);
}

// The emulator does not model the part of the fence that concerns other blocks. It checks the need
// for a block barrier as for any store.
#[track_caller]
pub(crate) fn fence_init() {
    simt::mbarrier_fence();
}

#[track_caller]
pub(crate) unsafe fn arrive(at: *mut u8) {
    // SAFETY: the contract of a view.
    unsafe { update(at, |phase| phase.arrive(1)) }
}

#[track_caller]
pub(crate) unsafe fn arrive_expect(at: *mut u8, bytes: u32) {
    // SAFETY: the contract of a view.
    unsafe { update(at, |phase| phase.expect(bytes.into())?.arrive(1)) }
}

#[track_caller]
pub(crate) unsafe fn wait(at: *mut u8, parity: u32) {
    if parity > 1 {
        simt::trap(&format!("the parity of a phase is 0 or 1, not {parity}"));
    }
    loop {
        // SAFETY: the contract of a view.
        let word = unsafe { access::load::<u64, SharedSpace>(at, Ordering::Acquire, Scope::Block) };
        match Phase::of_word(word) {
            Ok(phase) if phase.parity == parity && simt::spin_for_phase(phase) => {}
            Ok(_) => return,
            Err(why) => simt::trap(&why),
        }
    }
}
