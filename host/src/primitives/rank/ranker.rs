//! Selections by rank on one device.

mod search;

use super::RankError;
use super::bracket::{Ranks, Tuning};
use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::scratch::Scratch;
use crate::primitives::sort::{Key, Order, Sorter};
use cuda_std::memory::Global;
use gridsync_entries::rank::Taking;
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{FOUND, Places};
use gridsync_kernels::grid::sort::Order as _;
pub(super) use search::each;
use search::{InChunks, LEVELS, Level, scratch};

/// The most groups of ranks that are looked for separately. A sort takes about as long as this many.
const MOST_GROUPS: usize = 8;

/// The order of the elements that [`Ranker::top_k`] finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arranged {
    /// By rank: sorted.
    #[default]
    ByRank,
    /// By index: as in the input.
    ByIndex,
}

/// Selects elements by rank on one device, and keeps the working memory, which is a small share of
/// the array.
///
/// Reads the array about once: a sorted sample gives two keys that are likely to enclose the ranks,
/// and a launch writes the keys between them and counts those before. These are few, and are
/// searched the same way or sorted. If the ranks are outside after all, the array is sorted, as it is
/// if it is short. All methods wait for the device.
pub struct Ranker<K: Key> {
    pub(super) device: Device,
    pub(super) tuning: Tuning,
    pub(super) sorter: Sorter<K>,
    by_index: Sorter<u64>,
    /// A sample, and the same sorted.
    sample: Scratch<K::Word>,
    /// The indices of the last keys, sorted.
    pub(super) sorted: Scratch<u64>,
    in_chunks: InChunks<K>,
    levels: [Level<K>; LEVELS],
    /// The numbers of the filters.
    found: Buffer<u64>,
    /// Indices of elements on their way to the host, and the elements after them.
    taken: Buffer<u64>,
}

impl<K: Key> Ranker<K> {
    /// Allocates the working memory for arrays on `device` of up to `longest` elements. More is
    /// allocated when it is first needed, for a full sort as much as that needs.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        Self::with(device, longest, Tuning::default())
    }

    /// Like [`new`](Self::new), and looks for elements in another way.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with(device: &Device, longest: usize, tuning: Tuning) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            tuning,
            sorter: Sorter::new(device, longest.min(tuning.shortest))?,
            by_index: Sorter::new(device, 0)?,
            sample: scratch(device)?,
            sorted: scratch(device)?,
            in_chunks: InChunks::new(device)?,
            levels: [Level::new(device)?, Level::new(device)?],
            found: device.zeroed(LEVELS * FOUND)?,
            taken: device.alloc(0)?,
        })
    }

    /// Writes the first elements of `input` in the order to `elements`, and their indices to
    /// `indices`: as many as these buffers have. Of equal elements, those with the smaller index come
    /// first.
    ///
    /// # Errors
    /// [`RankError::TooMany`] if the buffers have more elements than the input;
    /// [`DeviceError::LengthMismatch`] if one is longer than the other;
    /// [`DeviceError::OtherDevice`] if a buffer is not on this device; and if the device fails.
    pub fn top_k(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        arranged: Arranged,
        (elements, indices): (&mut Buffer<K>, &mut Buffer<u64>),
    ) -> Result<(), RankError> {
        self.device.expect_own(input)?;
        self.device.expect_own(elements)?;
        self.device.expect_own(indices)?;
        let (k, len) = (elements.len(), input.len());
        if indices.len() != k {
            return Err(DeviceError::LengthMismatch { buffer: indices.len(), given: k }.into());
        }
        if k > len {
            return Err(RankError::TooMany { k, len });
        }
        let Some(last) = k.checked_sub(1) else { return Ok(()) };
        let input = input.view().cast();
        // SAFETY: all three are on this device and borrowed, and the outputs are as long.
        unsafe {
            let found = self.find(order, input, Ranks { first: 0, last }, false)?;
            let (elements, taken) = (elements.view().cast(), indices.view());
            self.take(input, found.places, (elements, taken))?;
            if arranged == Arranged::ByIndex {
                self.by_index.launch_in_place(Order::ASCENDING, indices)?;
                let places = Places { sorted: taken, ..self.as_they_are() };
                self.take(input, places, (elements, taken))?;
            }
        }
        Ok(())
    }

    /// The element of rank `rank`, from 0, and its index: `sorted[rank]` of the stable sort.
    ///
    /// # Errors
    /// [`RankError::NoSuchRank`] if the input has no more than `rank` elements;
    /// [`DeviceError::OtherDevice`] if it is not on this device; and if the device fails.
    pub fn kth(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        rank: usize,
    ) -> Result<(K, u64), RankError> {
        Ok(self.kths(order, input, &[rank])?[0])
    }

    /// The elements of these ranks, in any order, with their indices. Adjacent ranks are looked for
    /// together.
    ///
    /// # Errors
    /// As for [`kth`](Self::kth).
    pub fn kths(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        ranks: &[usize],
    ) -> Result<Vec<(K, u64)>, RankError> {
        self.device.expect_own(input)?;
        // SAFETY: the input is on this device, and borrowed.
        Ok(unsafe { self.look_up(order, input.view().cast(), ranks, false)? }.0)
    }

    /// The elements of these ranks, and whether some element is a NaN, if `looks_for_nan` and if
    /// the order is [ascending](Order::ASCENDING).
    ///
    /// # Safety
    /// The input is on this device, and nothing writes it until this returns.
    pub(super) unsafe fn look_up(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        ranks: &[usize],
        looks_for_nan: bool,
    ) -> Result<(Vec<(K, u64)>, bool), RankError> {
        let len = input.len();
        if let Some(&rank) = ranks.iter().find(|&&rank| rank >= len) {
            return Err(RankError::NoSuchRank { rank, len });
        }
        let groups = Ranks::groups(ranks);
        let count: usize = groups.iter().map(|group| group.len()).sum();
        // One more for the last element.
        let room = count + 1;
        if self.taken.len() < 2 * room {
            // All of it is copied to the host.
            self.taken = self.device.zeroed(2 * room)?;
        }
        let taken = self.taken.view();
        let (indices, elements) = (taken.part(0, room), taken.part(room, room).cast());
        let part = |start, len| (elements.part(start, len), indices.part(start, len));
        let mut has_last = None;
        let (mut places, mut start) = (self.as_they_are(), 0);
        // SAFETY: the buffers are on this device and borrowed, and the parts are as long.
        unsafe {
            if groups.len() > MOST_GROUPS {
                places = self.sort(order, input, Ranks { first: 0, last: len - 1 }, places)?;
            }
            for &group in &groups {
                if groups.len() > MOST_GROUPS {
                    places.first = group.first as u64;
                } else {
                    let looks_for_last = looks_for_nan && has_last.is_none();
                    let found = self.find(order, input, group, looks_for_last)?;
                    has_last = has_last.or(found.has_last);
                    places = found.places;
                }
                self.take(input, places, part(start, group.len()))?;
                start += group.len();
            }
            if looks_for_nan && has_last.is_none() && count > 0 {
                // All elements have been sorted.
                let places = Places { first: len as u64 - 1, ..places };
                self.take(input, places, part(count, 1))?;
            }
        }
        let taken = self.taken.download_part(0..2 * room)?;
        let (indices, elements) = taken.split_at(room);
        let elements: &[K] = &bytemuck::cast_slice(elements)[..room];
        let last = match has_last {
            None if !looks_for_nan || count == 0 => None,
            Some(has_last) => has_last.then(|| bytemuck::cast(K::order(order).last())),
            None => Some(elements[count]),
        };
        let sorted: Vec<usize> = groups.iter().flat_map(|group| group.first..=group.last).collect();
        let of = |rank: &usize| {
            let at = sorted.partition_point(|other| other < rank);
            (elements[at], indices[at])
        };
        let has_nan = last.is_some_and(|last: K| last.to_f64().is_nan());
        Ok((ranks.iter().map(of).collect(), has_nan))
    }

    /// Writes the elements at these places, and their indices.
    ///
    /// # Safety
    /// The views are on this device and as long; the places exist.
    pub(super) unsafe fn take(
        &self,
        input: Global<K::Word>,
        places: Places,
        (elements, indices): (Global<K::Word>, Global<u64>),
    ) -> Result<(), DeviceError> {
        let args = K::Keys::default().arguments(Taking { input, places, elements, indices });
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe {
            self.device
                .launch_in_a_row::<KernelOf<K::Keys, Taking<K::Word>>>(&each(elements.len()), args)
        }
    }
}
