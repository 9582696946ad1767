//! Where the elements at some ranks are: a filter or two, and a sort of what is left.

use super::super::bracket::{Plan, Ranks};
use super::Ranker;
use crate::device::{Device, DeviceError, Geometry};
use crate::primitives::scratch::Scratch;
use crate::primitives::sort::{Key, Order};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::rank::{Filtering, Sampling};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{Candidates, FOUND, Places, THREADS};
use gridsync_kernels::grid::select;

/// The owner of working memory, for messages.
pub(super) const WHAT: &str = "a selection by rank";

/// What a filter has written.
pub(super) struct Level<K: Key> {
    keys: Scratch<K::Word>,
    positions: Scratch<u64>,
}

impl<K: Key> Level<K> {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self { keys: scratch(device)?, positions: scratch(device)? })
    }

    /// The first `len` keys and their positions.
    fn written(&mut self, len: usize) -> (Global<K::Word>, Global<u64>) {
        (self.keys.view().part(0, len), self.positions.view().part(0, len))
    }
}

/// What a filter has found.
struct Filtered {
    before: usize,
    inside: usize,
    /// All inside have one number.
    is_one: bool,
    has_last: bool,
}

/// The elements at some ranks.
pub(super) struct Found {
    pub(super) places: Places,
    /// Whether some element has the last number of the order, if a filter has looked.
    pub(super) has_last: Option<bool>,
}

impl<K: Key> Ranker<K> {
    /// The places of the elements of an array that is sorted already.
    pub(super) fn as_they_are(&self) -> Places {
        let none = self.found.view().part(0, 0);
        Places { sorted: none, positions: [none; 2], first: 0 }
    }

    /// Finds the elements of these ranks, which exist.
    ///
    /// # Safety
    /// The input is on this device, and nothing writes it until this returns.
    pub(super) unsafe fn find(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        ranks: Ranks,
        looks_for_last: bool,
    ) -> Result<Found, DeviceError> {
        let (mut part, mut ranks, mut places) = (input, ranks, self.as_they_are());
        let mut has_last = None;
        for level in 0..self.levels.len() {
            let Some(mut plan) = Plan::of(&self.tuning, ranks, part.len()) else { break };
            plan.bracket.looks_for_last = (looks_for_last && level == 0).into();
            // SAFETY: the part is the input, or what the level before has written.
            let found = unsafe { self.filter(order, part, &plan, level)? };
            has_last = has_last.or(Some(found.has_last));
            let Some(inside) = ranks.after(found.before, found.inside) else { break };
            let (keys, positions) = self.levels[level].written(found.inside.min(plan.room));
            if found.is_one && inside.last < plan.room {
                // Equal elements, in the order of their indices.
                places.positions[level] = positions;
                places.first = inside.first as u64;
                return Ok(Found { places, has_last });
            }
            if found.inside > plan.room {
                break;
            }
            places.positions[level] = positions;
            (part, ranks) = (keys, inside);
        }
        // SAFETY: as above.
        Ok(Found { places: unsafe { self.sort(order, part, ranks, places)? }, has_last })
    }

    /// The places of the elements of these ranks in `part`, whose elements are at `positions`.
    ///
    /// # Safety
    /// As for [`find`](Self::find).
    pub(super) unsafe fn sort(
        &mut self,
        order: Order,
        part: Global<K::Word>,
        ranks: Ranks,
        Places { positions, .. }: Places,
    ) -> Result<Places, DeviceError> {
        self.sorted.fit(part.len())?;
        let sorted = self.sorted.view().part(0, part.len());
        // SAFETY: the caller's promise; the indices are as long.
        unsafe { self.sorter.argsort_view(order, part, sorted)? };
        Ok(Places { sorted, positions, first: ranks.first as u64 })
    }

    /// Draws a sample from `input`, sorts it, and writes the keys in the bracket.
    ///
    /// # Safety
    /// As for [`find`](Self::find), and the input is not what this level has written.
    unsafe fn filter(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        plan: &Plan,
        level: usize,
    ) -> Result<Filtered, DeviceError> {
        self.sample.fit(2 * plan.sample)?;
        let both = self.sample.view();
        let [drawn, sorted] = [0, plan.sample].map(|start| both.part(start, plan.sample));
        let found = self.found.view();
        let shape = select::shape::<K::Word>(input.len());
        // No word holds a future stamp: the state keeps counting, and new words are 0.
        self.words.fit(shape.places() * select::WORDS)?;
        let sampling = Sampling { input, sample: drawn, found, stride: plan.stride as u64 };
        let Level { keys, positions } = &mut self.levels[level];
        keys.fit(plan.room)?;
        positions.fit(plan.room)?;
        let filtering = Filtering {
            input,
            sample: sorted,
            bracket: plan.bracket,
            candidates: Candidates {
                keys: keys.view().part(0, plan.room),
                positions: positions.view().part(0, plan.room),
                found,
            },
            words: self.words.view(),
            state: self.state.view(),
            rows: shape.rows,
            group: shape.group,
        };
        // SAFETY: the grids are made for the arrays; the words and the state were zeroed, and each
        // launch leaves them ready for the next; `&mut self` and the order of the stream keep others
        // off the working memory; all kernels start with the wait for the previous one.
        unsafe {
            let args = K::Keys::default().arguments(sampling);
            self.device.launch_in_a_row::<KernelOf<K::Keys, Sampling<K::Word>>>(
                &each(plan.sample.max(FOUND)),
                args,
            )?;
            self.sorter.sort_view(order, drawn, sorted)?;
            let args = Entry::<Filtering<K::Word>>::arguments(K::order(order), filtering);
            self.device.launch_in_a_row::<KernelOf<K::Order, Filtering<K::Word>>>(
                &Geometry::new(shape.tiles, shape.threads()),
                args,
            )?;
        }
        let mut numbers = [0; FOUND];
        self.found.download_to(0, &mut numbers)?;
        let [before, inside, is_one, has_last] = numbers;
        Ok(Filtered {
            before: before as usize,
            inside: inside as usize,
            is_one: is_one != 0,
            has_last: has_last != 0,
        })
    }
}

/// The grid of a kernel with a thread for each of `len` elements.
pub(super) fn each(len: usize) -> Geometry {
    Geometry::new(len.div_ceil(THREADS as usize) as u32, THREADS)
}

/// Memory that is allocated when it is first needed.
pub(super) fn scratch<T: Pod + Scalar>(device: &Device) -> Result<Scratch<T>, DeviceError> {
    Scratch::new(WHAT, device, 0, Device::alloc)
}
