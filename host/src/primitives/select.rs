//! Selections: some elements of an array, in order, without gaps.

mod views;

use super::scratch::Scratch;
use super::{count_of, part_of};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::grid::scan::STATE;
use gridsync_kernels::grid::select::{self, Outputs, WORDS};
use std::ops::Range;

pub use crate::reference::run_lengths;
pub use gridsync_entries::counted::Counted;
pub use gridsync_entries::select::{Arguments, FirstOfRun, Selectable, Selection};
use gridsync_entries::{Entry, KernelOf};
pub use gridsync_kernels::grid::select::{Comparable, Predicate, Within};

/// The grid of a launch, and its arguments.
type Planned<S> = (Geometry, Arguments<<S as Selection>::Element>);

/// The selected elements: the first elements of a buffer.
#[derive(Debug)]
pub struct Selected<T> {
    buffer: Buffer<T>,
    len: usize,
}

impl<T: Pod> Selected<T> {
    /// Number of selected elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer that starts with them. It is as long as the array that they were selected from.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// The buffer itself.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Copies them to the host.
    ///
    /// # Errors
    /// As for [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        self.buffer.download_part(0..self.len)
    }
}

/// Selects the elements of `input` that `by` keeps, on its device, into a new buffer. Waits for the
/// device to get their number.
///
/// To select more than once, or without waiting, keep a [`Selector`], which allocates only when it
/// is created.
///
/// # Errors
/// If the device fails.
pub fn select<S: Selectable<Element: Pod>>(
    by: S,
    input: &Buffer<S::Element>,
) -> Result<Selected<S::Element>, DeviceError> {
    let mut buffer = input.device().alloc(input.len())?;
    let len = run(by, input, &mut buffer, None, None)?;
    Ok(Selected { buffer, len })
}

/// Splits `input` into the elements that `by` keeps and all others, both in order.
///
/// # Errors
/// If the device fails.
pub fn partition<S: Selectable<Element: Pod>>(
    by: S,
    input: &Buffer<S::Element>,
) -> Result<[Selected<S::Element>; 2], DeviceError> {
    let device = input.device();
    let (mut buffer, mut rest) = (device.alloc(input.len())?, device.alloc(input.len())?);
    let len = run(by, input, &mut buffer, Some(&mut rest), None)?;
    let others = Selected { buffer: rest, len: input.len() - len };
    Ok([Selected { buffer, len }, others])
}

/// Selects the elements of `input` that `by` keeps, with their indices. With [`FirstOfRun`] the
/// indices are the starts of the runs, and give their [`run_lengths`].
///
/// # Errors
/// If the device fails.
pub fn select_with_positions<S: Selectable<Element: Pod>>(
    by: S,
    input: &Buffer<S::Element>,
) -> Result<(Selected<S::Element>, Selected<u64>), DeviceError> {
    let device = input.device();
    let (mut buffer, mut positions) = (device.alloc(input.len())?, device.alloc(input.len())?);
    let len = run(by, input, &mut buffer, None, Some(&mut positions))?;
    let positions = Selected { buffer: positions, len };
    Ok((Selected { buffer, len }, positions))
}

/// The first element of each run of equal ones: [`select()`] by [`FirstOfRun`]. −0 equals +0, and
/// each NaN is its own run.
///
/// # Errors
/// If the device fails.
pub fn unique<T: Scalar + Pod>(input: &Buffer<T>) -> Result<Selected<T>, DeviceError>
where
    FirstOfRun<T>: Selectable<Element = T>,
{
    select(FirstOfRun::new(), input)
}

/// Selects with a new selector, and returns the number of elements kept.
fn run<S: Selectable<Element: Pod>>(
    by: S,
    input: &Buffer<S::Element>,
    kept: &mut Buffer<S::Element>,
    rest: Option<&mut Buffer<S::Element>>,
    positions: Option<&mut Buffer<u64>>,
) -> Result<usize, DeviceError> {
    let device = input.device();
    let mut count = device.alloc(1)?;
    let to = To { rest, positions, ..To::new(kept, &mut count) };
    Selector::new(by, device, input.len())?.launch_part(input, 0..input.len(), to)?;
    Ok(count.download()?[0] as usize)
}

/// Selects the elements of `input` that `by` keeps on all cores of the CPU.
pub fn select_on_cpu<S: Selectable>(by: S, input: &[S::Element]) -> Vec<S::Element> {
    reference::select(by, input)
}

/// Splits `input` into the elements that `by` keeps and all others on all cores of the CPU.
pub fn partition_on_cpu<S: Selectable>(by: S, input: &[S::Element]) -> [Vec<S::Element>; 2] {
    let (kept, rest) = reference::partition(by, input);
    [kept, rest]
}

/// The indices of the elements that `by` keeps, computed on all cores of the CPU.
pub fn positions_on_cpu<S: Selectable>(by: S, input: &[S::Element]) -> Vec<u64> {
    reference::positions(by, input)
}

/// The outputs of a selection.
#[derive(Debug)]
pub struct To<'a, T> {
    /// The elements that are kept.
    pub kept: &'a mut Buffer<T>,
    /// All others, if requested.
    pub rest: Option<&'a mut Buffer<T>>,
    /// The indices of the kept elements, if requested.
    pub positions: Option<&'a mut Buffer<u64>>,
    /// The number of kept elements, in a buffer of one element.
    pub count: &'a mut Buffer<u64>,
    /// The index at which writing to the buffers starts; `count` is always written at index 0.
    pub from: usize,
}

impl<'a, T> To<'a, T> {
    /// Writes the kept elements, starting at index 0, and their number.
    pub fn new(kept: &'a mut Buffer<T>, count: &'a mut Buffer<u64>) -> Self {
        Self { kept, rest: None, positions: None, count, from: 0 }
    }
}

/// Selects by one predicate on one device, and keeps the working memory.
///
/// One launch per selection, which reads the array once and writes the kept elements once.
pub struct Selector<S: Selectable> {
    by: S,
    device: Device,
    words: Scratch<u64>,
    state: Buffer<u32>,
}

impl<S: Selectable<Element: Pod>> Selector<S> {
    /// Allocates the working memory for selections by `by` on `device` from up to `longest`
    /// elements: about 16 bytes per tile of 4 to 32 KiB.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If there cannot be enough tiles for `longest` elements, which happens at 16 TiB and more.
    pub fn new(by: S, device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let words = select::most_places::<S::Element>(longest) * WORDS;
        Ok(Self {
            by,
            device: device.clone(),
            words: Scratch::new("a selection", device, words, Device::zeroed)?,
            state: device.zeroed(STATE)?,
        })
    }

    /// Uses another predicate of the same type for later launches, for example with another bound.
    pub fn set_predicate(&mut self, by: S) {
        self.by = by;
    }

    /// Submits the selection of the elements of `input` that the predicate keeps to the stream.
    /// They are written to the start of `kept`, and their number to `count`, which has one element.
    /// The rest of `kept` does not change. Does not wait, and allocates only if the input is longer
    /// than all earlier ones and the length passed to [`new`](Self::new).
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if `kept` is not as long as `input`, or `count` does not
    /// have exactly one element; [`DeviceError::OtherDevice`] if a buffer is not on the device of
    /// this selector; [`DeviceError::InGraph`] if it would have to allocate and a graph has
    /// recorded a launch; and if the launch fails.
    pub fn launch(
        &mut self,
        input: &Buffer<S::Element>,
        kept: &mut Buffer<S::Element>,
        count: &mut Buffer<u64>,
    ) -> Result<(), DeviceError> {
        self.launch_part(input, 0..input.len(), To::new(kept, count))
    }

    /// Like [`launch`](Self::launch), from the elements `part` of `input` to the buffers and the
    /// index of `to`. Indices count from the first element of the part. A part that does not start
    /// at a multiple of 16 bytes is read more slowly.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), for every buffer of `to`.
    ///
    /// # Panics
    /// If the part is not inside `input`.
    pub fn launch_part(
        &mut self,
        input: &Buffer<S::Element>,
        part: Range<usize>,
        to: To<'_, S::Element>,
    ) -> Result<(), DeviceError> {
        match self.arguments(input, part, to)? {
            // SAFETY: the arguments are made for the launch; a dropped buffer waits for the stream;
            // a selection starts with the wait for the previous kernel.
            Some((geometry, common)) => unsafe {
                self.device.launch_in_a_row::<S::Kernel>(&geometry, self.by.arguments(common))
            },
            None => Ok(()),
        }
    }

    /// Like [`launch`](Self::launch), from the first elements of `input`. Their number is the value
    /// of `of` when the launch starts, and at most the whole input: another selection has just
    /// counted them, and the host need not know the number.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), also for `of`.
    pub fn launch_counted(
        &mut self,
        input: &Buffer<S::Element>,
        of: &Buffer<u64>,
        kept: &mut Buffer<S::Element>,
        count: &mut Buffer<u64>,
    ) -> Result<(), DeviceError>
    where
        S: Entry<Counted<Arguments<S::Element>>>,
    {
        let of = count_of(&self.device, of)?;
        match self.arguments(input, 0..input.len(), To::new(kept, count))? {
            // SAFETY: as for `launch_part`, they are made for the whole input, and the kernel uses
            // some of it.
            Some((geometry, common)) => unsafe {
                let args = self.by.arguments(Counted { common, count: of });
                self.device.launch::<KernelOf<S, Counted<Arguments<S::Element>>>>(&geometry, args)
            },
            None => Ok(()),
        }
    }

    /// The grid of a selection from the elements `part`, and its arguments: the shape is made for
    /// the part, and the grid for the shape; the words have room for it; they and the state were
    /// zeroed, and each launch leaves them ready for the next; `&mut self` and the stream order
    /// keep other launches off them; all outputs except the count are as long as the part, and all
    /// are borrowed exclusively.
    ///
    /// `None` if there is nothing to launch.
    fn arguments(
        &mut self,
        input: &Buffer<S::Element>,
        part: Range<usize>,
        to: To<'_, S::Element>,
    ) -> Result<Option<Planned<S>>, DeviceError> {
        self.device.expect_own(input)?;
        let input = part_of(input, &part);
        let none = (input.part(0, 0), self.words.view().part(0, 0));
        let outputs = Outputs {
            kept: self.output(to.kept, to.from, part.len())?,
            rest: match to.rest {
                Some(rest) => self.output(rest, to.from, part.len())?,
                None => none.0,
            },
            positions: match to.positions {
                Some(positions) => self.output(positions, to.from, part.len())?,
                None => none.1,
            },
            count: self.output(to.count, 0, 1)?,
        };
        if input.is_empty() {
            return to.count.zero().map(|()| None);
        }
        self.planned(input, outputs).map(Some)
    }

    /// The grid of a selection from `input`, which is not empty, and its arguments.
    fn planned(
        &mut self,
        input: Global<S::Element>,
        outputs: Outputs<S::Element>,
    ) -> Result<Planned<S>, DeviceError> {
        let shape = select::shape::<S::Element>(input.len());
        // No word holds a future stamp: the state keeps counting, and new words are 0.
        self.words.fit(shape.places() * WORDS)?;
        let (words, state) = (self.words.view(), self.state.view());
        let common =
            Arguments { input, outputs, words, state, rows: shape.rows, group: shape.group };
        Ok((Geometry::new(shape.tiles, shape.threads()), common))
    }

    /// The `len` elements of an output starting at index `from`, where the output has to end.
    fn output<A: Scalar + Pod>(
        &self,
        buffer: &Buffer<A>,
        from: usize,
        len: usize,
    ) -> Result<Global<A>, DeviceError> {
        self.device.expect_own(buffer)?;
        match buffer.len().checked_sub(from) {
            Some(room) if room == len => Ok(buffer.view().part(from, len)),
            _ => Err(DeviceError::LengthMismatch { buffer: buffer.len(), given: from + len }),
        }
    }
}
