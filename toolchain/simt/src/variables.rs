//! The shared variables of a thread's block, and those of its cluster.

use core::cell::RefCell;

use crate::dim::Spot;
use crate::fault::Fault;
use crate::here::Here;
use crate::memory::Label;
use crate::shared::{SharedError, SharedMemory};

impl Here<'_> {
    /// The static shared variable `name`.
    pub(crate) fn variable(
        &self,
        name: &'static str,
        bytes: usize,
        align: usize,
        spot: Spot,
    ) -> *mut u8 {
        self.variable_in(&self.shared, (name, bytes, align), spot)
    }

    /// The static shared variable of this name, size and alignment in the memory of a block.
    fn variable_in(
        &self,
        shared: &RefCell<SharedMemory>,
        (name, bytes, align): (&'static str, usize, usize),
        spot: Spot,
    ) -> *mut u8 {
        let limit = self.grid().shared_per_block;
        // The borrow ends before a fault unwinds through destructors that may borrow again.
        let found = shared.borrow_mut().variable(name, bytes, align, limit);
        found.unwrap_or_else(|error| {
            let site = self.site(spot);
            self.fail(match error {
                SharedError::Limit { requested } => {
                    Fault::SharedLimit { site, name, requested, limit }
                }
                SharedError::Conflict { first } => {
                    Fault::SharedConflict { site, name, first, now: bytes }
                }
            })
        })
    }

    /// The address, in block `rank` of the cluster, that corresponds to these bytes of the own
    /// block's shared memory.
    pub(crate) fn peer_address(
        &self,
        (address, bytes): (usize, usize),
        rank: u32,
        spot: Spot,
    ) -> *mut u8 {
        let rank = rank as usize;
        let trap =
            |message: String| -> ! { self.fail(Fault::Trap { site: self.site(spot), message }) };
        if rank >= self.peers.count() {
            let blocks = self.peers.count();
            trap(format!("a cluster of {blocks} blocks has no block {rank}: ranks start at 0"));
        }
        let own = self.shared.borrow().arena().find(address, bytes).map(|(region, offset)| {
            // Shared variables are never aligned to more than was requested.
            let align = 1 << region.address().trailing_zeros();
            (region.label(), region.size(), align, offset)
        });
        let peer = self.peers.made(rank);
        match own {
            Some((Label::StaticShared(name), size, align, offset)) => {
                self.variable_in(peer, (name, size, align), spot).wrapping_add(offset)
            }
            Some((_, _, _, offset)) => peer.borrow().dynamic().0.wrapping_add(offset),
            None => trap(format!(
                "{bytes} bytes at {address:#x} are not in one variable of the block's shared \
                 memory: map a view of the own block"
            )),
        }
    }
}
