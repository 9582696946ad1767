//! Scans, which combine each element of an array with all elements before it.

mod design;
mod rows;

use super::scratch::Scratch;
use super::{carried, count_of, part_of};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::launch::resident_blocks;
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
pub use gridsync_entries::counted::Counted;
pub use gridsync_entries::scan::{Arguments, BulkArguments, BulkCommon, Common, Scannable};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, Mode, STATE, ScanOperation, Shape};
use gridsync_kernels::op::{Carried, InSegments, Operation, Segments};
use std::ops::Range;

pub use design::Design;
pub(super) use design::{expect_bulk, has_bulk, is_long_enough_for_bulk};
pub use gridsync_kernels::grid::scan::Form;
pub use rows::{RowScannable, RowScanner, scan_rows_on_cpu};

/// Scans `input` by `op` on its device, into a new buffer of the same length.
///
/// The first result of an exclusive scan is the identity of the operation. To scan more than once,
/// keep a [`Scanner`], which allocates only when it is created.
///
/// # Errors
/// If the device fails.
pub fn scan<O: Scannable>(
    op: O,
    input: &Buffer<O::Element>,
    form: Form,
) -> Result<Buffer<O::Output>, DeviceError>
where
    O::Element: Pod,
    O::Output: Pod,
{
    let device = input.device();
    let mut output = device.alloc(input.len())?;
    Scanner::new(op, device, input.len())?.launch(input, &mut output, form)?;
    Ok(output)
}

/// Scans `input` by `op` on all cores of the CPU, with the same bits.
pub fn scan_on_cpu<O: ScanOperation>(op: O, input: &[O::Element], form: Form) -> Vec<O::Output> {
    reference::scan(op, input, form)
}

/// Scans by one operation on one device, and keeps the working memory.
///
/// One launch per scan, which reads and writes the array once. A floating-point result depends only
/// on the input: every GPU, the emulator and the CPU give the same bits ([`Shape`] defines the
/// order in which they combine).
pub struct Scanner<O: Scannable> {
    op: O,
    device: Device,
    words: Scratch<u64>,
    state: Buffer<u32>,
    /// The requested design.
    design: Option<Design>,
    /// Where segments start: one bit per element of any array that is scanned.
    marks: Option<Buffer<u32>>,
    /// How many blocks of the bulk-copy kernel can be resident at once; `None` before the first
    /// query of the device.
    resident: Option<u32>,
    /// `Some` if the last part scanned belongs to an array with more parts to come. If true, its
    /// total is in the second of two slots, otherwise in the first.
    left: Option<bool>,
}

/// The input and output of a scan.
type Views<O> = (Global<<O as Operation>::Element>, Global<<O as Operation>::Output>);

impl<O> Scanner<InSegments<O>>
where
    InSegments<O>: Scannable<Element: Pod, Output: Pod>,
    O: Operation + Default,
{
    /// Allocates the working memory for scans by `O` within segments: element i starts a segment if
    /// `starts[i]`. Arrays may not be longer than `starts`. For the rows of a matrix use
    /// [`Segments::rows`] and [`new`](Self::new), which store no marks.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    pub fn in_marked(device: &Device, starts: &[bool]) -> Result<Self, DeviceError> {
        let words: Vec<u32> = starts
            .chunks(32)
            .map(|bits| (0..).zip(bits).map(|(i, &bit)| u32::from(bit) << i).sum())
            .collect();
        let marks = device.upload(&words)?;
        // SAFETY: the scanner keeps the words for as long as it launches anything, never writes
        // them again, and refuses longer arrays; a dropped buffer waits for the stream.
        let segments = unsafe { Segments::marked(marks.view()) };
        let mut scanner = Self::new(InSegments::new(segments), device, starts.len())?;
        scanner.marks = Some(marks);
        Ok(scanner)
    }
}

impl<O: Scannable> Scanner<O>
where
    O::Element: Pod,
    O::Output: Pod,
{
    /// Allocates the working memory for scans by `op` on `device` of up to `longest` elements:
    /// about 8 bytes per tile of 4 to 32 KiB and per word of an accumulator.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If a scan cannot have enough tiles for `longest` elements, which happens at 16 TiB and more.
    pub fn new(op: O, device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let places = Shape::most_places::<O::Element, O::Accumulator>(longest);
        let words = places * O::Accumulator::WORDS;
        Ok(Self {
            op,
            device: device.clone(),
            words: Scratch::new("a scan", device, words, Device::zeroed)?,
            state: device.zeroed(STATE)?,
            design: None,
            marks: None,
            resident: None,
            left: None,
        })
    }

    /// The operation of the next launches. Its accumulators are the same, so the memory fits.
    pub(super) fn set_op(&mut self, op: O) {
        self.op = op;
    }

    /// Always scans by `design`, instead of choosing the faster design for the length. Arrays of 1
    /// MiB and less, and arrays that do not start at multiples of 16 bytes, are still scanned in
    /// registers.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the operation has no kernel of that design, or the device
    /// cannot run it.
    pub fn with_design(mut self, design: Design) -> Result<Self, DeviceError> {
        if design == Design::Bulk {
            expect_bulk::<O>(&self.device)?;
        }
        self.design = Some(design);
        Ok(self)
    }

    /// The designs that can scan an array of `len` elements, if it starts at a multiple of 16
    /// bytes.
    #[must_use]
    pub fn designs(&self, len: usize) -> &'static [Design] {
        let shape = Shape::of::<O::Element, O::Accumulator>(len);
        let is_large = shape == Shape::for_bulk::<O::Element>(len);
        if is_large && self.has_bulk() {
            &[Design::Registers, Design::Bulk]
        } else {
            &[Design::Registers]
        }
    }

    /// Whether a bulk-copy kernel exists that the device can run.
    fn has_bulk(&self) -> bool {
        has_bulk::<O>(&self.device)
    }

    /// Whether bulk copies are faster for arrays of `len` elements, where they are possible.
    fn is_long_enough_for_bulk(&self, len: usize) -> bool {
        is_long_enough_for_bulk::<O>(&self.device, len)
    }

    /// Makes the driver compile the kernels for parts of up to `len` elements now instead of at the
    /// first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&mut self, len: usize) -> Result<(), DeviceError> {
        self.device.compile::<KernelOf<O, Common<O>>>()?;
        if self.has_bulk() && self.is_long_enough_for_bulk(len) {
            self.bulk_geometry(1)?;
        }
        Ok(())
    }

    /// The design that scans these views.
    fn design_for(
        &self,
        shape: Shape,
        input: Global<O::Element>,
        output: Global<O::Output>,
    ) -> Design {
        let is_aligned = input.unaligned_head() == 0 && output.unaligned_head() == 0;
        let is_large = shape == Shape::for_bulk::<O::Element>(input.len());
        let can_bulk = is_large && self.has_bulk();
        match self.design {
            Some(Design::Registers) => Design::Registers,
            None if !self.is_long_enough_for_bulk(input.len()) => Design::Registers,
            _ if can_bulk && is_aligned => Design::Bulk,
            _ => Design::Registers,
        }
    }

    /// The launch of the bulk-copy kernel over this many tiles: as many blocks as can be resident,
    /// but no more than tiles.
    fn bulk_geometry(&mut self, tiles: u32) -> Result<Geometry, DeviceError> {
        let resident = match self.resident {
            Some(resident) => resident,
            None => resident_blocks::<KernelOf<O, BulkCommon<O>>>(
                &self.device,
                BULK_THREADS,
                BULK_SHARED,
            )?,
        };
        self.resident = Some(resident);
        // If not even one fits, the launch returns the error.
        let blocks = tiles.min(resident.max(1));
        Ok(Geometry::new(blocks, BULK_THREADS).with_dynamic_shared(BULK_SHARED))
    }

    /// Submits the scan of `input` into `output` to the stream. Does not wait, and allocates only
    /// if the input is longer than all earlier ones and the length passed to [`new`](Self::new).
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the lengths differ, [`DeviceError::OtherDevice`] if a
    /// buffer is not on the device of this scanner, [`DeviceError::InGraph`] if it would have to
    /// allocate and a graph has recorded a launch, and if the launch fails.
    pub fn launch(
        &mut self,
        input: &Buffer<O::Element>,
        output: &mut Buffer<O::Output>,
        form: Form,
    ) -> Result<(), DeviceError> {
        self.launch_part(input, 0..input.len(), output, 0..output.len(), form)
    }

    /// Like [`launch`](Self::launch), from the elements `part` of `input` to the elements `into` of
    /// `output`. Parts that do not start at a multiple of 16 bytes are scanned more slowly, with
    /// the same bits.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Panics
    /// If a part is not inside its buffer.
    pub fn launch_part(
        &mut self,
        input: &Buffer<O::Element>,
        part: Range<usize>,
        output: &mut Buffer<O::Output>,
        into: Range<usize>,
        form: Form,
    ) -> Result<(), DeviceError> {
        let (input, output) = self.views(input, &part, output, &into)?;
        let shape = Shape::of::<O::Element, O::Accumulator>(part.len());
        // SAFETY: the views have one length; their buffers are borrowed, the output exclusively.
        unsafe { self.launch_views(input, output, shape, Mode::whole(form)) }
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
        let shape = Shape::of::<T, O::Accumulator>(array.len());
        // SAFETY: both views are of the whole buffer, which is borrowed exclusively.
        unsafe { self.launch_views(array.view(), array.view(), shape, Mode::whole(form)) }
    }

    /// Submits the scan of the next part of a long array to the stream. It continues from where the
    /// last `launch_next` ended. The sum so far stays on the device, in the workspace, so the host
    /// need not wait. The first call, and the first after [`end`](Self::end), starts an array.
    /// Everything else is as for [`launch_part`](Self::launch_part).
    ///
    /// The bits are the same as in one scan of the whole array if the array is larger than 1 MiB,
    /// and if each part except the last is a multiple of [`Shape::part`]. An operation that uses
    /// the index of an element sees it start at 0 in each part.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch). A refused call has run nothing: the array continues with
    /// the next call, which may retry the same part.
    ///
    /// # Panics
    /// If a part is not inside its buffer.
    pub fn launch_next(
        &mut self,
        input: &Buffer<O::Element>,
        part: Range<usize>,
        output: &mut Buffer<O::Output>,
        into: Range<usize>,
        form: Form,
    ) -> Result<(), DeviceError> {
        let (input, output) = self.views(input, &part, output, &into)?;
        let shape = Shape::of_part::<O::Element, O::Accumulator>(part.len());
        let in_second = self.left.unwrap_or(false);
        let mode = Mode { form, goes_on: self.left.is_some(), leaves: true, in_second };
        // SAFETY: the views have one length; their buffers are borrowed, the output exclusively.
        unsafe { self.launch_views(input, output, shape, mode)? };
        if !part.is_empty() {
            self.left = Some(!in_second);
        }
        Ok(())
    }

    /// The combined value of all parts so far. Waits for them.
    pub(crate) fn carry(&self) -> Result<Option<O::Accumulator>, DeviceError> {
        let Some(in_second) = self.left else {
            return Ok(None);
        };
        let mut words = [0; 4];
        self.state.download_to(carry_at(in_second), &mut words)?;
        Ok(Some(carried(&words)))
    }

    /// Makes the next [`launch_next`](Self::launch_next) continue from this carry; with `None` it
    /// starts an array.
    pub(crate) fn go_on_from(&mut self, carry: Option<O::Accumulator>) -> Result<(), DeviceError> {
        self.left = None;
        if let Some(carry) = carry {
            self.state.copy_part_from(carry_at(false), &carry.to_words()[..4])?;
            self.left = Some(false);
        }
        Ok(())
    }

    /// Ends a long array: the next [`launch_next`](Self::launch_next) starts another one.
    pub fn end(&mut self) {
        self.left = None;
    }

    /// The views of the parts, if they have one length and are on this device.
    fn views(
        &self,
        input: &Buffer<O::Element>,
        part: &Range<usize>,
        output: &mut Buffer<O::Output>,
        into: &Range<usize>,
    ) -> Result<Views<O>, DeviceError> {
        self.device.expect_own(input)?;
        self.device.expect_own(output)?;
        if part.len() != into.len() {
            return Err(DeviceError::LengthMismatch { buffer: into.len(), given: part.len() });
        }
        Ok((part_of(input, part), part_of(output, into)))
    }

    /// The arguments of a scan in registers. Makes room for its words.
    fn arguments(
        &mut self,
        input: Global<O::Element>,
        output: Global<O::Output>,
        shape: Shape,
        mode: Mode,
    ) -> Result<Arguments<O::Element, O::Output>, DeviceError> {
        // No word holds a future stamp: the state keeps counting, and new words are 0.
        self.words.fit(shape.places() * O::Accumulator::WORDS)?;
        Ok(Arguments {
            input,
            output,
            words: self.words.view(),
            state: self.state.view(),
            rows: shape.rows,
            group: shape.group,
            mode: mode.number(),
        })
    }

    /// # Safety
    ///
    /// The views have one length, and the shape is made for it; they are the same or do not
    /// overlap. Their memory is on this device, lives until the launch has ended, and nothing else
    /// writes it or reads the output.
    unsafe fn launch_views(
        &mut self,
        input: Global<O::Element>,
        output: Global<O::Output>,
        shape: Shape,
        mode: Mode,
    ) -> Result<(), DeviceError> {
        if input.is_empty() {
            return Ok(());
        }
        if let Some(marks) = self.marks.as_ref().filter(|marks| marks.len() * 32 < input.len()) {
            return Err(DeviceError::LengthMismatch {
                buffer: marks.len() * 32,
                given: input.len(),
            });
        }
        let design = self.design_for(shape, input, output);
        let common = self.arguments(input, output, shape, mode)?;
        match design {
            Design::Registers => {
                let geometry = Geometry::new(shape.tiles, shape.threads());
                let args = self.op.arguments(common);
                // SAFETY: the shape is made for the input, and the grid for the shape; the words
                // have room for it; they and the state were zeroed, and each launch leaves them
                // ready for the next; `&mut self` and the stream order keep other launches off
                // them; a dropped buffer waits for the stream; a scan starts with the wait for the
                // previous kernel; the caller vouches for the views.
                unsafe { self.device.launch_in_a_row::<KernelOf<O, Common<O>>>(&geometry, args) }
            }
            Design::Bulk => {
                let geometry = self.bulk_geometry(shape.tiles)?;
                let Arguments { words, state, mode, .. } = common;
                let args = self.op.arguments(BulkArguments {
                    input,
                    output,
                    words,
                    state,
                    tiles: shape.tiles,
                    mode,
                });
                // SAFETY: the shape is made for the input, the kernel supports it, and both views
                // start at multiples of 16 bytes; the words have room for it; they and the state
                // were zeroed, and each launch leaves them ready for the next; `&mut self` and the
                // stream order keep other launches off them; a dropped buffer waits for the stream;
                // the caller vouches for the views.
                unsafe {
                    self.device.launch_in_a_row::<KernelOf<O, BulkCommon<O>>>(&geometry, args)
                }
            }
        }
    }
}

impl<O: Scannable + Entry<Counted<Common<O>>>> Scanner<O>
where
    O::Element: Pod,
    O::Output: Pod,
{
    /// Like [`launch`](Self::launch), for the first elements of `input`. Their number is the value
    /// of `count` when the launch starts, and at most the whole input: a selection has just counted
    /// them, and the host need not know the number. The other elements of `output` do not change.
    ///
    /// The results are bit-identical to the first ones of a scan of the whole buffer. Tiles past
    /// them move no memory.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); [`DeviceError::OtherDevice`] also for `count`, and
    /// [`DeviceError::LengthMismatch`] also if it does not have exactly one element.
    pub fn launch_counted(
        &mut self,
        input: &Buffer<O::Element>,
        count: &Buffer<u64>,
        output: &mut Buffer<O::Output>,
        form: Form,
    ) -> Result<(), DeviceError> {
        let count = count_of(&self.device, count)?;
        let (input, output) = self.views(input, &(0..input.len()), output, &(0..output.len()))?;
        if input.is_empty() {
            return Ok(());
        }
        let shape = Shape::of::<O::Element, O::Accumulator>(input.len());
        let geometry = Geometry::new(shape.tiles, shape.threads());
        let common = self.arguments(input, output, shape, Mode::whole(form))?;
        let args = self.op.arguments(Counted { common, count });
        // SAFETY: as for `launch_views`, the shape is made for the whole input, and the kernel uses
        // some of it; all buffers are borrowed, the output exclusively.
        unsafe { self.device.launch::<KernelOf<O, Counted<Common<O>>>>(&geometry, args) }
    }
}

/// The first of the four words of a carry. The two slots for carries are at the end of the state.
const fn carry_at(in_second: bool) -> usize {
    STATE - 2 * 4 + 4 * in_second as usize
}
