//! Loops that wait for another thread and do not hand over: the watch for a thread that looks at the
//! same memory over and over.
//!
//! While memory changes nobody is watched. When a launch has made [`QUIET`] accesses and no byte has
//! changed, each thread's further ones are: counted are those in a row that are of a few words by a few
//! calls, without a spin. So a thread that reads on through an array is left alone, since it comes to
//! new words, and so is one that computes, since it writes a result at some time.

use core::cell::{Cell, RefCell};

use crate::dim::Place;

/// Accesses of a launch without a change of memory, before threads are watched.
pub(crate) const QUIET: u64 = 1 << 16;
/// Accesses in a row by which a thread that is watched is stuck.
const STUCK: u32 = 1 << 18;
/// So many words and calls are few.
const FEW: usize = 32;

/// The accesses of one thread in a row, while it is watched.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    count: Cell<u32>,
    /// Changes of memory so far.
    changes: Cell<u64>,
    /// The words, and the calls.
    of: RefCell<Vec<(usize, Place)>>,
}

impl Looks {
    /// An access to `address` by `call`, with so many `changes` of memory so far. Says how many there
    /// have been in a row, if the thread is stuck.
    pub(crate) fn look(&self, address: usize, call: Place, changes: u64) -> Option<u32> {
        let mut of = self.of.borrow_mut();
        if self.changes.replace(changes) != changes || of.len() > FEW {
            of.clear();
        }
        if !of.contains(&(address, call)) {
            of.push((address, call));
            self.count.set(0);
            return None;
        }
        let count = self.count.get() + 1;
        self.count.set(count);
        (count >= STUCK).then_some(count)
    }

    /// The thread hands over: it says itself that it waits.
    pub(crate) fn hand_over(&self) {
        self.count.set(0);
    }
}
