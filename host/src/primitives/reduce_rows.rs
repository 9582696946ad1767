//! Reductions of each row of a matrix to one value.

use super::carried;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::{Global, Scalar};
use cuda_std::warp::WARP_SIZE;
pub use gridsync_entries::finish::{Arguments as FinishArguments, Finished};
pub use gridsync_entries::reduce_rows::{
    LongArguments, LongCommon, RowReducible, ShortArguments, ShortCommon,
};
use gridsync_entries::{Entry, KernelOf, NoKernel};
use gridsync_kernels::grid::reduce::{Batch, ROW_STATE, SMALL, Shape};
use gridsync_kernels::op::{Carried, Operation};
use std::ops::Range;

/// Warps per block for short rows.
// As many as in a block for a small array. Other numbers have not been measured.
const WARPS: u32 = SMALL;

/// Threads per block of the kernel that finishes results, as many as it is compiled for.
const FINISH_THREADS: u32 = 128;

/// A grid with `blocks` blocks along x for each of `rows` rows, which are at least one.
pub(super) fn grid_of_rows(blocks: u32, rows: usize) -> (u32, u32, u32) {
    let along_z = rows.div_ceil(Geometry::MOST_ALONG_Y as usize);
    let along_y = rows.div_ceil(along_z);
    (blocks, along_y as u32, along_z as u32)
}

/// Reduces each of `rows` rows of `columns` elements of `input`, stored in row-major order, by `op`
/// on its device.
///
/// For empty rows the results are derived from the identity of the operation. To reduce more than
/// one matrix of a size, keep a [`RowReducer`], which allocates only when it is created.
///
/// # Errors
/// As for [`RowReducer::new`] and [`RowReducer::reduce`].
pub fn reduce_rows<O: RowReducible>(
    op: O,
    input: &Buffer<O::Element>,
    rows: usize,
    columns: usize,
) -> Result<Vec<O::Output>, DeviceError>
where
    O::Element: Pod,
{
    RowReducer::new(op, input.device(), rows, columns)?.reduce(input)
}

/// Reduces each row by `op` on all cores of the CPU, with the same bits.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn reduce_rows_on_cpu<O: Operation>(
    op: O,
    input: &[O::Element],
    rows: usize,
    columns: usize,
) -> Vec<O::Output>
where
    O::Output: Send,
{
    reference::reduce_rows(op, input, rows, columns)
}

/// A reduction by one operation of the rows of matrices of one size on one device: its plan and its
/// working memory.
///
/// One launch per matrix. The result of a row has the same bits as from a
/// [`Reducer`](super::Reducer) for the row alone, for any number of rows and at any position. Rows
/// that start at multiples of 16 bytes are read with half as many loads as others.
///
/// A plan is for one size of matrix, because each row counts its own stamps: the words of a row
/// must not move.
pub struct RowReducer<O: RowReducible> {
    op: O,
    device: Device,
    rows: usize,
    columns: usize,
    plan: Plan,
    words: Buffer<u64>,
    state: Buffer<u32>,
    results: Buffer<u32>,
    /// Whether the last launch was submitted to the stream, or to a graph.
    is_launched: bool,
}

/// How the rows are distributed: the kernel, its grid, and the data about the columns that it
/// needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// The matrix has no rows.
    Nothing,
    /// One batch of rows per warp.
    Short { batch: Batch, geometry: Geometry },
    /// One grid of blocks per row.
    Long { shape: Shape, geometry: Geometry },
}

impl Plan {
    // The threshold between short and long rows, one run of 4 KiB, is what a warp loads at once.
    // Other thresholds have not been measured.
    fn of<O: RowReducible>(rows: usize, columns: usize) -> Self {
        if rows == 0 {
            return Self::Nothing;
        }
        if let Some(batch) = Batch::of::<O::Element>(columns) {
            let warps = rows.div_ceil(batch.rows());
            // For more than 2^32 blocks, the results or the rows would not fit in any memory.
            let blocks = warps.div_ceil(WARPS as usize) as u32;
            let geometry = Geometry::new(blocks, WARPS * WARP_SIZE);
            return Self::Short { batch, geometry };
        }
        let shape = Shape::of::<O::Element>(columns);
        let warps = match shape.tiles {
            1 => columns.div_ceil(Shape::run::<O::Element>()) as u32,
            _ => shape.warps,
        };
        let geometry = Geometry::new(grid_of_rows(shape.tiles, rows), warps * WARP_SIZE);
        Self::Long { shape, geometry }
    }

    /// The words and the state of each row.
    fn workspace(&self, words: usize) -> (usize, usize) {
        match self {
            Self::Long { shape, .. } if shape.tiles > 1 => {
                (shape.leaves() as usize * words, ROW_STATE)
            }
            _ => (0, 0),
        }
    }
}

impl<O: RowReducible> RowReducer<O>
where
    O::Element: Pod,
{
    /// Plans reductions by `op` of `rows` rows of `columns` elements on `device`, and allocates
    /// their working memory: one accumulator per row, and, if rows are longer than 32 KiB, at most
    /// a 240th of the matrix per word of an accumulator.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(op: O, device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        let plan = Plan::of::<O>(rows, columns);
        let of_result = O::Accumulator::WORDS;
        let (words, state) = plan.workspace(of_result);
        Ok(Self {
            op,
            device: device.clone(),
            rows,
            columns,
            plan,
            words: device.zeroed(rows.saturating_mul(words))?,
            state: device.zeroed(rows.saturating_mul(state))?,
            results: device.alloc(rows.saturating_mul(of_result))?,
            is_launched: false,
        })
    }

    /// Makes the driver compile the kernel now instead of at the first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        match &self.plan {
            Plan::Nothing => Ok(()),
            Plan::Short { .. } => self.device.compile::<KernelOf<O, ShortCommon<O>>>(),
            Plan::Long { .. } => self.device.compile::<KernelOf<O, LongCommon<O>>>(),
        }
    }

    /// Reduces the rows of `input` and waits for the results.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), and if the device fails.
    pub fn reduce(&mut self, input: &Buffer<O::Element>) -> Result<Vec<O::Output>, DeviceError> {
        self.launch(input)?;
        self.results()
    }

    /// Submits the reduction of the rows of `input` to the stream. Does not allocate or wait.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if `input` does not have rows × columns elements,
    /// [`DeviceError::OtherDevice`] if it is not on the device of this plan, and if the launch
    /// fails.
    pub fn launch(&mut self, input: &Buffer<O::Element>) -> Result<(), DeviceError> {
        self.launch_part(input, 0..input.len())
    }

    /// Like [`launch`](Self::launch), for the matrix in the elements `part` of `input`. If the part
    /// does not start at a multiple of 16 bytes, all of its rows are read in the slower way.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Panics
    /// If the part is not inside the input.
    pub fn launch_part(
        &mut self,
        input: &Buffer<O::Element>,
        part: Range<usize>,
    ) -> Result<(), DeviceError> {
        assert!(
            part.start <= part.end && part.end <= input.len(),
            "a part {part:?} of {} elements",
            input.len()
        );
        self.is_launched = false;
        self.launch_words(input, part, self.results.view())?;
        self.is_launched = true;
        Ok(())
    }

    /// Submits the reduction of the rows of `input`, and leaves the result of each in `output`, on
    /// the device. Does not allocate or wait. Results that are not elements of `R` are stored as
    /// [`Stored`](gridsync_kernels::op::Stored) says.
    ///
    /// A second launch makes the results if accumulators have another type.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); [`DeviceError::LengthMismatch`] unless `output` has one
    /// element per row.
    pub fn launch_into<R: Pod + Scalar>(
        &mut self,
        input: &Buffer<O::Element>,
        output: &mut Buffer<R>,
    ) -> Result<(), DeviceError>
    where
        O: Finished<R>,
    {
        self.is_launched = false;
        self.device.expect_own(output)?;
        if output.len() != self.rows {
            return Err(DeviceError::LengthMismatch { buffer: output.len(), given: self.rows });
        }
        if <O as Finished<R>>::Kernel::NAME == NoKernel::NAME {
            let words = self.rows * O::Accumulator::WORDS;
            // SAFETY: without a kernel, `Finished` promises that the words of an accumulator are the
            // bytes of a result. The buffer is borrowed exclusively.
            let words = unsafe { Global::from_address(output.address(), words) };
            return self.launch_words(input, 0..input.len(), words);
        }
        self.launch_words(input, 0..input.len(), self.results.view())?;
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.columns as u64;
        let (words, output) = (self.results.view(), output.view());
        let args =
            Finished::arguments(self.op, FinishArguments { words, output, columns, ddof: 0 });
        // As above, more blocks have no room for their rows.
        let blocks = self.rows.div_ceil(FINISH_THREADS as usize) as u32;
        let geometry = Geometry::new(blocks, FINISH_THREADS);
        // SAFETY: there is a thread for each row, and the words of an accumulator for each, which
        // the launch before has written; `Finished` promises that the kernel finishes them, after
        // the wait for that one; a dropped buffer waits for the stream.
        unsafe { self.device.launch_in_a_row::<<O as Finished<R>>::Kernel>(&geometry, args) }
    }

    /// Submits the reduction of the elements `part` of `input`, with the words of the accumulator of
    /// each row in `result`.
    fn launch_words(
        &mut self,
        input: &Buffer<O::Element>,
        part: Range<usize>,
        result: Global<u32>,
    ) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        let (rows, columns) = (self.rows, self.columns);
        if rows.checked_mul(columns) != Some(part.len()) {
            return Err(DeviceError::ShapeMismatch { rows, columns, given: part.len() });
        }
        let input = input.view().part(part.start, part.len());
        match &self.plan {
            Plan::Nothing => {}
            Plan::Short { batch, geometry } => {
                let common = ShortArguments {
                    input,
                    result,
                    columns: columns as u32,
                    log_packs: batch.log_packs,
                };
                let args = Entry::arguments(self.op, common);
                // SAFETY: the batch is made for the columns, which are fewer than 2^32, and the
                // grid has a warp for each batch; the input has rows × columns elements, and the
                // results have room for the rows; a dropped buffer waits for the stream;
                // `Entry` promises that the kernel reduces by `op`, after the wait for the
                // previous kernel.
                unsafe {
                    self.device.launch_in_a_row::<KernelOf<O, ShortCommon<O>>>(geometry, args)?
                };
            }
            Plan::Long { shape, geometry } => {
                let common = LongArguments {
                    input,
                    words: self.words.view(),
                    state: self.state.view(),
                    result,
                    columns: columns as u64,
                    runs: shape.runs,
                };
                let args = Entry::arguments(self.op, common);
                // SAFETY: the shape is made for the columns, and the grid has the blocks of the
                // shape for each row; the words and the state have room for each row and were
                // zeroed, and each launch leaves them ready for the next one of the same shape;
                // `&mut self` and the stream order keep other launches off them; a dropped buffer
                // waits for the stream; `Entry` promises that the kernel reduces by `op`,
                // after the wait for the previous kernel.
                unsafe {
                    self.device.launch_in_a_row::<KernelOf<O, LongCommon<O>>>(geometry, args)?
                };
            }
        }
        Ok(())
    }

    /// The words of the accumulator of each row, which the last launch writes.
    pub(super) fn accumulators(&self) -> Global<u32> {
        self.results.view()
    }

    /// The results of the last [`launch`](Self::launch), or of the last replay of a graph that
    /// recorded it, one per row. Waits for them.
    ///
    /// # Errors
    /// [`DeviceError::NoResult`] if nothing was launched or the last launch failed, and if the
    /// stream fails.
    pub fn results(&self) -> Result<Vec<O::Output>, DeviceError> {
        if !self.is_launched {
            let what = "result of a reduction of rows";
            return Err(DeviceError::NoResult { what });
        }
        let all = self.results.download()?;
        let rows = all
            .chunks_exact(O::Accumulator::WORDS)
            .map(|row| self.op.finish_of(carried(row), self.columns as u64));
        Ok(rows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};
    use cuda_std::launch::KernelArg;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{ArgMin, Indexed};

    /// The index of the element nearest to a number: an operation with a parameter, an accumulator
    /// of four words, and a result of a different type than both.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Nearest {
        to: f64,
    }

    // SAFETY: `repr(C)` of one f64 on both sides.
    unsafe impl KernelArg for Nearest {}

    impl Operation for Nearest {
        type Element = f64;
        type Accumulator = Indexed<f64>;
        type Output = Option<u64>;
        const COMMUTATIVE: bool = true;

        fn identity(self) -> Indexed<f64> {
            ArgMin::<f64>::new().identity()
        }

        fn lift(self, element: f64, index: u64) -> Indexed<f64> {
            ArgMin::<f64>::new().lift((element - self.to).abs(), index)
        }

        fn combine(self, a: Indexed<f64>, b: Indexed<f64>) -> Indexed<f64> {
            ArgMin::<f64>::new().combine(a, b)
        }

        fn finish(self, all: Indexed<f64>) -> Option<u64> {
            let found = ArgMin::<f64>::new().finish(all);
            found.map(|found| found.index)
        }
    }

    #[kernel]
    unsafe fn nearest_of_short_rows(common: ShortArguments<f64>, op: Nearest) {
        common.reduce(op);
    }

    #[kernel]
    unsafe fn nearest_of_long_rows(common: LongArguments<f64>, op: Nearest) {
        common.reduce(op);
    }

    // SAFETY: the kernel reduces by the operation that it gets, with its arguments in order.
    unsafe impl Entry<ShortArguments<f64>> for Nearest {
        type Kernel = nearest_of_short_rows;

        fn arguments(self, common: ShortArguments<f64>) -> (ShortArguments<f64>, Self) {
            (common, self)
        }
    }

    // SAFETY: as above.
    unsafe impl Entry<LongArguments<f64>> for Nearest {
        type Kernel = nearest_of_long_rows;

        fn arguments(self, common: LongArguments<f64>) -> (LongArguments<f64>, Self) {
            (common, self)
        }
    }

    #[test]
    fn a_custom_operation_finds_the_index_in_each_row() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let op = Nearest { to: 50.25 };
        for columns in [1, 3, 64, 77, 511, 512, 513, 4096, 4097, 9001] {
            let rows = 3000usize.div_ceil(columns).max(3);
            // Each value occurs again, at another position of each row.
            let host: Vec<f64> = (0..rows * columns).map(|i| (i * 37 % 101) as f64).collect();
            let expected: Vec<_> = host
                .chunks(columns)
                .map(|row| {
                    let apart = |&i: &usize| (row[i] - 50.25).abs();
                    let first = (0..columns).min_by(|a, b| apart(a).total_cmp(&apart(b)));
                    first.map(|at| at as u64)
                })
                .collect();
            let input = device.upload(&host).expect("there is room");
            let found = reduce_rows(op, &input, rows, columns);
            assert_eq!(found.as_ref(), Ok(&expected), "{columns} columns");
            assert_eq!(reduce_rows_on_cpu(op, &host, rows, columns), expected);
        }
    }
}
