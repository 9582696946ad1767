//! Softmax of each row of a matrix.
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::primitives::softmax::softmax_rows;
//!
//! let input = Device::emulator().upload(&[0.0f32, 0.0, 5.0, 1000.0])?;
//! assert_eq!(softmax_rows(&input, 2)?.download()?, [0.5, 0.5, 0.0, 1.0]);
//! # Ok::<(), DeviceError>(())
//! ```
//!
//! # Accuracy
//!
//! The error of a result, relative to the true one, is at most u · (m − x + ln n + 2.2 · d + 8),
//! where m is the greatest element of the row, x the element, n the number of columns, u is 2⁻²⁴,
//! or 2⁻⁵³ for f64, and d is 1 for rows of at most 128 KiB, 64 for f16 and bf16, and for longer ones the
//! [depth](crate::reference::reduce_depth) of their reduction. For f16 and bf16 the result is then
//! rounded to that type. Results below the least normal number have this error relative to that
//! number.
//!
//! # Special values
//!
//! All results of a row are NaN if an element is NaN or +∞, or if all are −∞. Otherwise the result
//! of −∞ is 0. Every NaN has the same bits.

use super::RowReducer;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::warp::WARP_SIZE;
use gridsync_entries::Entry;
use gridsync_entries::KernelOf;
pub use gridsync_entries::softmax::{
    LongArguments, MiddleArguments, Rows, ShortArguments, SoftmaxElement,
};
use gridsync_kernels::grid::reduce::{Batch, SMALL, Shape};
use gridsync_kernels::grid::softmax::{Softmax, most_of_middle};

/// Warps per block for long rows.
const WARPS: u32 = SMALL;

/// Warps of a block for short rows.
const FEW_WARPS: u32 = 4;

/// The softmax of each row of `columns` elements of `input`, stored in row-major order, on its
/// device. Does not wait for it.
///
/// For more than one matrix of a size, keep a [`RowSoftmax`], which allocates only when it is
/// created.
///
/// # Errors
/// [`DeviceError::ShapeMismatch`] if the elements are not whole rows, and as for
/// [`RowSoftmax::new`] and [`RowSoftmax::launch`].
pub fn softmax_rows<T: SoftmaxElement + Pod>(
    input: &Buffer<T>,
    columns: usize,
) -> Result<Buffer<T>, DeviceError> {
    let rows = input.len().checked_div(columns).unwrap_or_default();
    let mut softmax = RowSoftmax::new(input.device(), rows, columns)?;
    let mut output = input.device().alloc(input.len())?;
    softmax.launch(input, &mut output)?;
    Ok(output)
}

/// The softmax of each row on all cores of the CPU, with the same bits.
///
/// # Panics
/// If the elements are not whole rows.
pub fn softmax_rows_on_cpu<T: Softmax>(input: &[T], columns: usize) -> Vec<T> {
    let mut output = vec![T::default(); input.len()];
    reference::softmax_rows(input, columns, &mut output);
    output
}

/// Softmax of the rows of matrices of one size on one device: its plan and its working memory.
///
/// One launch per matrix, or two if rows are longer than 128 KiB, or 64 for f16 and bf16. A row has the same bits in any
/// matrix of as many columns. Rows that start at multiples of 16 bytes are read and written with
/// fewer accesses than others.
pub struct RowSoftmax<T: SoftmaxElement> {
    device: Device,
    rows: usize,
    columns: usize,
    plan: Plan<T>,
}

/// How the rows are distributed.
enum Plan<T: SoftmaxElement> {
    /// The matrix is empty.
    Nothing,
    /// One batch of rows per warp.
    Short { batch: Batch, geometry: Geometry },
    /// One row per block.
    Middle { geometry: Geometry },
    /// A reduction, and then one run per warp.
    Long { sums: Box<RowReducer<T::Sum>>, geometry: Geometry },
}

impl<T: SoftmaxElement + Pod> Plan<T> {
    fn of(device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        if rows == 0 || columns == 0 {
            return Ok(Self::Nothing);
        }
        let runs = columns.div_ceil(Shape::run::<T>());
        // For more than 2^31 blocks along x, the rows would not fit in any memory.
        if let Some(batch) = Batch::of::<T>(columns) {
            let blocks = rows.div_ceil(batch.rows()).div_ceil(FEW_WARPS as usize);
            let geometry = Geometry::new(blocks as u32, FEW_WARPS * WARP_SIZE);
            return Ok(Self::Short { batch, geometry });
        }
        if columns <= most_of_middle::<T>() {
            let geometry = Geometry::new(rows as u32, runs as u32 * WARP_SIZE);
            return Ok(Self::Middle { geometry });
        }
        let along_z = rows.div_ceil(Geometry::MOST_ALONG_Y as usize);
        let along_y = rows.div_ceil(along_z);
        let grid = (runs.div_ceil(WARPS as usize) as u32, along_y as u32, along_z as u32);
        let geometry = Geometry::new(grid, WARPS * WARP_SIZE);
        let sums = RowReducer::new(T::Sum::default(), device, rows, columns)?;
        let sums = Box::new(sums);
        Ok(Self::Long { sums, geometry })
    }
}

impl<T: SoftmaxElement + Pod> RowSoftmax<T> {
    /// Plans the softmax of `rows` rows of `columns` elements on `device`. If rows are
    /// long, allocates the working memory of their reduction: see [`RowReducer::new`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        let plan = Plan::of(device, rows, columns)?;
        Ok(Self { device: device.clone(), rows, columns, plan })
    }

    /// Makes the driver compile the kernels now instead of at the first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        match &self.plan {
            Plan::Nothing => Ok(()),
            Plan::Short { .. } => self.device.compile::<KernelOf<T::Rows, ShortArguments<T>>>(),
            Plan::Middle { .. } => self.device.compile::<KernelOf<T::Rows, MiddleArguments<T>>>(),
            Plan::Long { sums, .. } => {
                sums.compile()?;
                self.device.compile::<KernelOf<T::Rows, LongArguments<T>>>()
            }
        }
    }

    /// Submits the softmax of the rows of `input` to the stream, which writes it to `output`. Does
    /// not allocate or wait.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if one of them does not have rows × columns elements,
    /// [`DeviceError::OtherDevice`] if it is not on the device of this plan, and if the launch
    /// fails.
    pub fn launch(&mut self, input: &Buffer<T>, output: &mut Buffer<T>) -> Result<(), DeviceError> {
        let (rows, columns) = (self.rows, self.columns);
        for buffer in [input, &*output] {
            self.device.expect_own(buffer)?;
            if rows.checked_mul(columns) != Some(buffer.len()) {
                return Err(DeviceError::ShapeMismatch { rows, columns, given: buffer.len() });
            }
        }
        let (names, of_input, of_output) = (T::Rows::default(), input.view(), output.view());
        match &mut self.plan {
            Plan::Nothing => Ok(()),
            Plan::Short { batch, geometry } => {
                let args = names.arguments(ShortArguments {
                    input: of_input,
                    output: of_output,
                    rows: rows as u64,
                    columns: columns as u32,
                    log_packs: batch.log_packs,
                });
                // SAFETY: the batch is made for the columns, and the grid has a warp for each
                // batch; both buffers have rows × columns elements, and `&mut` keeps them apart; a
                // dropped buffer waits for the stream; `Entry` promises that the kernel does what
                // its arguments say, after the wait for the previous kernel.
                unsafe {
                    self.device
                        .launch_in_a_row::<KernelOf<T::Rows, ShortArguments<T>>>(geometry, args)
                }
            }
            Plan::Middle { geometry } => {
                let args = names.arguments(MiddleArguments {
                    input: of_input,
                    output: of_output,
                    columns: columns as u32,
                });
                // SAFETY: as above, with a block for each row and a warp for each of its runs.
                unsafe {
                    self.device
                        .launch_in_a_row::<KernelOf<T::Rows, MiddleArguments<T>>>(geometry, args)
                }
            }
            Plan::Long { sums, geometry } => {
                sums.launch(input)?;
                let args = names.arguments(LongArguments {
                    input: of_input,
                    output: of_output,
                    sums: sums.accumulators(),
                    columns: columns as u64,
                });
                // SAFETY: as above, with a warp for each run of each row; the launch before it
                // writes the accumulators, which live as long as the plan.
                unsafe {
                    self.device
                        .launch_in_a_row::<KernelOf<T::Rows, LongArguments<T>>>(geometry, args)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
