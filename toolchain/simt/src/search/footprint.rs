//! The memory and other objects that a step of a warp touches, which determine the steps that
//! commute.

use std::collections::HashMap;

use crate::memory::Label;

/// Something that steps touch: four bytes of memory, or a part of the launch that is not memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Object(u32, u32);

impl Object {
    /// Which block starts next.
    pub(crate) const STARTS: Self = Self(0, 0);
    /// The queue of grids that kernels launch.
    pub(crate) const CHILDREN: Self = Self(1, 0);
    /// The barriers of clusters, and which of their blocks run.
    pub(crate) const CLUSTERS: Self = Self(2, 0);

    /// The barrier, start and end of the block in this slot.
    pub(crate) fn block(slot: usize) -> Self {
        Self(3, slot as u32)
    }
}

/// Number of the first memory region among the objects.
const FIRST_REGION: u32 = 4;

/// Numbers for memory regions that are the same in every execution.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<(Label, u64), u32>,
}

impl Names {
    /// The objects for some bytes of a region: cells of four bytes, because the race detector
    /// records accesses by cell. `owner` distinguishes the shared memories of blocks.
    pub(super) fn cells(
        &mut self,
        (label, owner): (Label, u64),
        (offset, bytes): (usize, usize),
    ) -> impl Iterator<Item = Object> + use<> {
        let next = FIRST_REGION + self.known.len() as u32;
        let region = *self.known.entry((label, owner)).or_insert(next);
        (offset / 4..(offset + bytes).div_ceil(4)).map(move |cell| Object(region, cell as u32))
    }
}

/// The objects that a step touches, and whether it changes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint {
    /// Sorted, each object once.
    touched: Vec<(Object, bool)>,
    /// A bit for each object, by its hash: most steps have nothing in common.
    bits: u64,
}

impl Footprint {
    /// Adds an object.
    pub(super) fn add(&mut self, object: Object, writes: bool) {
        self.bits |= 1 << (object.0.wrapping_mul(31).wrapping_add(object.1) % 64);
        match self.touched.binary_search_by_key(&object, |&(object, _)| object) {
            Ok(at) => self.touched[at].1 |= writes,
            Err(at) => self.touched.insert(at, (object, writes)),
        }
    }

    /// Adds all that another step touches.
    pub(super) fn add_all(&mut self, other: &Self) {
        other.touched.iter().for_each(|&(object, writes)| self.add(object, writes));
    }

    /// Whether two steps touch the same object, and one of them changes it.
    pub(super) fn depends_on(&self, other: &Self) -> bool {
        if self.bits & other.bits == 0 {
            return false;
        }
        let (mut mine, mut theirs) = (self.touched.iter(), other.touched.iter());
        let (mut a, mut b) = (mine.next(), theirs.next());
        while let (Some(x), Some(y)) = (a, b) {
            match x.0.cmp(&y.0) {
                core::cmp::Ordering::Less => a = mine.next(),
                core::cmp::Ordering::Greater => b = theirs.next(),
                core::cmp::Ordering::Equal if x.1 || y.1 => return true,
                core::cmp::Ordering::Equal => (a, b) = (mine.next(), theirs.next()),
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_depend_on_each_other_by_a_write_to_a_common_cell() {
        let mut names = Names::default();
        let mut of = |label, offset, bytes, writes| {
            let mut footprint = Footprint::default();
            let cells = names.cells((Label::Allocation(label), 0), (offset, bytes));
            cells.for_each(|cell| footprint.add(cell, writes));
            footprint
        };
        let write = of(0, 4, 8, true);
        assert!(write.depends_on(&of(0, 8, 4, false)));
        assert!(write.depends_on(&of(0, 9, 1, false)));
        assert!(!write.depends_on(&of(0, 12, 4, true)));
        assert!(!write.depends_on(&of(1, 4, 8, true)));
        assert!(!of(0, 4, 4, false).depends_on(&of(0, 4, 4, false)));
        let mut both = of(0, 0, 4, false);
        both.add_all(&write);
        assert!(both.depends_on(&of(0, 8, 4, false)));
    }
}
