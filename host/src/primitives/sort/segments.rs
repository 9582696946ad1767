//! Segments of an array, which are sorted separately.

use super::plan::Plan;
use super::run::{How, Listed};
use super::{Index, Key, Order, Sorter};
use crate::device::{Buffer, Device, DeviceError};
use crate::reference;
use bytemuck::Pod;
use gridsync_entries::Entry;
use gridsync_entries::sort::{OneBlock, Pass, ShortRows, Windows};
use gridsync_kernels::grid::sort::{
    self as kernels, Arrays, LONGEST_IN_WINDOWS, Large, Payload, Rows, SHORT_ROW_MOST,
    SHORT_WINDOWS, Small, WINDOW, one_block_most_threads, one_block_threads, tile_words,
    windows_of_block, windows_threads,
};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;

/// The segments of arrays of one length, on a device: what [`Sorter::segments`] needs to sort them.
///
/// Segments of up to 32 elements are sorted by one thread each, and those of up to 1024 in blocks, as
/// many together as fit. Longer ones have a block each, of up to four sizes: up to 4096 elements, and
/// from compute capability 9.0 up to 12288, or 8192 of 8 bytes. Still longer ones, up to 2^20
/// elements, are sorted by the same launches as one array, and those beyond in turn. Each of these
/// five forms is launched only if there are such segments; only the last two need working memory.
///
/// Segments may be empty.
pub struct Segments<K: Key> {
    pub(super) parts: Parts,
    of: PhantomData<K>,
}

impl<K: Key> Segments<K> {
    /// The segments of an array of `offsets.last()` elements: segment i has the elements from
    /// `offsets[i]` up to, but without, `offsets[i + 1]`.
    ///
    /// Reads all offsets on the CPU, and copies 8 bytes for each and 4 bytes for every 1024 elements to
    /// the device. Waits for that.
    ///
    /// # Errors
    /// [`DeviceError::NotOffsets`] if the first is not 0 or one is less than the one before,
    /// [`DeviceError::Unsupported`] for 2^32 segments or more, and if the device fails.
    pub fn new(device: &Device, offsets: &[u64]) -> Result<Self, DeviceError> {
        Ok(Self { parts: Parts::new::<K>(device, offsets)?, of: PhantomData })
    }

    /// The number of segments.
    #[must_use]
    pub fn count(&self) -> usize {
        self.parts.offsets.len() - 1
    }

    /// The elements of all segments together.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.parts.len
    }
}

/// The segments of an array, by the way they are sorted.
pub(in crate::primitives) struct Parts {
    /// The elements of all.
    pub(super) len: usize,
    offsets: Buffer<u64>,
    /// As in [`kernels::Segments::starts`].
    windows: Buffer<u32>,
    has_short: bool,
    /// Keys of the shortest and the longest segment of those that are sorted in windows.
    medium: Option<[usize; 2]>,
    /// Segments with one block each, by the size of that block.
    alone: Vec<Alone>,
    /// Those that are sorted together by passes.
    long: Option<Long>,
    /// Segments that are sorted by passes, each in turn.
    longest: Vec<Range<usize>>,
}

/// Segments with one block each, of so many threads.
struct Alone {
    segments: Buffer<u32>,
    threads: u32,
}

/// Segments that are sorted together by passes.
struct Long {
    bounds: Buffer<u64>,
    /// For payloads of 0, 4 and 8 bytes.
    plans: [(Plan, Buffer<u64>); 3],
}

impl Parts {
    fn new<K: Key>(device: &Device, offsets: &[u64]) -> Result<Self, DeviceError> {
        check_offsets(offsets)?;
        if u32::try_from(offsets.len()).is_err() {
            return Err(DeviceError::Unsupported {
                what: "a sort of 2^32 segments or more",
                device: device.properties().name.clone(),
                needs: "numbers of segments have 32 bits: sort fewer at once",
            });
        }
        let (word, is_90) = (size_of::<K>(), device.properties().compute >= 90);
        let most = one_block_most_threads(word, is_90);
        // A few sizes, at most twice as many places as keys.
        let in_block = |len| {
            let threads = one_block_threads(len, word, is_90)?;
            Some(threads.next_power_of_two().min(most))
        };
        let (mut has_short, mut medium) = (false, None);
        let mut alone = BTreeMap::<u32, Vec<u32>>::new();
        let (mut long, mut longest) = (Vec::new(), Vec::new());
        for (segment, pair) in (0..).zip(offsets.windows(2)) {
            let range = pair[0] as usize..pair[1] as usize;
            match range.len() {
                0 => {}
                1..=SHORT_ROW_MOST => has_short = true,
                len if len <= LONGEST_IN_WINDOWS => {
                    let [shortest, longest] = medium.unwrap_or([len; 2]);
                    medium = Some([len.min(shortest), len.max(longest)]);
                }
                len => match in_block(len) {
                    Some(threads) => alone.entry(threads).or_default().push(segment),
                    None if Plan::has_rows_of(len) => long.push(range),
                    None => longest.push(range),
                },
            }
        }
        let len = *offsets.last().unwrap_or(&0) as usize;
        let of_threads = |(threads, segments): (u32, Vec<u32>)| {
            Ok(Alone { segments: device.upload(&segments)?, threads })
        };
        let alone: Result<_, DeviceError> = alone.into_iter().map(of_threads).collect();
        Ok(Self {
            len,
            offsets: device.upload(offsets)?,
            windows: device.upload(&windows(offsets, len))?,
            has_short,
            medium,
            alone: alone?,
            long: if long.is_empty() { None } else { Some(Long::new::<K>(device, &long)?) },
            longest,
        })
    }

    /// The offsets, which are on the device of the segments.
    pub(super) fn offsets(&self) -> &Buffer<u64> {
        &self.offsets
    }

    /// Whether all are sorted in blocks.
    pub(super) fn need_no_spare(&self) -> bool {
        self.long.is_none() && self.longest.is_empty()
    }
}

impl Long {
    fn new<K: Key>(device: &Device, segments: &[Range<usize>]) -> Result<Self, DeviceError> {
        let lens: Vec<usize> = segments.iter().map(ExactSizeIterator::len).collect();
        let bounds: Vec<u64> =
            segments.iter().flat_map(|of| [of.start as u64, of.len() as u64]).collect();
        let plan_for = |payload| {
            let plan = Plan::of_rows::<K>(device, payload, &lens);
            let mut words = Vec::with_capacity(3 * plan.tiles);
            for (portion, of) in (0..).zip(segments) {
                for (earlier, first) in (0..).zip(of.clone().step_by(plan.tile)) {
                    let len = (of.end - first).min(plan.tile) as u32;
                    words.extend(tile_words(first as u64, len, portion, earlier));
                }
            }
            let words = device.upload(&words)?;
            Ok::<_, DeviceError>((plan, words))
        };
        Ok(Self {
            bounds: device.upload(&bounds)?,
            plans: [plan_for(0)?, plan_for(4)?, plan_for(8)?],
        })
    }

    /// The plan for payloads of `P`, and the words of its tiles.
    fn plan<P: Payload>(&self) -> &(Plan, Buffer<u64>) {
        let payload = if P::IS_HELD { size_of::<P::Word>() } else { 0 };
        &self.plans[payload / 4]
    }
}

/// An error if these are not offsets of segments.
pub(in crate::primitives) fn check_offsets(offsets: &[u64]) -> Result<(), DeviceError> {
    let wrong =
        |at, before| DeviceError::NotOffsets { at, offset: offsets.get(at).copied(), before };
    if offsets.first() != Some(&0) {
        return Err(wrong(0, 0));
    }
    match offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        Some(at) => Err(wrong(at + 1, offsets[at])),
        None => Ok(()),
    }
}

/// For each window of `len` keys the first segment that starts there or later, and at last the number
/// of segments.
fn windows(offsets: &[u64], len: usize) -> Vec<u32> {
    let count = len.div_ceil(WINDOW);
    let starts = &offsets[..offsets.len() - 1];
    let mut windows = Vec::with_capacity(count + 1);
    for (segment, &start) in (0..).zip(starts) {
        while windows.len() < count && (windows.len() * WINDOW) as u64 <= start {
            windows.push(segment);
        }
    }
    windows.resize(count + 1, starts.len() as u32);
    windows
}

impl<K: Key> Sorter<K> {
    /// Submits the launches that sort segments.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the segments are of this type, on this device, and of arrays of
    /// this length.
    pub(super) unsafe fn run_segments<P: Payload<Word: Pod>>(
        &mut self,
        order: K::Order,
        segments: &Parts,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
        how: How<'_>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, Large>>
            + Entry<Pass<K::Word, P, Small>>
            + Entry<OneBlock<K::Word, P>>
            + Entry<Windows<K::Word, P>>
            + Entry<ShortRows<K::Word, P>>,
    {
        let windows = segments.windows.len() - 1;
        let (offsets, starts) = (segments.offsets.view(), segments.windows.view());
        let rows = Rows {
            count: windows as u64,
            len: SHORT_ROW_MOST as u32,
            shortest: 0,
            kept: u32::MAX,
            each: 1,
            are_indices: how.are_indices().into(),
            segments: kernels::Segments { offsets, starts },
        };
        // SAFETY: the caller's promise; the blocks are made for the segments.
        unsafe {
            // First, because it writes more than short segments.
            if segments.has_short {
                self.run_in_warps(order, windows.div_ceil(SHORT_WINDOWS), rows, keys, payloads)?;
            }
            if let Some([shortest, longest]) = segments.medium {
                let properties = self.device.properties();
                let (word, is_90) = (size_of::<K>(), properties.compute >= 90);
                let most = windows_of_block(windows_threads(word, is_90), shortest, longest);
                // So that every multiprocessor has some.
                let each = windows.div_ceil(properties.multiprocessors as usize).min(most as usize);
                let threads = one_block_threads(each * WINDOW + longest - 1, word, is_90)
                    .expect("there are threads for more windows");
                let grid = [windows.div_ceil(each), threads as usize];
                let (len, shortest) = (longest as u32, shortest as u32);
                let rows = Rows { len, shortest, each: each as u32, ..rows };
                self.run_in_windows(order, grid, rows, keys, payloads)?;
            }
            for alone in &segments.alone {
                let starts = alone.segments.view();
                let listed = kernels::Segments { offsets, starts };
                let rows = Rows { count: starts.len() as u64, segments: listed, ..rows };
                let grid = [starts.len(), alone.threads as usize];
                self.run_in_blocks(order, grid, rows, keys, payloads)?;
            }
            if let Some(long) = &segments.long {
                let (plan, tiles) = long.plan::<P>();
                let listed = Listed { bounds: long.bounds.view(), tiles: tiles.view() };
                self.run_in_passes(order, plan, Some(listed), keys, payloads, how)?;
            }
            for row in &segments.longest {
                self.run_row(order, row.clone(), keys, payloads, how)?;
            }
        }
        Ok(())
    }
}

/// Sorts each segment of `input` on all cores of the CPU. The segments are those of [`Segments::new`].
///
/// # Panics
/// If the last offset is not the length of the input, or these are not offsets.
pub fn sort_segments_on_cpu<K: Key>(order: Order, input: &[K], offsets: &[u64]) -> Vec<K> {
    reference::sort_segments(order, input, offsets)
}

/// The indices of the elements of each segment, from 0 in each, in the order of the elements, computed
/// on all cores of the CPU.
///
/// # Panics
/// As [`sort_segments_on_cpu`].
pub fn argsort_segments_on_cpu<K: Key, I: Index>(
    order: Order,
    input: &[K],
    offsets: &[u64],
) -> Vec<I> {
    reference::argsort_segments(order, input, offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_do_not_start_with_0_or_decrease_are_refused() {
        let device = Device::emulator();
        let wrong = |offsets: &[u64]| match Segments::<u32>::new(&device, offsets) {
            Ok(_) => panic!("{offsets:?} are not offsets"),
            Err(error) => error.to_string(),
        };
        assert!(wrong(&[]).contains("there is no offset"), "{}", wrong(&[]));
        assert!(wrong(&[1, 2]).contains("offset 0 is 1"), "{}", wrong(&[1, 2]));
        assert!(wrong(&[0, 5, 4]).contains("offset 2 is 4"), "{}", wrong(&[0, 5, 4]));
    }

    #[test]
    fn each_window_has_the_first_segment_that_starts_there_or_later() {
        assert_eq!(windows(&[0], 0), [0]);
        assert_eq!(windows(&[0, 0, 5, 1024, 1024, 5000, 5120], 5120), [0, 3, 5, 5, 5, 6]);
    }
}
