//! A bulk copy runs concurrently with the thread that starts it, so it is treated as a thread.
//!
//! Accesses before the request come before the copy's accesses. These come before accesses that
//! follow a wait for the copy's end: at the barrier in shared memory that a load reports to, or by
//! a wait of the thread that stores.

use super::Races;
use super::thread::Thread;

impl Races {
    /// A thread starts a copy. Returns the copy's number, valid until [`Races::end_copy`].
    /// A bulk copy accesses memory through another proxy.
    pub(crate) fn begin_copy(&self, thread: u32, is_bulk: bool) -> u32 {
        let state = &mut *self.state.borrow_mut();
        let copies = state.copies.entry(thread).or_default();
        let asks = &state.threads[thread as usize].now;
        // A number is free once its copy has ended and the requesting thread knows all that it did.
        let shape = &state.shape;
        let free = copies.iter().copied().find(|&copy| {
            if shape.is_bulk(copy) != is_bulk {
                return false;
            }
            let copy = &state.threads[copy as usize];
            !copy.is_copying && asks.knows(copy.now.thread, copy.now.epoch - 1)
        });
        let number = free.unwrap_or_else(|| {
            let number = state.threads.len() as u32;
            state.threads.push(Thread::of_copy(number));
            state.shape.copies.push((thread, is_bulk));
            copies.push(number);
            number
        });
        let asked = state.threads[thread as usize].now.pass_on();
        let copy = &mut state.threads[number as usize];
        copy.now.clock.absorb(&asked);
        copy.is_copying = true;
        number
    }

    /// Ends the epoch of a thread or a copy, and returns it: a thread that knows this epoch knows
    /// everything done so far.
    pub(crate) fn end_epoch(&self, thread: u32) -> u32 {
        self.state.borrow_mut().threads[thread as usize].now.pass_on().epoch
    }

    /// The thread has waited for the copy up to this epoch. It does not learn what the copy knows.
    pub(crate) fn wait_for_copy(&self, thread: u32, (copy, epoch): (u32, u32)) {
        self.state.borrow_mut().threads[thread as usize].now.clock.raise(copy, epoch);
    }

    /// The copy has ended.
    pub(crate) fn end_copy(&self, copy: u32) {
        self.state.borrow_mut().threads[copy as usize].is_copying = false;
    }
}
