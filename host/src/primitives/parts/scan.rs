//! Scans, part by part.

use super::PartError;
use crate::device::{Buffer, Device, DeviceError};
use crate::memory;
use crate::primitives::scan::{Form, Scanner};
use crate::reference;
use bytemuck::Pod;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;
use std::time::Instant;

/// A scan of an array that comes part by part, on the CPU or on a device with room for one part and
/// its results. Each part goes on from where the last one ended.
///
/// The bits are the same as in one scan of the whole array. On a device, an operation that uses the
/// index of an element sees it count from 0 in each part.
pub struct PartScanner<O: Scannable> {
    part: usize,
    on: On<O>,
    us: f64,
}

enum On<O: Scannable> {
    Device(Box<OnDevice<O>>),
    Cpu(reference::Scan<O>),
}

struct OnDevice<O: Scannable> {
    scanner: Scanner<O>,
    form: Form,
    elements: Buffer<O::Element>,
    results: Buffer<O::Output>,
    /// Whether the first part is all there is.
    is_whole: bool,
}

impl<O: Scannable<Element: Pod, Output: Pod>> PartScanner<O> {
    /// A scan of `len` elements on `device`, about `part` of them at a time: a part is rounded to a
    /// multiple of [`Shape::part`], which is 32 MiB of elements or less, and is at least one of
    /// those. A shorter array is taken whole.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(
        op: O,
        device: &Device,
        len: usize,
        form: Form,
        part: usize,
    ) -> Result<Self, PartError> {
        let part = rounded::<O>(len, part);
        let mut scanner = Scanner::with(op, device, part)?;
        scanner.compile(part)?;
        let on = OnDevice {
            scanner,
            form,
            elements: device.alloc(part)?,
            results: device.alloc(part)?,
            is_whole: part == len,
        };
        Ok(Self { part, on: On::Device(Box::new(on)), us: 0.0 })
    }

    /// A scan of `len` elements on all cores of the CPU, in parts of the same size.
    ///
    /// # Errors
    /// [`PartError::Memory`] for its working memory, up to 64 MiB.
    pub fn on_cpu(op: O, len: usize, form: Form, part: usize) -> Result<Self, PartError> {
        Ok(Self {
            part: rounded::<O>(len, part),
            on: On::Cpu(reference::Scan::new(op, len, form)?),
            us: 0.0,
        })
    }

    /// Elements of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// Scans the next part into `results`, of the same length.
    ///
    /// # Errors
    /// Errors of the device. Then the part counts as not scanned, and may be tried again.
    ///
    /// # Panics
    /// If the two differ in length, or are longer than a [`part`](Self::part).
    pub fn next(
        &mut self,
        elements: &[O::Element],
        results: &mut [O::Output],
    ) -> Result<(), PartError> {
        assert_eq!(elements.len(), results.len());
        self.us += match &mut self.on {
            On::Device(on) => on.next(elements, results)?,
            On::Cpu(scan) => {
                let start = Instant::now();
                scan.next(elements, results);
                start.elapsed().as_secs_f64() * 1e6
            }
        };
        Ok(())
    }

    /// µs that the kernels, or the CPU, have taken so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

impl<O: Scannable<Element: Pod, Output: Pod>> OnDevice<O> {
    /// Scans the next part, and returns the µs of device time that this took.
    fn next(
        &mut self,
        elements: &[O::Element],
        results: &mut [O::Output],
    ) -> Result<f64, DeviceError> {
        let device = self.elements.device().clone();
        self.elements.copy_part_from(0, elements)?;
        let (went_on, range) = (self.scanner.goes_on(), 0..elements.len());
        let mut launched = false;
        let timed = device.time(|| {
            let (from, to) = (&self.elements, &mut self.results);
            if self.is_whole {
                return self.scanner.launch(from, to, self.form);
            }
            self.scanner.launch_next(from, range.clone(), to, range.clone(), self.form)?;
            launched = true;
            Ok(())
        });
        let scanned = timed.and_then(|us| {
            self.results.download_to(0, results)?;
            Ok(us)
        });
        if scanned.is_err() && launched && !elements.is_empty() {
            self.scanner.take_back(went_on);
        }
        scanned
    }
}

/// The elements of a part, when about `part` are asked for.
fn rounded<O: Scannable>(len: usize, part: usize) -> usize {
    let least = Shape::part::<O::Element, O::Accumulator>();
    ((part / least).max(1) * least).min(len)
}

/// Scans `input` by `op` on `device`, part by part, as a [`PartScanner`] does: about `part`
/// elements and their results are in its memory at a time. Calls `done` with the number of elements
/// that have been scanned.
///
/// # Errors
/// Errors of the device, and [`PartError::Memory`] for the results.
pub fn scan_in_parts<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    form: Form,
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, PartError>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    let mut scanner = PartScanner::new(op, device, input.len(), form, part)?;
    let mut results = memory::zeroed::<O::Output>(input.len())?;
    let part = scanner.part().max(1);
    let mut taken = 0;
    for (chunk, results) in input.chunks(part).zip(results.chunks_mut(part)) {
        scanner.next(chunk, results)?;
        taken += chunk.len();
        done(taken);
    }
    Ok(results)
}
