//! Bulk copies, which go on beside the thread that asks for them: each is a thread of its own.
//!
//! What came before the copy was asked for came before its accesses. They come before what others do
//! once these have waited for its end: at the barrier in shared memory that a load tells, or by the
//! waits of the thread that stores.

use super::Races;
use super::thread::Thread;

impl Races {
    /// A thread asks for a copy. Gives the number by which the copy goes until [`Races::end_copy`].
    pub(crate) fn begin_copy(&self, thread: u32) -> u32 {
        let state = &mut *self.state.borrow_mut();
        let copies = state.copies.entry(thread).or_default();
        let asks = &state.threads[thread as usize].now;
        // A number is free when its copy has ended, and who asks has heard of all that it did.
        let free = copies.iter().copied().find(|&copy| {
            let copy = &state.threads[copy as usize];
            !copy.is_copying && asks.knows(copy.now.thread, copy.now.epoch - 1)
        });
        let number = free.unwrap_or_else(|| {
            let number = state.threads.len() as u32;
            state.threads.push(Thread::of_copy(number));
            state.shape.copies.push(thread);
            copies.push(number);
            number
        });
        let asked = state.threads[thread as usize].now.pass_on();
        let copy = &mut state.threads[number as usize];
        copy.now.clock.absorb(&asked);
        copy.is_copying = true;
        number
    }

    /// The thread has waited for what the copy has done so far.
    pub(crate) fn wait_for_copy(&self, thread: u32, copy: u32) {
        let state = &mut *self.state.borrow_mut();
        let done = state.threads[copy as usize].pass_on();
        state.threads[thread as usize].now.clock.absorb(&done);
    }

    /// The copy has ended.
    pub(crate) fn end_copy(&self, copy: u32) {
        self.state.borrow_mut().threads[copy as usize].is_copying = false;
    }
}
