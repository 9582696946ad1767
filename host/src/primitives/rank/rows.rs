//! The first elements of each row of a matrix.

use super::bracket::Ranks;
use super::ranker::{Ranker, each};
use super::{RankError, Top};
use crate::device::{Buffer, DeviceError};
use crate::primitives::sort::{How, Key, Order};
use crate::reference;
use cuda_std::memory::Global;
use gridsync_entries::rank::TakingRows;
use gridsync_entries::{Entry, KernelOf};

/// The first `k` elements of each of `rows` rows of `columns` elements of `input`, in the order, with
/// their indices in the row, in new buffers on its device: matrices of `rows` rows of `k`.
///
/// # Errors
/// As for [`Ranker::top_k_rows`].
pub fn top_k_rows<K: Key>(
    order: Order,
    input: &Buffer<K>,
    (rows, columns): (usize, usize),
    k: usize,
) -> Result<Top<K>, RankError> {
    let device = input.device();
    if k > columns {
        return Err(RankError::TooMany { k, len: columns });
    }
    // If it overflows, the shape is refused below.
    let kept = rows.checked_mul(k).unwrap_or(0);
    let (mut elements, mut indices) = (device.alloc(kept)?, device.alloc(kept)?);
    let mut ranker = Ranker::new(device, columns)?;
    ranker.top_k_rows(order, input, (rows, columns), (&mut elements, &mut indices))?;
    Ok(Top { elements, indices })
}

/// The first `k` elements of each row of `input` in the order, with their indices in the row, computed
/// on all cores of the CPU.
///
/// # Errors
/// [`RankError::TooMany`] if rows have fewer.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn top_k_rows_on_cpu<K: Key>(
    order: Order,
    input: &[K],
    (rows, columns): (usize, usize),
    k: usize,
) -> Result<(Vec<K>, Vec<u64>), RankError> {
    if k > columns {
        return Err(RankError::TooMany { k, len: columns });
    }
    let indices = reference::top_k_rows(order, input, rows, columns, k);
    let element = |(place, &index): (usize, &u64)| input[place / k * columns + index as usize];
    Ok((indices.iter().enumerate().map(element).collect(), indices))
}

impl<K: Key> Ranker<K> {
    /// Writes the first elements of each row of `input`, a matrix of `rows` rows of `columns`, in the
    /// order to `elements`, and their indices in the row to `indices`: as many of each row as these
    /// have rows. Of equal elements, those with the smaller index come first.
    ///
    /// Rows that are sorted [in one block](crate::primitives::sort::RowSorter) take one launch, for
    /// all of them. Rows of up to 2^20 elements are sorted together. From longer ones elements are
    /// selected row by row, which waits for the device.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if a buffer is not a matrix of `rows` rows, or the input not
    /// one of this size; [`RankError::TooMany`] if the outputs have more elements in a row than the
    /// input; [`DeviceError::LengthMismatch`] if one of them has more than the other;
    /// [`DeviceError::OtherDevice`] if a buffer is not on this device; and if the device fails.
    pub fn top_k_rows(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        (rows, columns): (usize, usize),
        (elements, indices): (&mut Buffer<K>, &mut Buffer<u64>),
    ) -> Result<(), RankError> {
        self.device.expect_own(input)?;
        self.device.expect_own(elements)?;
        self.device.expect_own(indices)?;
        if rows.checked_mul(columns) != Some(input.len()) {
            return Err(DeviceError::ShapeMismatch { rows, columns, given: input.len() }.into());
        }
        if indices.len() != elements.len() {
            let (buffer, given) = (indices.len(), elements.len());
            return Err(DeviceError::LengthMismatch { buffer, given }.into());
        }
        let k = elements.len().checked_div(rows).unwrap_or(0);
        if k * rows != elements.len() {
            let given = elements.len();
            return Err(DeviceError::ShapeMismatch { rows, columns: k, given }.into());
        }
        if k > columns {
            return Err(RankError::TooMany { k, len: columns });
        }
        let Some(last) = k.checked_sub(1) else { return Ok(()) };
        let how = How::rows(rows, columns);
        let (input, to) = (input.view().cast(), (elements.view().cast(), indices.view()));
        let is_in_blocks = how.in_blocks::<K>(&self.device).is_some();
        // SAFETY: all three are on this device and borrowed, and the outputs have `k` elements for
        // each row.
        unsafe {
            if is_in_blocks {
                self.sorter.sort_rows_view(order, input, to, how.keeping(k))?;
            } else if columns <= self.tuning.shortest {
                self.take_from_sorted_rows(order, input, to, how)?;
            } else {
                for row in 0..rows {
                    let input = input.part(row * columns, columns);
                    let to = (to.0.part(row * k, k), to.1.part(row * k, k));
                    let found = self.find(order, input, Ranks { first: 0, last }, false)?;
                    self.take(input, found.places, to)?;
                }
            }
        }
        Ok(())
    }

    /// Sorts the indices of each row, and takes the elements at the first of them.
    ///
    /// # Safety
    /// The views are on this device, and nothing else uses them until the launches have ended.
    unsafe fn take_from_sorted_rows(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        (elements, indices): (Global<K::Word>, Global<u64>),
        how: How,
    ) -> Result<(), DeviceError> {
        self.sorted.fit(input.len())?;
        let sorted = self.sorted.view().part(0, input.len());
        let taking = TakingRows {
            input,
            sorted,
            columns: how.columns as u64,
            kept: (elements.len() / how.rows) as u64,
            elements,
            indices,
        };
        let args = K::Keys::default().arguments(taking);
        // SAFETY: the caller's promise; the indices are as many as the keys, and the grid is made for
        // the outputs; the kernel starts with the wait for the previous one.
        unsafe {
            self.sorter.run_argsort(order, input, sorted, how)?;
            self.device.launch_in_a_row::<KernelOf<K::Keys, TakingRows<K::Word>>>(
                &each(elements.len()),
                args,
            )
        }
    }
}
