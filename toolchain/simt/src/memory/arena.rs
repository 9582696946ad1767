//! Live regions sorted by address, with look-up by address.

use core::cell::Cell;

use super::region::Region;
use crate::fault::Target;

/// How far beyond an allocation's end an address still counts as an overrun.
const NEAR: usize = 1 << 20;

/// A set of regions that do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Sorted by address.
    regions: Vec<Region>,
    /// The index of the last hit: consecutive accesses are often to one region.
    last: Cell<usize>,
}

impl Arena {
    pub(crate) fn insert(&mut self, region: Region) {
        let at = self.regions.partition_point(|other| other.address() < region.address());
        self.regions.insert(at, region);
    }

    /// All regions.
    pub(crate) fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter()
    }

    /// All regions.
    pub(crate) fn regions_mut(&mut self) -> impl Iterator<Item = &mut Region> {
        self.regions.iter_mut()
    }

    /// Removes the region that starts at `address`.
    pub(crate) fn remove(&mut self, address: usize) -> Option<Region> {
        let at = self.regions.binary_search_by_key(&address, Region::address).ok()?;
        self.last.set(0);
        Some(self.regions.remove(at))
    }

    /// The region that contains all of the `bytes` bytes from `address`, and the offset into it. 0
    /// bytes also fit at a region's end.
    pub(crate) fn find(&self, address: usize, bytes: usize) -> Option<(&Region, usize)> {
        let hit = |region: &Region| {
            let offset = address.wrapping_sub(region.address());
            (offset <= region.size() && bytes <= region.size() - offset).then_some(offset)
        };
        if let Some(region) = self.regions.get(self.last.get())
            && let Some(offset) = hit(region)
        {
            return Some((region, offset));
        }
        let at = self.at_or_below(address)?;
        let offset = hit(&self.regions[at])?;
        self.last.set(at);
        Some((&self.regions[at], offset))
    }

    /// Describes an address by the region that contains it or ends shortly before it.
    pub(crate) fn describe(&self, address: usize) -> Option<Target> {
        let region = &self.regions[self.at_or_below(address)?];
        let offset = address - region.address();
        (offset < region.size() + NEAR).then(|| Target {
            address: address as u64,
            region: Some((region.label(), offset as u64)),
            name: region.name(),
            size: region.size() as u64,
        })
    }

    fn at_or_below(&self, address: usize) -> Option<usize> {
        self.regions.partition_point(|region| region.address() <= address).checked_sub(1)
    }
}
