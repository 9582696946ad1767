//! Finds loops that wait for another thread without yielding: a thread reads the same memory
//! repeatedly.
//!
//! While memory changes, threads are not watched. Once a launch has made [`QUIET`] accesses without
//! a changed byte, each thread is watched: its consecutive accesses to a few words by a few calls,
//! without a spin, are counted. A thread that reads through an array touches new words, and a
//! thread that computes eventually writes a result, so neither is reported.

use core::cell::{Cell, RefCell};

use crate::place::Place;

/// Accesses of a launch without a change of memory before threads are watched.
pub(crate) const QUIET: u64 = 1 << 16;
/// A watched thread is stuck after this many accesses in a row.
const STUCK: u32 = 1 << 18;
/// Maximum number of pairs of a word and a call that count as few.
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
    /// Records an access to `address` by `call`, after `changes` changes of memory. Returns the
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

    /// The thread has yielded, so it is not stuck in a loop without `spin`.
    pub(crate) fn hand_over(&self) {
        self.count.set(0);
    }
}
