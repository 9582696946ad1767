//! Scans, part by part.

use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::scan::{Form, Scanner};
use bytemuck::{Pod, Zeroable};
use gridsync_kernels::entry::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;

/// A scan of an array that comes part by part: each goes on from where the last one ended, on the device,
/// which has room for one part and its results.
///
/// The bits are those of one scan of the whole. An operation that goes by the index of an element sees it
/// count from 0 in each part.
pub struct PartScanner<O: Scannable> {
    scanner: Scanner<O>,
    form: Form,
    elements: Buffer<O::Element>,
    results: Buffer<O::Output>,
    /// Whether the first part is all there is.
    is_whole: bool,
}

impl<O: Scannable<Element: Pod, Output: Pod>> PartScanner<O> {
    /// A scan of `len` elements on `device`, about `part` of them at a time: a multiple of
    /// [`Shape::part`], 32 MiB or less of elements, and at least one; all, if there are no more.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        op: O,
        device: &Device,
        len: usize,
        form: Form,
        part: usize,
    ) -> Result<Self, DeviceError> {
        let least = Shape::part::<O::Element, O::Accumulator>();
        let part = ((part / least).max(1) * least).min(len);
        Ok(Self {
            scanner: Scanner::with(op, device, part)?,
            form,
            elements: device.alloc(part)?,
            results: device.alloc(part)?,
            is_whole: part == len,
        })
    }

    /// Elements of every part but the last one, which has the rest.
    pub fn part(&self) -> usize {
        self.elements.len()
    }

    /// Scans the next part into `results`, of the same length.
    ///
    /// # Errors
    /// Those of the device. The part counts as not scanned then, and may be tried again.
    ///
    /// # Panics
    /// If the two differ in length, or are longer than a [`part`](Self::part).
    pub fn next(
        &mut self,
        elements: &[O::Element],
        results: &mut [O::Output],
    ) -> Result<(), DeviceError> {
        assert_eq!(elements.len(), results.len());
        self.elements.copy_part_from(0, elements)?;
        let (from, to) = (&self.elements, &mut self.results);
        if self.is_whole {
            self.scanner.launch(from, to, self.form)?;
            return self.results.download_to(0, results);
        }
        let (went_on, range) = (self.scanner.goes_on(), 0..elements.len());
        self.scanner
            .launch_next(from, range.clone(), to, range, self.form)?;
        let copied = self.results.download_to(0, results);
        if copied.is_err() && !elements.is_empty() {
            self.scanner.take_back(went_on);
        }
        copied
    }
}

/// Scans `input` by `op` on `device`, part by part through about `part` elements of its memory, and as
/// many results, as a [`PartScanner`] does. Calls `done` with the elements that have been scanned.
///
/// # Errors
/// Those of the device.
pub fn scan_in_parts<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    form: Form,
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, DeviceError>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    let mut scanner = PartScanner::new(op, device, input.len(), form, part)?;
    let mut results = vec![O::Output::zeroed(); input.len()];
    let part = scanner.part().max(1);
    let mut behind = 0;
    for (chunk, results) in input.chunks(part).zip(results.chunks_mut(part)) {
        scanner.next(chunk, results)?;
        behind += chunk.len();
        done(behind);
    }
    Ok(results)
}
