//! Scans of each row of a matrix, with the bits of the row alone.

use super::Form;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::primitives::reduce_rows::grid_of_rows;
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use cuda_std::warp::WARP_SIZE;
pub use gridsync_entries::scan_rows::RowScannable;
use gridsync_entries::scan_rows::{
    LongArguments, LongCommon, MiddleArguments, MiddleCommon, ShortArguments, ShortCommon,
};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::scan::{
    MIDDLE_TILES, ROW_STATE, RowLanes, RowStrips, ScanOperation, Shape,
};
use gridsync_kernels::op::{Carried, Operation};

/// Warps per block for short and middle rows. Other numbers have not been measured.
const WARPS: u32 = 8;

/// The fewest rows per multiprocessor of which each has a warp if it has several tiles. Other numbers
/// have not been measured.
const MIDDLE_ROWS: u32 = 8;

/// Scans each row of `columns` elements by `op` on all cores of the CPU, with the bits of a
/// [`RowScanner`].
///
/// # Panics
/// If `input` is not whole rows, or there is too little memory.
pub fn scan_rows_on_cpu<O: ScanOperation>(
    op: O,
    input: &[O::Element],
    columns: usize,
    form: Form,
) -> Vec<O::Output> {
    let mut output = vec![O::Output::default(); input.len()];
    reference::scan_each_row(op, input, columns, form, &mut output)
        .unwrap_or_else(|no_room| panic!("{no_room}"));
    output
}

/// Scans by one operation of the rows of matrices of one size on one device: its plan and its
/// working memory.
///
/// One launch per matrix, which reads and writes it once. A row has the same bits as from a
/// [`Scanner`](super::Scanner) for the row alone, for any number of rows and at any position. Rows
/// that do not start at multiples of 16 bytes are scanned more slowly. For rows of different
/// lengths, use a [`Scanner`](super::Scanner) by
/// [`InSegments`](gridsync_kernels::op::InSegments), whose bits also depend on the place of a row.
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::op::Sum;
/// use gridsync::primitives::RowScanner;
/// use gridsync::primitives::scan::Form;
///
/// let device = Device::emulator();
/// let input = device.upload(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0])?;
/// let mut output = device.alloc(6)?;
/// let mut scanner = RowScanner::new(Sum::<f32>::new(), &device, 2, 3)?;
/// scanner.launch(&input, &mut output, Form::Inclusive)?;
/// assert_eq!(output.download()?, [1.0, 3.0, 6.0, 10.0, 30.0, 60.0]);
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
pub struct RowScanner<O: RowScannable> {
    op: O,
    device: Device,
    rows: usize,
    columns: usize,
    plan: Plan,
    words: Buffer<u64>,
    state: Buffer<u32>,
}

/// How the rows are distributed: the kernel, its grid, and the data about the columns that it needs.
#[derive(Clone, Copy)]
enum Plan {
    /// The matrix has no elements.
    Nothing,
    /// Some lanes of a warp per row.
    Short { lanes: RowLanes, geometry: Geometry },
    /// A warp per row, or for several.
    Middle { strips: RowStrips, geometry: Geometry },
    /// One grid of blocks per row.
    Long { shape: Shape, geometry: Geometry },
}

impl Plan {
    fn of<O: ScanOperation>(device: &Device, rows: usize, columns: usize) -> Self {
        if rows == 0 || columns == 0 {
            return Self::Nothing;
        }
        // For more than 2^32 blocks, the rows would not fit in any memory.
        let warps =
            |count: usize| Geometry::new(count.div_ceil(WARPS as usize) as u32, WARPS * WARP_SIZE);
        if let Some(lanes) = RowLanes::of::<O::Element>(columns) {
            return Self::Short { lanes, geometry: warps(rows.div_ceil(lanes.rows())) };
        }
        let shape = Shape::of::<O::Element, O::Accumulator>(columns);
        let has_small_tiles = shape.rows == 1 && shape.tiles <= MIDDLE_TILES;
        let many = (MIDDLE_ROWS * device.properties().multiprocessors) as usize;
        if has_small_tiles && (shape.tiles == 1 || rows >= many) {
            let strips = RowStrips::of::<O::Element>(columns);
            return Self::Middle { strips, geometry: warps(rows.div_ceil(strips.rows())) };
        }
        let geometry = Geometry::new(grid_of_rows(shape.tiles, rows), shape.threads());
        Self::Long { shape, geometry }
    }

    /// The values that blocks send to each other, and the words of the state, of each row.
    fn workspace(&self) -> (usize, usize) {
        match self {
            Self::Long { shape, .. } => (shape.places(), ROW_STATE),
            _ => (0, 0),
        }
    }
}

impl<O: RowScannable<Element: Pod, Output: Pod>> RowScanner<O> {
    /// Plans scans by `op` of `rows` rows of `columns` elements on `device`, and allocates their
    /// working memory: if rows are long, or of several tiles of 4 KiB and few, 8 bytes per tile and
    /// per word of an accumulator.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If a row is too long to scan: 16 TiB and more.
    pub fn new(op: O, device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        let plan = Plan::of::<O>(device, rows, columns);
        let (places, state) = plan.workspace();
        let words = places * O::Accumulator::WORDS;
        Ok(Self {
            op,
            device: device.clone(),
            rows,
            columns,
            plan,
            words: device.zeroed(rows.saturating_mul(words))?,
            state: device.zeroed(rows.saturating_mul(state))?,
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
            Plan::Middle { .. } => self.device.compile::<KernelOf<O, MiddleCommon<O>>>(),
            Plan::Long { .. } => self.device.compile::<KernelOf<O, LongCommon<O>>>(),
        }
    }

    /// Submits the scan of the rows of `input` into `output` to the stream. Does not allocate or
    /// wait.
    ///
    /// # Errors
    /// [`DeviceError::ShapeMismatch`] if `input` does not have rows × columns elements,
    /// [`DeviceError::LengthMismatch`] if `output` has another length,
    /// [`DeviceError::OtherDevice`] if a buffer is not on the device of this plan, and if the launch
    /// fails.
    pub fn launch(
        &mut self,
        input: &Buffer<O::Element>,
        output: &mut Buffer<O::Output>,
        form: Form,
    ) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        self.device.expect_own(output)?;
        self.expect_len(input.len())?;
        if output.len() != input.len() {
            return Err(DeviceError::LengthMismatch { buffer: output.len(), given: input.len() });
        }
        // SAFETY: the views have rows × columns elements; their buffers are borrowed, the output
        // exclusively.
        unsafe { self.launch_views(input.view(), output.view(), form) }
    }

    /// Like [`launch`](Self::launch), and writes the results over the elements of `array`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn launch_in_place<T: Scalar + Pod>(
        &mut self,
        array: &mut Buffer<T>,
        form: Form,
    ) -> Result<(), DeviceError>
    where
        O: Operation<Element = T, Output = T>,
    {
        self.device.expect_own(array)?;
        self.expect_len(array.len())?;
        // SAFETY: both views are of the whole buffer of rows × columns elements, which is borrowed
        // exclusively.
        unsafe { self.launch_views(array.view(), array.view(), form) }
    }

    fn expect_len(&self, given: usize) -> Result<(), DeviceError> {
        let (rows, columns) = (self.rows, self.columns);
        if rows.checked_mul(columns) == Some(given) {
            Ok(())
        } else {
            Err(DeviceError::ShapeMismatch { rows, columns, given })
        }
    }

    /// # Safety
    ///
    /// The views have rows × columns elements, and are the same or do not overlap. Their memory is
    /// on this device, lives until the launch has ended, and nothing else writes it or reads the
    /// output.
    unsafe fn launch_views(
        &mut self,
        input: Global<O::Element>,
        output: Global<O::Output>,
        form: Form,
    ) -> Result<(), DeviceError> {
        let (columns, form) = (self.columns, form as u32);
        match &self.plan {
            Plan::Nothing => Ok(()),
            Plan::Short { lanes, geometry } => {
                let (columns, log_lanes) = (columns as u32, lanes.log);
                let common = ShortArguments { input, output, columns, log_lanes, form };
                let args = Entry::arguments(self.op, common);
                // SAFETY: the lanes are made for the columns, which are few, and the grid has a warp
                // for their rows; `Entry` promises that the kernel scans by `op`, after the wait for
                // the previous kernel; the caller vouches for the views.
                unsafe {
                    self.device.launch_in_a_row::<KernelOf<O, ShortCommon<O>>>(geometry, args)
                }
            }
            Plan::Middle { strips, geometry } => {
                let (columns, log_strips) = (columns as u32, strips.log);
                let common = MiddleArguments { input, output, columns, log_strips, form };
                let args = Entry::arguments(self.op, common);
                // SAFETY: the strips are made for the columns, whose shape has few small tiles, and
                // the grid has a warp for their rows; otherwise as above.
                unsafe {
                    self.device.launch_in_a_row::<KernelOf<O, MiddleCommon<O>>>(geometry, args)
                }
            }
            Plan::Long { shape, geometry } => {
                let common = LongArguments {
                    input,
                    output,
                    words: self.words.view(),
                    state: self.state.view(),
                    columns: columns as u64,
                    rows: shape.rows,
                    group: shape.group,
                    form,
                };
                let args = Entry::arguments(self.op, common);
                // SAFETY: the shape is made for the columns, and the grid has the blocks of the
                // shape for each row; the words and the state have room for each row and were
                // zeroed, and each launch leaves them ready for the next one; `&mut self` and the
                // stream order keep other launches off them; a dropped buffer waits for the stream;
                // `Entry` promises that the kernel scans by `op`, after the wait for the previous
                // kernel; the caller vouches for the views.
                unsafe { self.device.launch_in_a_row::<KernelOf<O, LongCommon<O>>>(geometry, args) }
            }
        }
    }
}
