//! A reduction in two steps, so that several participants can share an array: each computes the
//! leaves of a run of tiles, and the holder of all leaves combines them into the result.
//!
//! The tree of a reduction ([`Shape`]) depends only on the length of the whole array. So it does
//! not matter which participant computes which leaf: the result is bit-identical to one reduction
//! on one device.

use super::overflow::Again;
use super::shared::{SharedPart, Uploaded};
use super::together::{at_once, of_gpu, on_each};
use super::{PartError, PartReducible};
use crate::device::{Buffer, Device, DeviceError, Devices};
use crate::primitives::{Reducer, carried};
use crate::reference::{self, combine_leaves};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{Carried, MOST_WORDS, Operation};
use std::ops::Range;
use std::time::Instant;

/// How an array is cut for several participants that reduce it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    len: usize,
    unit: usize,
}

impl Cut {
    /// The cut of an array of `len` elements for the operation `O`.
    ///
    /// For an exact operation, an array may be cut anywhere, otherwise only between tiles. If the
    /// leaves of the tree are strips, which a device does not output, the array is not cut: it has
    /// at most 4 MiB.
    #[must_use]
    pub fn of<O: Operation>(len: usize) -> Self {
        if O::EXACT { Self { len, unit: 1 } } else { Self::between_tiles::<O::Element>(len) }
    }

    /// The cut for all operations on elements of `T`.
    pub(super) fn between_tiles<T: Scalar>(len: usize) -> Self {
        let shape = Shape::of::<T>(len);
        let unit = if shape.leaves_are_strips() { len.max(1) } else { shape.tile::<T>() };
        Self { len, unit }
    }

    /// The cut of `len` elements in units of `unit`, at least 1.
    pub(in crate::primitives) fn in_units(len: usize, unit: usize) -> Self {
        Self { len, unit }
    }

    /// The length of the longest of `count` [runs](Self::run).
    pub(super) fn longest(self, count: usize) -> usize {
        (self.len.div_ceil(self.unit).div_ceil(count) * self.unit).min(self.len)
    }

    /// Pairs each of `count` participants with its elements.
    pub(in crate::primitives) fn runs<T>(
        self,
        elements: &[T],
        count: usize,
    ) -> impl Iterator<Item = (Range<usize>, &[T])> {
        (0..count)
            .map(move |number| self.run(number, count))
            .map(|run| (run.clone(), &elements[run]))
    }

    /// Length of the array.
    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Number of elements that stay together, at least 1.
    #[must_use]
    pub const fn unit(self) -> usize {
        self.unit
    }

    /// The elements of participant `number` of `count`: a run of whole units, with the remainder in
    /// the last unit. The runs are in order and as even as the units allow. If there are fewer
    /// units than `count`, the last runs are empty.
    ///
    /// # Panics
    /// If `number` is not below `count`.
    #[must_use]
    pub fn run(self, number: usize, count: usize) -> Range<usize> {
        assert!(number < count, "number {number} of {count}");
        let units = self.len.div_ceil(self.unit);
        // The first runs have one unit more if the division has a remainder.
        let (each, more) = (units / count, units % count);
        let start = |number: usize| (number * each + number.min(more)) * self.unit;
        start(number).min(self.len)..start(number + 1).min(self.len)
    }

    /// The elements to process by the owner of the elements `held` of the array: all units that
    /// start there. The end of the last unit may be in the next owner's elements.
    ///
    /// # Panics
    /// If `held` is not inside the array.
    #[must_use]
    pub fn begun_in(self, held: &Range<usize>) -> Range<usize> {
        assert!(held.start <= held.end && held.end <= self.len, "{held:?} of {}", self.len);
        let next = |at: usize| at.div_ceil(self.unit).saturating_mul(self.unit).min(self.len);
        next(held.start)..next(held.end)
    }
}

/// The first step: the leaves of a run of tiles, computed part by part on the CPU, on a device, or
/// on several devices that share each part.
///
/// ```text
///         Cut::run            Leaves::next, finish          gathered            from_leaves
/// array ─────────────► runs ───────────────────────► leaves ─────────► all leaves ─────────► result
/// ```
pub struct Leaves<O: PartReducible> {
    op: O,
    /// Length of the whole array.
    len: usize,
    run: Range<usize>,
    part: usize,
    taken: usize,
    on: On<O>,
    again: Again<O>,
    us: f64,
    /// Room for a part, unless it is shared with other reductions.
    own: Option<SharedPart<O::Element>>,
}

enum On<O: PartReducible> {
    Devices(OnDevices<O>),
    Cpu(reference::Reduction<O>),
}

struct OnDevices<O: PartReducible> {
    each: Vec<OnDevice<O>>,
    /// Whether some of the devices are the same GPU.
    share: bool,
    /// The leaves computed so far.
    leaves: Vec<O::Accumulator>,
}

/// A device, with room for the leaves of its share of a part.
struct OnDevice<O: PartReducible> {
    reducer: Reducer<O>,
    /// Length of the whole array.
    len: usize,
    /// The words of the leaves.
    results: Buffer<u32>,
}

impl<O: PartReducible<Element: Pod>> Leaves<O> {
    /// The leaves of the elements `run` of an array of `len` elements, computed on `devices`, about
    /// `part` elements at a time on all of them together. A part is rounded to whole units of the
    /// [`Cut`].
    ///
    /// # Errors
    /// If a device fails.
    ///
    /// # Panics
    /// If `run` does not start and end between units.
    pub fn new(
        op: O,
        devices: impl Into<Devices>,
        len: usize,
        run: Range<usize>,
        part: usize,
    ) -> Result<Self, PartError> {
        let room = SharedPart::of_run(devices.into(), Cut::of::<O>(len), &run, part)?;
        let leaves = Self::sharing(op, &room, run)?;
        Ok(Self { own: Some(room), ..leaves })
    }

    /// The same leaves on all cores of the CPU, in parts of the same size.
    ///
    /// # Panics
    /// If `run` does not start and end between units.
    #[must_use]
    pub fn on_cpu(op: O, len: usize, run: Range<usize>, part: usize) -> Self {
        let room = SharedPart::of_run_on_cpu(Cut::of::<O>(len), &run, part);
        let on = On::Cpu(reference::Reduction::from(op, len, run.start));
        let leaves = Self::on(op, on, &room, run);
        Self { own: Some(room), ..leaves }
    }

    /// The leaves of the elements `run` of an array whose parts are in `room`.
    pub(super) fn sharing(
        op: O,
        room: &SharedPart<O::Element>,
        run: Range<usize>,
    ) -> Result<Self, PartError> {
        let len = room.array();
        let on = match room.devices() {
            None => On::Cpu(reference::Reduction::from(op, len, run.start)),
            Some(devices) => {
                let longest = room.longest_on_each(devices.len());
                let each = devices.each(|_, device| OnDevice::new(op, device, len, longest))?;
                On::Devices(OnDevices { each, share: devices.sharing() > 1, leaves: Vec::new() })
            }
        };
        Ok(Self::on(op, on, room, run))
    }

    fn on(op: O, on: On<O>, room: &SharedPart<O::Element>, run: Range<usize>) -> Self {
        let (len, part) = (room.array(), room.part());
        Self { op, len, run, part, taken: 0, on, again: Again::new(), us: 0.0, own: None }
    }

    /// Length of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// Adds the next part of the run.
    ///
    /// # Errors
    /// If the device fails. Then the part was not added, and may be retried.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), PartError> {
        let mut own = self.own.take().expect("the parts of this reduction are shared");
        let done = own.upload(elements).and_then(|part| self.next_uploaded(&part));
        self.own = Some(own);
        done
    }

    /// Like [`next`](Self::next), for a part that other reductions get, too.
    pub(super) fn next_uploaded(
        &mut self,
        part: &Uploaded<'_, O::Element>,
    ) -> Result<(), PartError> {
        let (room, elements) = (part.room(), part.elements());
        let is_own = (room.array(), room.part()) == (self.len, self.part);
        assert!(is_own, "the part is in the room of other reductions");
        if elements.is_empty() {
            return Ok(());
        }
        let first = self.run.start + self.taken;
        self.us += match &mut self.on {
            On::Devices(on) => on.next(self.op, part, first)?,
            On::Cpu(reduction) => {
                let start = Instant::now();
                reduction.next(elements);
                start.elapsed().as_secs_f64() * 1e6
            }
        };
        let so_far = match &self.on {
            On::Devices(on) => &on.leaves,
            On::Cpu(reduction) => reduction.leaves(),
        };
        self.again.next(self.op, (self.len, first), elements, so_far);
        self.taken += elements.len();
        Ok(())
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }

    /// The leaves of the run, in order; for an exact operation one value for all elements. A device
    /// that has reduced the whole array at once also gives one value. An empty run has no leaves.
    ///
    /// # Panics
    /// If not all elements of the run were added.
    #[must_use]
    pub fn finish(self) -> Vec<O::Accumulator> {
        self.finish_with_scaled().0
    }

    /// The leaves, and those to use instead if the result of the leaves is not finite: see
    /// [`settle`](super::settle).
    ///
    /// # Panics
    /// If some elements of the run have not been given.
    #[must_use]
    pub fn finish_with_scaled(self) -> (Vec<O::Accumulator>, Vec<O::Accumulator>) {
        let run = self.run.len();
        assert_eq!(self.taken, run, "all {run} elements have to be taken");
        let leaves = match self.on {
            _ if run == 0 => Vec::new(),
            On::Cpu(reduction) => reduction.into_leaves(),
            On::Devices(on) => on.leaves,
        };
        let scaled = self.again.scaled(&leaves);
        (leaves, scaled)
    }

    /// The operation, the length of the whole array, and the run.
    #[must_use]
    pub fn about(&self) -> (O, usize, Range<usize>) {
        (self.op, self.len, self.run.clone())
    }
}

impl<O: PartReducible<Element: Pod>> OnDevices<O> {
    /// Adds the next part, which starts at element `start` of the array, and returns the device
    /// time in µs.
    fn next(
        &mut self,
        op: O,
        part: &Uploaded<'_, O::Element>,
        start: usize,
    ) -> Result<f64, DeviceError> {
        let count = self.each.len();
        let on = part.room().devices().map_or(0, Devices::len);
        assert_eq!(on, count, "devices that have the part");
        let shares = self.each.iter_mut().zip(part.runs()).enumerate();
        let shares = shares.filter(|(_, (_, (run, _)))| !run.is_empty());
        let found = on_each(shares, |(gpu, (on, (run, elements)))| {
            let found = on.next(elements, run.len(), start + run.start);
            found.map_err(|error| of_gpu(error, (gpu, count), elements.device()))
        })?;
        let us = at_once(found.iter().map(|(us, _)| *us), self.share);
        let found = found.into_iter().flat_map(|(_, leaves)| leaves);
        if O::EXACT {
            let before = self.leaves.pop().unwrap_or(op.identity());
            self.leaves = vec![found.fold(before, |all, next| op.combine(all, next))];
        } else {
            self.leaves.extend(found)
        }
        Ok(us)
    }
}

impl<O: PartReducible<Element: Pod>> OnDevice<O> {
    /// A device that processes up to `share` elements at a time of an array of `len`.
    fn new(op: O, device: &Device, len: usize, share: usize) -> Result<Self, DeviceError> {
        let reducer = Reducer::new(op, device)?;
        reducer.compile()?;
        let tiles = if O::EXACT {
            1
        } else {
            share.div_ceil(Shape::of::<O::Element>(len).tile::<O::Element>()).max(1)
        };
        Ok(Self { reducer, len, results: device.alloc(tiles * O::Accumulator::WORDS)? })
    }

    /// Reduces the first `len` of `elements`, which start at index `start` of the array. Returns
    /// the device time in µs and their leaves.
    fn next(
        &mut self,
        elements: &Buffer<O::Element>,
        len: usize,
        start: usize,
    ) -> Result<(f64, Vec<O::Accumulator>), DeviceError> {
        let (shape, values) = shape_of::<O>(self.len, len);
        let words = values * O::Accumulator::WORDS;
        let result = self.results.view().part(0, words);
        let device = elements.device().clone();
        // SAFETY: the shape is made for the elements, or it is that of the whole array with as many
        // tiles as they fill; there are words for each of its tiles, and a dropped buffer waits for
        // the stream.
        let launch = || unsafe { self.reducer.launch_in(shape, elements, 0..len, result) };
        let us = device.time(launch)?;
        let leaf = |written: &[u32]| O::moved(carried(written), start as u64);
        let words = self.results.download_part(0..words)?;
        Ok((us, words.chunks(O::Accumulator::WORDS).map(leaf).collect()))
    }
}

/// The shape in which a device reduces its `part` of `len` elements, and the number of values it
/// outputs: one if the part is the whole array or the operation is exact, otherwise one per tile.
pub(in crate::primitives) fn shape_of<O: PartReducible>(len: usize, part: usize) -> (Shape, usize) {
    if O::EXACT || part == len {
        return (Shape::of::<O::Element>(part), 1);
    }
    let whole = Shape::of::<O::Element>(len);
    let tiles = part.div_ceil(whole.tile::<O::Element>());
    (Shape { tiles: tiles as u32, ..whole }, tiles)
}

/// The second step: the result of an array of `len` elements from its leaves, in the order of the
/// runs.
///
/// # Panics
/// If the number of leaves is wrong for such an array.
#[must_use]
pub fn from_leaves<O: Reducible>(op: O, len: usize, leaves: &[O::Accumulator]) -> O::Output {
    let shape = Shape::of::<O::Element>(len);
    let all = match leaves {
        _ if O::EXACT => leaves.iter().fold(op.identity(), |all, &next| op.combine(all, next)),
        [] if len == 0 => op.identity(),
        // A device has reduced the whole array at once.
        [all] => *all,
        leaves => {
            let expected = shape.leaves() as usize;
            assert_eq!(leaves.len(), expected, "leaves of {len} elements");
            combine_leaves(op, shape, leaves)
        }
    };
    op.finish_of(all, len as u64)
}

/// Encodes leaves as bytes: the words of each, little-endian.
#[must_use]
pub fn leaves_to_bytes<A: Carried>(leaves: &[A]) -> Vec<u8> {
    let words = leaves.iter().flat_map(|leaf| leaf.to_words().into_iter().take(A::WORDS));
    words.flat_map(u32::to_le_bytes).collect()
}

/// Decodes leaves from bytes of [`leaves_to_bytes`]; `None` if the bytes are not whole leaves.
#[must_use]
pub fn leaves_from_bytes<A: Carried>(bytes: &[u8]) -> Option<Vec<A>> {
    let size = 4 * A::WORDS;
    let leaf = |bytes: &[u8]| {
        let mut words = [0; MOST_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        A::from_words(words)
    };
    bytes.len().is_multiple_of(size).then(|| bytes.chunks_exact(size).map(leaf).collect())
}

#[cfg(test)]
mod tests;
