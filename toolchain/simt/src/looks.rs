//! Finds loops that wait for another thread and do not hand over: a thread reads the same memory
//! over and over.
//!
//! While memory changes, no thread is watched. Once a launch has made [`QUIET`] accesses without a
//! changed byte, each thread is watched: its accesses in a row to a few words by a few calls,
//! without a spin, are counted. A thread that reads through an array comes to new words, and one
//! that computes writes a result at some time, so neither is reported.

use core::cell::{Cell, RefCell};

use crate::dim::Place;

/// Accesses of a launch without a change of memory before threads are watched.
pub(crate) const QUIET: u64 = 1 << 16;
/// A watched thread is stuck after this many accesses in a row.
const STUCK: u32 = 1 << 18;
/// The most pairs of a word and a call that count as few.
const FEW: usize = 32;

/// The accesses in a row of one watched thread.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    count: Cell<u32>,
    /// Changes of memory so far.
    changes: Cell<u64>,
    /// The words, each with the call that accessed it.
    of: RefCell<Vec<(usize, Place)>>,
}

impl Looks {
    /// Notes an access to `address` by `call`, after `changes` changes of memory. Returns the
    /// number of accesses in a row if the thread is stuck.
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

    /// The thread hands over, so it knows that it waits.
    pub(crate) fn hand_over(&self) {
        self.count.set(0);
    }
}
