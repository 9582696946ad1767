//! Reports of a thread's actions to a search and a recording.

use crate::access::{Access, AccessKind, Space};
use crate::dim::Spot;
use crate::here::Here;
use crate::last_access;
use crate::memory::{Label, Region};
use crate::replay::{Deed, Done, Touch};
use crate::search::{Object, Touched};
use std::sync::Arc;

impl Here<'_> {
    /// Reports the thread's action to a recorder, if there is one.
    pub(crate) fn tell(&self, what: Done, spot: Spot) {
        if let Some(recorder) = &self.world.recorder {
            let kernel = || Arc::clone(&self.grid().kernel);
            let kernel = self.world.has_many_kernels().then(kernel);
            let (position, place) = (self.position, spot.place);
            recorder.tell(|| Deed { launch: 0, kernel, position, place, what });
        }
    }

    /// Reports an access to a recorder, if there is one.
    #[cold]
    pub(crate) fn tell_access(
        &self,
        access: Access,
        region: &Region,
        (offset, bytes): (usize, usize),
        spot: Spot,
    ) {
        if self.world.recorder.is_none() {
            return;
        }
        let is_known =
            bytes <= size_of::<u128>() && region.first_unwritten(offset, bytes).is_none();
        let reads = access.kind != AccessKind::Write && is_known;
        let (label, owner) = (region.label(), self.owner(region.label(), access));
        let read = reads.then(|| last_access::bits(region, offset, bytes));
        let is_old = self.last.is_old();
        let touch = Touch {
            access,
            is_float: self.is_float.take(),
            is_barrier: bytes == size_of::<u64>() && self.is_barrier(region.at(offset).addr()),
            label,
            name: region.name(),
            owner,
            offset,
            bytes,
            read,
            wrote: None,
            is_old,
        };
        self.tell(Done::Access(touch), spot);
    }

    /// Whether a block of the cluster has initialised a barrier at this address.
    fn is_barrier(&self, address: usize) -> bool {
        let holder = self.peers.holder(address, size_of::<u64>());
        holder.is_some_and(|rank| self.peers.made(rank).borrow().has_barrier(address))
    }

    /// A number that distinguishes the shared memories of blocks. Those of a cluster share a
    /// number.
    fn owner(&self, label: Label, access: Access) -> u64 {
        match label {
            Label::Allocation(_) | Label::OfGpu(..) => 0,
            _ if access.space == Space::Cluster || self.position.cluster_blocks > 1 => {
                let rank = self.position.cluster_rank();
                (self.position.block_number() - u64::from(rank)) | (1 << 63)
            }
            _ => self.position.block_number(),
        }
    }

    /// Reports an access to bytes of a region to a search, if there is one, and whether it reads an
    /// old value.
    #[cold]
    pub(crate) fn guide(
        &self,
        access: Access,
        (label, offset, bytes): (Label, usize, usize),
        is_old: bool,
    ) {
        let Some(guide) = &self.world.guide else { return };
        // A bulk copy makes several accesses without a call in between.
        self.settle();
        let owner = self.owner(label, access);
        if access.space == Space::Cluster {
            guide.touch(Object::CLUSTERS);
        }
        guide.access(Touched { label, owner, offset, bytes }, access, is_old);
    }
}
