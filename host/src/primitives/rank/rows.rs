//! Selections by rank from each row of a matrix.

use super::bracket::Ranks;
use super::ranker::{Ranker, each};
use super::{QuantileMethod, RankError, Top, kth_on_cpu, places, quantiles_on_cpu, ranks, values};
use crate::device::{Buffer, DeviceError};
use crate::primitives::sort::{How, Key, Order};
use crate::reference;
use cuda_std::memory::Global;
use gridsync_entries::rank::TakingRows;
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::Places;

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

/// The element of rank `rank` of each row of `input`: [`Ranker::kth_rows`].
///
/// # Errors
/// As there.
pub fn kth_rows<K: Key>(
    order: Order,
    input: &Buffer<K>,
    shape: (usize, usize),
    rank: usize,
) -> Result<Vec<(K, u64)>, RankError> {
    Ranker::new(input.device(), shape.1)?.kth_rows(order, input, shape, rank)
}

/// The quantiles `qs` of each row of `input`: [`Ranker::quantiles_rows`].
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::primitives::rank::{QuantileMethod, quantiles_rows};
///
/// let input = Device::emulator().upload(&[2.5f32, 8.0, -1.0, 7.0, 1.0, 4.0])?;
/// let medians = quantiles_rows(&input, (2, 3), &[0.5], QuantileMethod::Linear)?;
/// assert_eq!(medians, [2.5, 4.0]);
/// # Ok::<(), gridsync::primitives::rank::RankError>(())
/// ```
///
/// # Errors
/// As there.
pub fn quantiles_rows<K: Key>(
    input: &Buffer<K>,
    shape: (usize, usize),
    qs: &[f64],
    method: QuantileMethod,
) -> Result<Vec<f64>, RankError> {
    Ranker::new(input.device(), shape.1)?.quantiles_rows(input, shape, qs, method)
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

/// The element of rank `rank` of each row of `input` in the order, and its index in the row, computed
/// on the CPU.
///
/// # Errors
/// [`RankError::NoSuchRank`] if there are rows and they have no more than `rank` elements.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn kth_rows_on_cpu<K: Key>(
    order: Order,
    input: &[K],
    (rows, columns): (usize, usize),
    rank: usize,
) -> Result<Vec<(K, u64)>, RankError> {
    assert_eq!(input.len(), rows * columns, "a matrix of {rows} rows of {columns}");
    (0..rows).map(|row| kth_on_cpu(order, &input[row * columns..][..columns], rank)).collect()
}

/// The quantiles `qs` of each row of `input`, computed on the CPU. The bits are those of
/// [`Ranker::quantiles_rows`].
///
/// # Errors
/// [`RankError::Empty`] and [`RankError::NotAQuantile`], as there.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn quantiles_rows_on_cpu<K: Key>(
    input: &[K],
    (rows, columns): (usize, usize),
    qs: &[f64],
    method: QuantileMethod,
) -> Result<Vec<f64>, RankError> {
    assert_eq!(input.len(), rows * columns, "a matrix of {rows} rows of {columns}");
    let row = |row| &input[row * columns..][..columns];
    let all: Result<Vec<_>, _> =
        (0..rows).map(|at| quantiles_on_cpu(row(at), qs, method)).collect();
    Ok(all?.concat())
}

impl<K: Key> Ranker<K> {
    /// The element of rank `rank`, from 0, of each row of `input`, a matrix of `rows` rows of
    /// `columns`, and its index in the row.
    ///
    /// Rows of up to 2^20 elements are sorted together, which needs memory for an index of each
    /// element. From longer ones elements are selected row by row.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if the input does not have this size;
    /// [`RankError::NoSuchRank`] if there are rows and they have no more than `rank` elements;
    /// [`DeviceError::OtherDevice`] if it is not on this device; and if the device fails.
    pub fn kth_rows(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        (rows, columns): (usize, usize),
        rank: usize,
    ) -> Result<Vec<(K, u64)>, RankError> {
        self.expect_matrix(input, (rows, columns))?;
        if rows > 0 && rank >= columns {
            return Err(RankError::NoSuchRank { rank, len: columns });
        }
        if columns > self.tuning.shortest {
            let row = |row| input.view().cast().part(row * columns, columns);
            // SAFETY: the input is on this device, and borrowed.
            let of_row = |at| unsafe { self.look_up(order, row(at), &[rank], false) };
            return (0..rows).map(of_row).map(|found| Ok(found?.0[0])).collect();
        }
        let (elements, indices) = (self.device.alloc::<K>(rows)?, self.device.alloc::<u64>(rows)?);
        if rows > 0 {
            let to = (elements.view().cast(), indices.view());
            let how = How::rows(rows, columns);
            // SAFETY: all three are on this device and borrowed, and there is one output for each row.
            unsafe { self.take_from_sorted_rows(order, input.view().cast(), rank, to, how)? };
        }
        let elements = elements.download()?;
        Ok(elements.into_iter().zip(indices.download()?).collect())
    }

    /// The [quantiles](Self::quantiles) `qs` of each row of `input`, a matrix of `rows` rows of
    /// `columns`: those of the first row, then those of the second, and so on. They are NaN in a row
    /// with a NaN.
    ///
    /// Rows of up to 2^20 elements are sorted together, which needs memory for a copy of the matrix.
    /// From longer ones elements are selected row by row.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if the input does not have this size; [`RankError::Empty`] if
    /// there are rows and they are empty; [`RankError::NotAQuantile`] for a number outside of 0 to 1;
    /// [`DeviceError::OtherDevice`] if it is not on this device; and if the device fails.
    pub fn quantiles_rows(
        &mut self,
        input: &Buffer<K>,
        (rows, columns): (usize, usize),
        qs: &[f64],
        method: QuantileMethod,
    ) -> Result<Vec<f64>, RankError> {
        self.expect_matrix(input, (rows, columns))?;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let places = places(qs, method, columns)?;
        let mut wanted = ranks(&places);
        if columns > self.tuning.shortest {
            let mut all = Vec::with_capacity(rows * qs.len());
            for row in 0..rows {
                let row = input.view().cast().part(row * columns, columns);
                // SAFETY: the input is on this device, and borrowed.
                let (found, has_nan) =
                    unsafe { self.look_up(Order::ASCENDING, row, &wanted, true)? };
                all.extend(values(&places, found.into_iter().map(|(key, _)| key), has_nan));
            }
            return Ok(all);
        }
        // NaNs are last.
        wanted.push(columns - 1);
        let of_row = |row| wanted.iter().map(move |rank| (row * columns + rank) as u64);
        let indices: Vec<u64> = (0..rows).flat_map(of_row).collect();
        let mut sorted = self.device.alloc::<K>(input.len())?;
        self.sorter.rows(rows, columns).launch(Order::ASCENDING, input, &mut sorted)?;
        let elements = self.device.alloc::<K>(indices.len())?;
        let indices = self.device.upload(&indices)?;
        let of_all = Places { sorted: indices.view(), ..self.as_they_are() };
        let to = (elements.view().cast(), indices.view());
        // SAFETY: all are on this device and outlive the launch, and as long; the elements exist.
        unsafe { self.take(sorted.view().cast(), of_all, to)? };
        let elements = elements.download()?;
        let of_row = |row: &[K]| {
            let (last, row) = row.split_last().expect("at least the last one");
            values(&places, row.iter().copied(), last.to_f64().is_nan())
        };
        Ok(elements.chunks(wanted.len()).flat_map(of_row).collect())
    }

    /// Checks that a buffer is a matrix of this size on this device.
    fn expect_matrix(
        &self,
        input: &Buffer<K>,
        (rows, columns): (usize, usize),
    ) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        if rows.checked_mul(columns) == Some(input.len()) {
            Ok(())
        } else {
            Err(DeviceError::ShapeMismatch { rows, columns, given: input.len() })
        }
    }

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
        self.expect_matrix(input, (rows, columns))?;
        self.device.expect_own(elements)?;
        self.device.expect_own(indices)?;
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
                self.take_from_sorted_rows(order, input, 0, to, how)?;
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

    /// Sorts the indices of each row, and takes the elements from rank `first` on.
    ///
    /// # Safety
    /// The views are on this device, and nothing else uses them until the launches have ended. So many
    /// elements of each row exist.
    unsafe fn take_from_sorted_rows(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        first: usize,
        (elements, indices): (Global<K::Word>, Global<u64>),
        how: How,
    ) -> Result<(), DeviceError> {
        self.sorted.fit(input.len())?;
        let sorted = self.sorted.view().part(0, input.len());
        let taking = TakingRows {
            input,
            sorted: sorted.part(first, input.len() - first),
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
