//! Proxies: bulk copies and the read-only path access memory separately (PTX ISA, "Proxies").
//!
//! An ordinary access comes before an access of a bulk copy only if a proxy fence is between them:
//! after the ordinary access, and before the request for the copy (PTX ISA, "Causality Order",
//! proxy-preserved base causality order). A clock has the last epoch of each thread that is ordered
//! before such a fence.

use super::cell::{Cell, Event};
use super::clock::Stamp;
use super::reach::Shape;
use super::{Races, Why};
use crate::access::Space;

/// An earlier access to this cell that a proxy separates from `new`, by a thread or a bulk copy at
/// stamp `now`.
// A copy's access to its barrier is an operation on the barrier, in every proxy.
pub(super) fn breach(cell: &Cell, new: &Event, now: &Stamp, shape: &Shape) -> Option<(Event, Why)> {
    if new.access.space == Space::ReadOnly {
        return Some((cell.write_of_grid(new, now, shape)?, Why::ReadOnly));
    }
    if !shape.is_bulk(new.thread) || new.access.reach().is_some() {
        return None;
    }
    Some((cell.unfenced(new, now, shape)?, Why::Proxy(new.access.space)))
}

impl Races {
    /// A thread's fence between ordinary accesses to this memory and bulk copies.
    pub(crate) fn fence_proxies(&self, thread: u32, space: Space) {
        self.state.borrow_mut().threads[thread as usize].now.fence_proxies(space);
    }

    /// Whether a thread knows what `other` did in this epoch.
    pub(crate) fn follows(&self, thread: u32, (other, epoch): (u32, u32)) -> bool {
        self.state.borrow().threads[thread as usize].now.follows(other, epoch)
    }

    /// Whether a proxy fence of shared memory is between the accesses of `other` in this epoch and this thread's
    /// next access.
    pub(crate) fn is_fenced(&self, thread: u32, (other, epoch): (u32, u32)) -> bool {
        self.state.borrow().threads[thread as usize].now.clock.fenced(Space::Shared, other) >= epoch
    }
}
