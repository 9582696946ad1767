//! Asynchronous copies and their groups.

use std::collections::VecDeque;

use ptx::decode::AddressSpace;
use simt::Phase;

use super::Thread;
use crate::code::{Address, Instruction, Slot};
use crate::synchronise::AsyncCopy;

/// The copies of a thread that it has not waited for, in groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The copies in each group, the oldest first.
    groups: VecDeque<usize>,
    /// The copies that are in no group yet.
    open: usize,
}

impl Groups {
    pub(super) fn add(&mut self) {
        self.open += 1;
    }

    pub(super) fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// The copies that may be pending after a wait for all but the last `left` groups.
    pub(super) fn left(&self, left: usize) -> usize {
        self.open + self.groups.iter().rev().take(left).sum::<usize>()
    }

    /// All but the last `left` groups are complete.
    pub(super) fn complete(&mut self, left: usize) {
        self.groups.drain(..self.groups.len().saturating_sub(left));
    }
}

impl Thread<'_> {
    pub(super) fn bulk_load(
        &mut self,
        (space, to): (AddressSpace, Address),
        [from, barrier]: [Address; 2],
        bytes: Slot,
        at: &Instruction,
    ) {
        let bytes = self.used(bytes, 4, at, "the size of a copy") as usize;
        let to = self.address(to, at);
        let (to, found) = self.shared_at(space, to, bytes, at);
        if found == simt::Space::Cluster {
            self.trap(at, "a bulk copy to another block of the cluster is not supported");
        }
        let barrier = self.own_barrier_at(space, barrier, at);
        simt::bulk_load(to, self.global_at(from, at), bytes, barrier, Phase::after_copy);
        self.changes.memory();
    }

    pub(super) fn bulk_store(&mut self, to: Address, from: Address, bytes: Slot, at: &Instruction) {
        let bytes = self.used(bytes, 4, at, "the size of a copy") as usize;
        let from = self.in_shared(self.address(from, at), at);
        simt::bulk_store(self.global_at(to, at), from, bytes);
        self.bulk.add();
        self.changes.memory();
    }

    pub(super) fn wait_bulk(&mut self, left: Slot, read: bool, at: &Instruction) {
        let groups = self.used(left, 4, at, "a number of groups") as usize;
        let copies = self.bulk.left(groups);
        if read {
            simt::bulk_wait_read(copies);
        } else {
            simt::bulk_wait_stored(copies);
            self.bulk.complete(groups);
        }
        self.changes.memory();
    }

    pub(super) fn async_copy(&mut self, it: &AsyncCopy, at: &Instruction) {
        let bytes = it.bytes;
        let read = it.read.map(|read| self.used(read, 4, at, "the size of a copy") as usize);
        let ignores = it.ignore.is_some_and(|ignore| self.voted(ignore, at));
        let read = if ignores { 0 } else { read.unwrap_or(bytes) };
        if read > bytes {
            self.trap(at, &format!("a copy of {bytes} bytes cannot read {read}"));
        }
        let from = self.global_at(it.from, at);
        if !from.addr().is_multiple_of(bytes) {
            self.trap(at, &format!("a copy of {bytes} bytes from {from:?}, which is not aligned"));
        }
        let to = self.in_shared(self.address(it.to, at), at);
        simt::async_copy(to, from, bytes, read);
        self.elements.add();
        self.changes.memory();
    }

    /// Waits for all but the last `left` groups of other copies, or for all copies.
    pub(super) fn wait_async(&mut self, left: Option<Slot>, at: &Instruction) {
        match left {
            Some(left) => {
                let groups = self.used(left, 4, at, "a number of groups") as usize;
                simt::async_wait(self.elements.left(groups));
                self.elements.complete(groups);
            }
            None => {
                simt::async_wait(0);
                self.elements = Groups::default();
            }
        }
        self.changes.memory();
    }

    /// Arrives at a barrier when the other copies are made, which they are then. The arrival that is
    /// added to the phase if it `increments` is also made then.
    pub(super) fn async_arrive(
        &mut self,
        space: AddressSpace,
        address: Address,
        increments: bool,
        at: &Instruction,
    ) {
        let barrier = self.own_barrier_at(space, address, at);
        simt::async_arrive(barrier, if increments { unchanged } else { arrived });
        self.changes.memory();
    }

    /// The pointer to an address in global memory.
    fn global_at(&self, address: Address, at: &Instruction) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.address(address, at) as usize)
    }
}

/// The word of a barrier after an arrival.
fn arrived(word: u64) -> Result<u64, String> {
    Ok(Phase::of_word(word)?.arrive(1)?.settled().word())
}

/// The word of a barrier, which must be one.
fn unchanged(word: u64) -> Result<u64, String> {
    Phase::of_word(word).map(Phase::word)
}
