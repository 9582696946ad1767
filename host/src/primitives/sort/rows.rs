//! Sorts of the rows of a matrix, each row separately.

use super::run::How;
use super::{Index, Key, Moved, Nothing, Order, Segments, Sorter};
use crate::device::{Buffer, DeviceError};
use crate::primitives::count_of;
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::grid::sort::Arrays;

/// Sorts the rows of matrices of one size, stored in row-major order, the [segments](Segments) of
/// arrays, or [some elements](Sorter::counted), with the working memory of a [`Sorter`].
///
/// Rows of up to 32 elements are sorted in one warp, several together. Rows that fit into one block
/// are sorted there, as many together as fit: up to 4096 elements, and from compute capability 9.0
/// up to 12288, or 8192 of 8 bytes. Both take one launch, read the matrix once, and need no working
/// memory. Longer rows, up to 2^20 elements, are sorted by the same launches as one array, and need
/// 2 KiB more for each row and byte of a key. Still longer ones are sorted in turn.
pub struct RowSorter<'a, K: Key> {
    sorter: &'a mut Sorter<K>,
    how: How<'a>,
}

impl<K: Key> Sorter<K> {
    /// Sorts of matrices of `rows` rows of `columns` elements.
    ///
    /// ```
    /// use gridsync::device::Device;
    /// use gridsync::primitives::sort::{Order, Sorter};
    ///
    /// let device = Device::emulator();
    /// let mut rows = device.upload(&[3, 1, 2, 9, 7, 8])?;
    /// Sorter::new(&device, 0)?.rows(2, 3).launch_in_place(Order::ASCENDING, &mut rows)?;
    /// assert_eq!(rows.download()?, [1, 2, 3, 7, 8, 9]);
    /// # Ok::<(), gridsync::device::DeviceError>(())
    /// ```
    pub fn rows(&mut self, rows: usize, columns: usize) -> RowSorter<'_, K> {
        RowSorter { sorter: self, how: How::rows(rows, columns) }
    }

    /// Sorts of the first elements of arrays of `len` elements. Their number is the value of `count`
    /// when a launch starts, and at most `len`: the host need not know how many a selection has kept.
    /// The other elements of an output do not change. Tiles past the first ones move no memory.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if `count` is not on the device of this sorter, and
    /// [`DeviceError::LengthMismatch`] if it does not have exactly one element.
    pub fn counted<'a>(
        &'a mut self,
        len: usize,
        count: &'a Buffer<u64>,
    ) -> Result<RowSorter<'a, K>, DeviceError> {
        let count = count_of(&self.device, count)?;
        Ok(RowSorter { sorter: self, how: How::counted(len, count) })
    }

    /// Sorts of the segments of arrays, each separately.
    ///
    /// ```
    /// use gridsync::device::Device;
    /// use gridsync::primitives::sort::{Order, Segments, Sorter};
    ///
    /// let device = Device::emulator();
    /// let mut keys = device.upload(&[3, 1, 2, 9, 8])?;
    /// let segments = Segments::new(&device, &[0, 3, 3, 5])?;
    /// Sorter::new(&device, 0)?.segments(&segments).launch_in_place(Order::ASCENDING, &mut keys)?;
    /// assert_eq!(keys.download()?, [1, 2, 3, 8, 9]);
    /// # Ok::<(), gridsync::device::DeviceError>(())
    /// ```
    pub fn segments<'a>(&'a mut self, segments: &'a Segments<K>) -> RowSorter<'a, K> {
        RowSorter { sorter: self, how: How::segments(&segments.parts) }
    }
}

impl<K: Key> RowSorter<'_, K> {
    /// Submits the sort of the rows of `input` into those of `output` to the stream. Does not wait.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if a buffer is not a matrix of this size; otherwise as for
    /// [`Sorter::launch`]. Buffers of segments have to be as long as these.
    pub fn launch(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        output: &mut Buffer<K>,
    ) -> Result<(), DeviceError> {
        let (input, output) = (self.own(input)?, self.own(output)?);
        // SAFETY: both are matrices of this size on this device, and do not overlap.
        unsafe { self.run(order, [input, output], self.how) }
    }

    /// Like [`launch`](Self::launch), but the result replaces the elements.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn launch_in_place(
        &mut self,
        order: Order,
        elements: &mut Buffer<K>,
    ) -> Result<(), DeviceError> {
        let elements = self.own(elements)?;
        // SAFETY: a matrix of this size on this device; the input is the output.
        unsafe { self.run(order, [elements; 2], self.how.in_place()) }
    }

    /// Sorts rows of keys, and moves each value with its key: both from `input` to `output`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn launch_pairs<V: Moved>(
        &mut self,
        order: Order,
        input: (&Buffer<K>, &Buffer<V>),
        output: (&mut Buffer<K>, &mut Buffer<V>),
    ) -> Result<(), DeviceError> {
        let keys = [self.own(input.0)?, self.own(output.0)?];
        let values = [self.own(input.1)?, self.own(output.1)?];
        // SAFETY: all are matrices of this size on this device, and do not overlap.
        unsafe { self.sorter.run_pairs(order, keys, values, self.how) }
    }

    /// Sorts rows of `keys` in place, and moves each of `values` with its key.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn launch_pairs_in_place<V: Moved>(
        &mut self,
        order: Order,
        keys: &mut Buffer<K>,
        values: &mut Buffer<V>,
    ) -> Result<(), DeviceError> {
        let (keys, values) = ([self.own(keys)?; 2], [self.own(values)?; 2]);
        // SAFETY: both are matrices of this size on this device; the inputs are the outputs.
        unsafe { self.sorter.run_pairs(order, keys, values, self.how.in_place()) }
    }

    /// Writes the indices of the elements of each row, from 0 in each, in the order of the elements to
    /// `indices`. Equal elements are in the order of their indices.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), and [`DeviceError::Unsupported`] if the type of the indices
    /// cannot hold all.
    pub fn launch_argsort<I: Index>(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        indices: &mut Buffer<I>,
    ) -> Result<(), DeviceError> {
        self.sorter.expect_indices::<I>(self.how.columns)?;
        let (input, indices) = (self.own(input)?, self.own(indices)?);
        // SAFETY: both are matrices of this size on this device, and do not overlap.
        unsafe { self.sorter.run_argsort(order, input.cast(), indices, self.how) }
    }

    /// Sorts from the first of `keys` to the second.
    ///
    /// # Safety
    /// As for [`Sorter::run`].
    unsafe fn run(
        &mut self,
        order: Order,
        keys: [Global<K>; 2],
        how: How<'_>,
    ) -> Result<(), DeviceError> {
        let [input, output] = keys.map(Global::cast);
        let sorter = &mut *self.sorter;
        let len = if how.needs_no_spare::<K>(&sorter.device) { 0 } else { input.len() };
        sorter.keys.fit(len)?;
        let keys = Arrays { input, spare: sorter.keys.view(), output };
        // SAFETY: the caller's promise; the spare array is as long.
        unsafe { sorter.run::<Nothing>(order, keys, None, how) }
    }

    /// The elements of a buffer, which has to be on this device, and a matrix of this size.
    fn own<T: Scalar + Pod>(&self, buffer: &Buffer<T>) -> Result<Global<T>, DeviceError> {
        self.sorter.device.expect_own(buffer)?;
        let How { rows, columns, segments, .. } = self.how;
        if let Some(segments) = segments {
            self.sorter.device.expect_own(segments.offsets())?;
            return self.sorter.own(buffer, segments.len);
        }
        if rows.checked_mul(columns) == Some(buffer.len()) {
            Ok(buffer.view())
        } else {
            Err(DeviceError::ShapeMismatch { rows, columns, given: buffer.len() })
        }
    }
}

/// Sorts each of `rows` rows of `columns` elements of `input` on all cores of the CPU.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn sort_rows_on_cpu<K: Key>(order: Order, input: &[K], rows: usize, columns: usize) -> Vec<K> {
    reference::sort_rows(order, input, rows, columns)
}

/// The indices of the elements of each row in the order of the elements, computed on all cores of the
/// CPU.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn argsort_rows_on_cpu<K: Key, I: Index>(
    order: Order,
    input: &[K],
    rows: usize,
    columns: usize,
) -> Vec<I> {
    reference::argsort_rows(order, input, rows, columns)
}
