//! The distinct values of an array that need not be sorted, as numpy.unique finds them: each value
//! once, the number of elements with it, and the index of the first of them.
//!
//! Keys and orders are those of the [sort](mod@super::sort). Values are equal if the order says so:
//! −0 equals +0, and all NaNs are one value, the last one in [ascending](Order::ASCENDING) order. In
//! the [total order](Order::is_total) floats are equal only if their bits are. The element that
//! stands for a value is always the first one in the array. So results have the same bits on the GPU,
//! in the emulator and on the CPU.
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::primitives::sort::Order;
//! use gridsync::primitives::value_counts;
//!
//! let input = Device::emulator().upload(&[2.5f32, -1.0, 2.5, f32::NAN, 2.5])?;
//! let found = value_counts(Order::ASCENDING, &input)?;
//! assert_eq!(found.elements[..2], [-1.0, 2.5]);
//! assert!(found.elements[2].is_nan());
//! assert_eq!(found.counts, [1, 3, 1]);
//! assert_eq!(found.indices, [1, 0, 3]);
//! # Ok::<(), DeviceError>(())
//! ```
//!
//! [`select::unique`](super::select::unique) compares only neighbours, and does not sort.

#[cfg(test)]
mod tests;

use super::select::{FirstOfRun, Selectable, Selector};
use super::sort::{Key, Order, Sorter};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference::{self, run_lengths, run_starts};
use bytemuck::Pod;
use bytemuck::allocation::cast_vec;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::rank::{Keys, Taking};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{Places, THREADS};
use gridsync_kernels::grid::select::Outputs;

pub use crate::reference::ValueCounts;

/// The distinct values of `input`, in `order`.
///
/// To count more than once, keep a [`ValueCounter`], which allocates less.
///
/// # Errors
/// If the device fails.
#[doc(alias = "unique")]
#[doc(alias = "distinct")]
pub fn value_counts<K: Key>(
    order: Order,
    input: &Buffer<K>,
) -> Result<ValueCounts<K>, DeviceError> {
    ValueCounter::new(input.device(), input.len())?.count(order, input)
}

/// The distinct values of `input`, in `order`, computed on all cores of the CPU. The bits are those
/// of [`value_counts`].
pub fn value_counts_on_cpu<K: Key>(order: Order, input: &[K]) -> ValueCounts<K> {
    reference::value_counts(order, input)
}

/// Finds the distinct values of arrays on one device, and keeps the working memory: for each element
/// three times its size and 24 bytes, and 8 bytes for each value. Elements of 1 and 2 bytes need
/// twice their size and 16 bytes.
///
/// The elements are sorted with their indices. A selection then finds where the bits change in the
/// sorted array, and the host joins runs that differ only in their bits: those of zeros, and those
/// of NaNs. The selection has no kernels for elements of 1 and 2 bytes. They are sorted on
/// the device too, but all are copied to the host, which finds the runs on all cores.
pub struct ValueCounter<K: Key> {
    device: Device,
    sorter: Sorter<K>,
    /// The elements in order, and their indices.
    sorted: Buffer<K::Word>,
    indices: Buffer<u64>,
    changes: Changes,
    /// The first element of each run.
    kept: Buffer<K::Word>,
    /// Where the runs start, how many there are, and the indices of their first elements.
    starts: Buffer<u64>,
    count: Buffer<u64>,
    firsts: Buffer<u64>,
}

/// Finds where the bits change in a sorted array.
enum Changes {
    OfFourBytes(Selector<FirstOfRun<u32>>),
    OfEightBytes(Selector<FirstOfRun<u64>>),
    /// Of shorter elements.
    OnHost,
}

impl<K: Key> ValueCounter<K> {
    /// Allocates the working memory for arrays on `device` of up to `longest` elements. Some is
    /// allocated when it is first needed, and more for longer arrays.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let changes = match size_of::<K>() {
            4 => Changes::OfFourBytes(Selector::new(FirstOfRun::new(), device, longest)?),
            8 => Changes::OfEightBytes(Selector::new(FirstOfRun::new(), device, longest)?),
            _ => Changes::OnHost,
        };
        let mut counter = Self {
            device: device.clone(),
            sorter: Sorter::new(device, longest)?,
            sorted: device.alloc(0)?,
            indices: device.alloc(0)?,
            changes,
            kept: device.alloc(0)?,
            starts: device.alloc(0)?,
            count: device.alloc(1)?,
            firsts: device.alloc(0)?,
        };
        counter.fit(longest)?;
        Ok(counter)
    }

    /// Makes room for `len` elements.
    fn fit(&mut self, len: usize) -> Result<(), DeviceError> {
        fit(&mut self.sorted, len)?;
        fit(&mut self.indices, len)?;
        if !matches!(self.changes, Changes::OnHost) {
            fit(&mut self.kept, len)?;
            fit(&mut self.starts, len)?;
        }
        Ok(())
    }

    /// The distinct values of `input`, in `order`. Waits for the device.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if the input is not on this device, and if the device fails.
    pub fn count(
        &mut self,
        order: Order,
        input: &Buffer<K>,
    ) -> Result<ValueCounts<K>, DeviceError> {
        self.device.expect_own(input)?;
        let len = input.len();
        if len == 0 {
            return Ok(ValueCounts::default());
        }
        self.fit(len)?;
        let sorted = (self.sorted.view().part(0, len), self.indices.view().part(0, len));
        // SAFETY: all three are on this device and as long; they are different buffers, and `&mut
        // self` and the order of the stream keep others off the outputs.
        unsafe { self.sorter.sort_with_indices_view(order, input.view().cast(), sorted)? };
        let (firsts, starts) = self.runs(order, len)?;
        let indices = self.indices_at(starts.len())?;
        // In the sorted array equal elements are neighbours, the first one before the others.
        let joined = run_starts(order, &firsts);
        let of_joined = |all: &[u64]| joined.iter().map(|&run| all[run as usize]).collect();
        let starts: Vec<u64> = of_joined(&starts);
        Ok(ValueCounts {
            elements: joined.iter().map(|&run| firsts[run as usize]).collect(),
            counts: run_lengths(&starts, len),
            indices: of_joined(&indices),
        })
    }

    /// The first elements of runs of equal bits in the `len` sorted elements, and where the runs
    /// start; on the device too. The host finds those of short elements, by `order`.
    fn runs(&mut self, order: Order, len: usize) -> Result<(Vec<K>, Vec<u64>), DeviceError> {
        let sorted = self.sorted.view().part(0, len);
        let (kept, starts, count) = (self.kept.view(), self.starts.view(), self.count.view());
        // SAFETY: the words have this size; the outputs have room for as many as are sorted, and
        // `&mut self` and the order of the stream keep others off them.
        unsafe {
            match &mut self.changes {
                Changes::OfFourBytes(selector) => {
                    first_of_runs(selector, sorted.cast(), (kept.cast(), starts, count))?;
                }
                Changes::OfEightBytes(selector) => {
                    first_of_runs(selector, sorted.cast(), (kept.cast(), starts, count))?;
                }
                Changes::OnHost => {
                    let sorted: Vec<K> = cast_vec(self.sorted.download_part(0..len)?);
                    let starts = run_starts(order, &sorted);
                    self.starts = self.device.upload(&starts)?;
                    let firsts = starts.iter().map(|&start| sorted[start as usize]).collect();
                    return Ok((firsts, starts));
                }
            }
        }
        let count = self.count.download()?[0] as usize;
        let firsts = cast_vec(self.kept.download_part(0..count)?);
        Ok((firsts, self.starts.download_part(0..count)?))
    }

    /// The indices of the elements with which the first `count` runs start.
    fn indices_at(&mut self, count: usize) -> Result<Vec<u64>, DeviceError> {
        fit(&mut self.firsts, count)?;
        let starts = self.starts.view().part(0, count);
        let none = starts.part(0, 0);
        let taking = Taking {
            input: self.indices.view(),
            places: Places { sorted: starts, positions: [none; 2], first: 0 },
            elements: self.firsts.view().part(0, count),
            indices: starts,
        };
        let grid = Geometry::new(count.div_ceil(THREADS as usize) as u32, THREADS);
        let args = Keys::<u64>::new().arguments(taking);
        // SAFETY: the grid has a thread for each run, whose start is the place of an index; the
        // indices may replace the places; `&mut self` and the order of the stream keep others off; the
        // kernel starts with the wait for the previous one.
        unsafe { self.device.launch_in_a_row::<KernelOf<Keys<u64>, Taking<u64>>>(&grid, args)? };
        self.firsts.download_part(0..count)
    }
}

/// Makes room for `len` elements. If there were fewer, all of them are new.
fn fit<T: Pod>(buffer: &mut Buffer<T>, len: usize) -> Result<(), DeviceError> {
    if buffer.len() < len {
        *buffer = buffer.device().alloc(len)?;
    }
    Ok(())
}

/// Submits the selection of the first of each run of equal words, with where the runs start and how
/// many there are.
///
/// # Safety
/// As for [`select_view`](Selector::select_view), but the first two outputs may be longer.
unsafe fn first_of_runs<W: Pod + Scalar>(
    selector: &mut Selector<FirstOfRun<W>>,
    words: Global<W>,
    (kept, starts, count): (Global<W>, Global<u64>, Global<u64>),
) -> Result<(), DeviceError>
where
    FirstOfRun<W>: Selectable<Element = W>,
{
    let len = words.len();
    let (kept, rest, positions) = (kept.part(0, len), kept.part(0, 0), starts.part(0, len));
    // SAFETY: the caller's promise.
    unsafe { selector.select_view(words, Outputs { kept, rest, positions, count }) }
}
