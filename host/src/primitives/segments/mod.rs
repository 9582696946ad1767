//! Reductions of the segments of an array, given by offsets: segments of any lengths, as the rows
//! of a sparse matrix in CSR form. And of runs of equal [keys](by_key).
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::op::Sum;
//! use gridsync::primitives::segments::reduce_segments;
//!
//! let input = Device::emulator().upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0])?;
//! let sums = reduce_segments(Sum::<f32>::new(), &input, &[0, 2, 2, 5])?;
//! assert_eq!(sums, [3.0, 0.0, 28.0]);
//! # Ok::<(), DeviceError>(())
//! ```

pub mod by_key;
mod groups;
mod run_finder;
mod run_firsts;
mod run_reducer;
mod run_scanner;
mod scan;
pub mod scatter;
#[cfg(test)]
mod tests;

pub use scan::{scan_segments, scan_segments_on_cpu};

use super::carried;
use super::scratch::Scratch;
use super::sort::check_offsets;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::Global;
use gridsync_entries::KernelOf;
pub use gridsync_entries::segments::{Arguments, Common, SegmentReducible};
use gridsync_kernels::grid::segments::{STATE, THREADS, places, tiles};
use gridsync_kernels::op::{Carried, Operation, Segment};

/// Reduces each segment of `input` by `op` on its device: segment i has the elements from
/// `offsets[i]` up to, but without, `offsets[i + 1]`.
///
/// For empty segments the results are derived from the identity of the operation. An operation that
/// uses indices gets those within the segment. To reduce more than once, keep a [`SegmentReducer`].
///
/// # Errors
/// As for [`Offsets::new`] and [`SegmentReducer::reduce`].
pub fn reduce_segments<O: SegmentReducible<Element: Pod>>(
    op: O,
    input: &Buffer<O::Element>,
    offsets: &[u64],
) -> Result<Vec<O::Output>, DeviceError> {
    let device = input.device();
    SegmentReducer::new(op, device)?.reduce(input, &Offsets::new(device, offsets)?)
}

/// Reduces each segment by `op` on all cores of the CPU, with the same bits.
///
/// # Panics
/// If these are not offsets of segments of the input, as for [`Offsets::new`].
pub fn reduce_segments_on_cpu<O: Operation>(
    op: O,
    input: &[O::Element],
    offsets: &[u64],
) -> Vec<O::Output> {
    check_offsets(offsets).unwrap_or_else(|error| panic!("{error}"));
    let [starts @ .., all] = offsets else { unreachable!("there is an offset") };
    assert_eq!(*all, input.len() as u64, "the last offset is the number of elements");
    let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let all = reference::reduce_segments(op, input, starts);
    all.into_iter().zip(lengths).map(|(all, len)| op.finish_of(all, len)).collect()
}

/// The segments of arrays of one length, on a device.
pub struct Offsets {
    host: Vec<u64>,
    /// Begins with the starts, which are all offsets but the last.
    starts: Buffer<u64>,
}

impl Offsets {
    /// Checks `offsets` and copies them to `device`: the first is 0, none is less than the one
    /// before, and the last is the number of elements.
    ///
    /// # Errors
    /// [`DeviceError::NotOffsets`], and if the device fails.
    pub fn new(device: &Device, offsets: &[u64]) -> Result<Self, DeviceError> {
        check_offsets(offsets)?;
        let starts = device.upload(&offsets[..offsets.len() - 1])?;
        Ok(Self { host: offsets.to_vec(), starts })
    }

    /// The number of segments.
    #[must_use]
    pub fn count(&self) -> usize {
        self.host.len() - 1
    }

    /// The elements of all segments together.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.host[self.count()] as usize
    }

    /// Fails if these are not on `device`, or not of arrays of `len` elements.
    fn expect_of(&self, device: &Device, len: usize) -> Result<(), DeviceError> {
        device.expect_own(&self.starts)?;
        if len == self.elements() {
            Ok(())
        } else {
            Err(DeviceError::LengthMismatch { buffer: len, given: self.elements() })
        }
    }

    /// The number of elements of each segment.
    pub fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        self.host.windows(2).map(|pair| pair[1] - pair[0])
    }
}

/// Reduces segments by one operation on one device, and keeps the working memory: 4 bytes for each
/// word of an accumulator and each segment, and about 16 bytes for every 8000 elements and segments.
///
/// One launch per array. A floating-point result depends on the array and the offsets only, so it
/// has the same bits on every GPU, in the emulator and on the CPU. It also depends on where in the
/// array the segment is.
pub struct SegmentReducer<O: SegmentReducible> {
    op: O,
    device: Device,
    words: Scratch<u64>,
    state: Buffer<u32>,
    results: Scratch<u32>,
    /// The number of segments of the last launch.
    launched: Option<usize>,
}

impl<O: SegmentReducible<Element: Pod>> SegmentReducer<O> {
    /// Reductions by `op` on `device`. Memory is allocated when it is first needed.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(op: O, device: &Device) -> Result<Self, DeviceError> {
        const { assert!(Segment::<O::Accumulator>::WORDS <= 4, "the accumulator is too large") };
        Ok(Self {
            op,
            device: device.clone(),
            words: Scratch::new("a reduction of segments", device, 0, Device::zeroed)?,
            state: device.zeroed(STATE)?,
            results: Scratch::new("a reduction of segments", device, 0, Device::alloc)?,
            launched: None,
        })
    }

    /// Reduces each segment of `input` and waits for the results.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), and if the device fails.
    pub fn reduce(
        &mut self,
        input: &Buffer<O::Element>,
        offsets: &Offsets,
    ) -> Result<Vec<O::Output>, DeviceError> {
        self.launch(input, offsets)?;
        self.results(offsets)
    }

    /// Submits the reduction of each segment of `input` to the stream. Does not wait.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the input does not have the elements of the offsets,
    /// [`DeviceError::OtherDevice`] if one is not on the device of this reducer,
    /// [`DeviceError::InGraph`] if it would have to allocate and a graph has recorded a launch, and
    /// if the launch fails.
    pub fn launch(
        &mut self,
        input: &Buffer<O::Element>,
        offsets: &Offsets,
    ) -> Result<(), DeviceError> {
        self.launched = None;
        self.device.expect_own(input)?;
        offsets.expect_of(&self.device, input.len())?;
        let starts = offsets.starts.view().part(0, offsets.count());
        // SAFETY: both are on this device, and the offsets were checked.
        unsafe { self.launch_view(input.view(), starts) }
    }

    /// Submits the reduction of the segments that begin at `starts`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// Both are on this device and live, and nothing writes them until the kernel has run. The first
    /// start is 0, none is less than the one before, and the last is at most the input's length.
    pub unsafe fn launch_view(
        &mut self,
        input: Global<O::Element>,
        starts: Global<u64>,
    ) -> Result<(), DeviceError> {
        if !starts.is_empty() {
            let tiles = self.fit(input.len(), starts.len())?;
            let (words, state) = (self.words.view(), self.state.view());
            let common = Arguments { input, starts, result: self.results.view(), words, state };
            let args = self.op.arguments(common);
            let grid = Geometry::new(tiles, THREADS);
            // SAFETY: the caller's promise about the arrays; the grid has a block for each tile, and
            // the words and results have room; words and state were zeroed, and each launch leaves
            // them ready for the next; `&mut self` and the stream order keep other launches off
            // them; `Entry` promises that the kernel reduces segments by `op`, after the wait for
            // the previous kernel.
            unsafe { self.device.launch_in_a_row::<KernelOf<O, Common<O>>>(&grid, args)? };
        }
        self.launched = Some(starts.len());
        Ok(())
    }

    /// Makes room for a reduction of `segments` segments of `elements` elements together, and returns
    /// its number of tiles.
    fn fit(&mut self, elements: usize, segments: usize) -> Result<u32, DeviceError> {
        let tiles = tiles::<O::Element>(elements, segments);
        self.words.fit(places(tiles) * Segment::<O::Accumulator>::WORDS)?;
        self.results.fit(segments * O::Accumulator::WORDS)?;
        Ok(tiles)
    }

    /// The results of the last [`launch`](Self::launch), which had these offsets. Waits for them.
    ///
    /// # Errors
    /// [`DeviceError::NoResult`] if nothing was launched or the last launch failed,
    /// [`DeviceError::LengthMismatch`] if it had another number of segments, and if the stream
    /// fails.
    pub fn results(&self, offsets: &Offsets) -> Result<Vec<O::Output>, DeviceError> {
        let given = offsets.count();
        match self.launched {
            Some(buffer) if buffer != given => Err(DeviceError::LengthMismatch { buffer, given }),
            _ => self.results_of(offsets.lengths()),
        }
    }

    /// The results of the last launch, whose segments had these lengths. Waits for them.
    fn results_of(
        &self,
        lengths: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<O::Output>, DeviceError> {
        let Some(count) = self.launched else {
            return Err(DeviceError::NoResult { what: "result of a reduction of segments" });
        };
        let words = O::Accumulator::WORDS;
        let all = self.results.download_part(0..count * words)?;
        let segments = all.chunks_exact(words).zip(lengths);
        Ok(segments.map(|(all, len)| self.op.finish_of(carried(all), len)).collect())
    }
}
