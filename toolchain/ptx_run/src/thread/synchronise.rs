//! Instructions of barriers in shared memory, clusters and copies.

use ptx::decode::AddressSpace;

use super::Thread;
use crate::code::{Instruction, Slot, Window};
use crate::synchronise::Synchronise;

impl Thread<'_> {
    pub(super) fn synchronise(&mut self, it: &Synchronise, at: &Instruction) {
        match it {
            Synchronise::Mbarrier(it) => self.mbarrier(it, at),
            Synchronise::PendingCount(to, state) => self.pending_count(*to, *state, at),
            Synchronise::ProxyFence { shared, global } => {
                if *shared {
                    simt::bulk_fence();
                }
                if *global {
                    simt::bulk_fence_global();
                }
            }
            Synchronise::MbarrierFence => simt::mbarrier_fence(),
            Synchronise::ClusterArrive(order, true) => simt::cluster_arrive(*order),
            Synchronise::ClusterArrive(order, false) => simt::cluster_arrive_apart(*order),
            Synchronise::ClusterWait(true) => simt::cluster_wait(),
            Synchronise::ClusterWait(false) => simt::cluster_wait_apart(),
            Synchronise::MapShared { to, from, rank, generic } => {
                self.map((*to, *from), *rank, *generic, at);
            }
            Synchronise::BulkLoad { to, from, bytes, barrier } => {
                self.bulk_load(*to, [*from, *barrier], *bytes, at);
            }
            Synchronise::BulkStore { to, from, bytes } => self.bulk_store(*to, *from, *bytes, at),
            Synchronise::LetNextStart => simt::launch_dependents(),
            Synchronise::WaitForPrevious => simt::dependency_wait(),
            Synchronise::CommitBulk => self.bulk.commit(),
            Synchronise::WaitBulk { left, read } => self.wait_bulk(*left, *read, at),
            Synchronise::AsyncCopy(copy) => self.async_copy(copy, at),
            Synchronise::AsyncArrive { space, address, increments } => {
                self.async_arrive(*space, *address, *increments, at);
            }
            Synchronise::CommitAsync => self.elements.commit(),
            Synchronise::WaitAsync(left) => self.wait_async(*left, at),
            Synchronise::Elect(to, mask) => self.elect(*to, *mask, at),
            Synchronise::Runtime(function, call) => self.call_runtime(*function, call, at),
        }
    }

    /// `mapa`
    fn map(&mut self, (to, from): (Slot, Slot), rank: Slot, generic: bool, at: &Instruction) {
        let from = self.used(from, 8, at, "an address");
        let rank = self.used(rank, 4, at, "the rank of a block") as u32;
        let own = if generic { self.specific(from, Window::Shared, at) } else { from };
        let mapped = self.map_shared(own, rank, at);
        let address = if generic { self.generic(mapped, Window::Cluster) } else { mapped };
        self.write(to, address, 0);
    }

    /// The pointer to `bytes` bytes at an address in shared memory, of the own block or another one.
    pub(super) fn shared_at(
        &self,
        space: AddressSpace,
        address: u64,
        bytes: usize,
        at: &Instruction,
    ) -> (*mut u8, simt::Space) {
        match space {
            AddressSpace::Shared => (self.in_shared(address, at), simt::Space::Shared),
            AddressSpace::SharedCluster => self.in_cluster(address, bytes, at),
            _ => self.in_cluster(self.specific(address, Window::Cluster, at), bytes, at),
        }
    }
}
