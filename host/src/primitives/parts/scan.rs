//! Scans, part by part.

use super::PartError;
use super::leaves::Cut;
use super::together::{of_gpu, on_each};
use crate::device::{Buffer, Device, DeviceError, Devices};
use crate::memory;
use crate::primitives::scan::{Form, Scanner};
use crate::reference;
use bytemuck::Pod;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;
use std::time::Instant;

/// A scan of an array that is passed part by part, on the CPU or on devices with room for one part
/// and its results. Each part continues where the last one ended.
///
/// Several devices share each part. They copy at the same time, but each scans only after the
/// previous one, because it continues from there. So this is faster if copies dominate.
///
/// The bits are the same as in one scan of the whole array. On a device, an operation that uses the
/// index of an element sees it start at 0 in each part.
pub struct PartScanner<O: Scannable> {
    part: usize,
    on: On<O>,
    us: f64,
}

enum On<O: Scannable> {
    Devices(OnDevices<O>),
    Cpu(reference::Scan<O>),
}

struct OnDevices<O: Scannable> {
    form: Form,
    each: Vec<OnDevice<O>>,
    /// Whether the first part is the whole array, on a single device.
    is_whole: bool,
    /// The combined value of the previous parts.
    carry: Option<O::Accumulator>,
}

/// A device, with room for its share of a part.
struct OnDevice<O: Scannable> {
    scanner: Scanner<O>,
    elements: Buffer<O::Element>,
    results: Buffer<O::Output>,
}

impl<O: Scannable<Element: Pod, Output: Pod>> PartScanner<O> {
    /// A scan of `len` elements on `devices`, about `part` of them at a time: a part is rounded to
    /// a multiple of [`Shape::part`] for each device, which is 32 MiB of elements or less, and is
    /// at least one of those. A shorter array is scanned whole.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(
        op: O,
        devices: impl Into<Devices>,
        len: usize,
        form: Form,
        part: usize,
    ) -> Result<Self, PartError> {
        let devices = devices.into();
        let part = rounded::<O>(len, part, devices.len());
        let share = cut::<O>(part).longest(devices.len());
        let each = devices.each(|_, device| OnDevice::new(op, device, share))?;
        // Short arrays have a different shape as a whole than as a part.
        let is_whole = share == len;
        let on = OnDevices { form, each, is_whole, carry: None };
        Ok(Self { part, on: On::Devices(on), us: 0.0 })
    }

    /// A scan of `len` elements on all cores of the CPU. A part is rounded to a multiple of a
    /// [tile](reference::Scan::tile).
    ///
    /// # Errors
    /// [`PartError::Memory`] for its working memory, up to 16 MiB.
    pub fn on_cpu(op: O, len: usize, form: Form, part: usize) -> Result<Self, PartError> {
        let tile = reference::Scan::<O>::tile(len);
        Ok(Self {
            part: (part / tile).max(1).saturating_mul(tile).min(len),
            on: On::Cpu(reference::Scan::new(op, len, form)?),
            us: 0.0,
        })
    }

    /// Length of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// Scans the next part into `results`, of the same length.
    ///
    /// # Errors
    /// If the device fails. Then the part was not scanned, and may be retried.
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
            On::Devices(on) => on.next(elements, results)?,
            On::Cpu(scan) => {
                let start = Instant::now();
                scan.next(elements, results);
                start.elapsed().as_secs_f64() * 1e6
            }
        };
        Ok(())
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

impl<O: Scannable<Element: Pod, Output: Pod>> OnDevices<O> {
    /// Scans the next part, and returns the device time in µs.
    fn next(
        &mut self,
        elements: &[O::Element],
        results: &mut [O::Output],
    ) -> Result<f64, DeviceError> {
        let (form, is_whole, count) = (self.form, self.is_whole, self.each.len());
        let runs = cut::<O>(elements.len()).runs(elements, count);
        let shares = self.each.iter_mut().zip(runs).enumerate();
        let shares = shares.filter(|(_, (_, (run, _)))| !run.is_empty());
        let mut shares: Vec<_> =
            shares.map(|(gpu, (on, (run, elements)))| (gpu, on, run, elements)).collect();
        let named =
            |gpu: usize, on: &OnDevice<O>, error| of_gpu(error, (gpu, count), on.elements.device());
        on_each(&mut shares, |(gpu, on, _, elements)| {
            let copied = on.elements.copy_part_from(0, elements);
            copied.map_err(|error| named(*gpu, on, error))
        })?;
        let (mut carry, mut us) = (self.carry, 0.0);
        for (gpu, on, run, _) in &mut shares {
            let scanned = on.scan_from(carry, run.len(), form, is_whole);
            let (after, took) = scanned.map_err(|error| named(*gpu, on, error))?;
            (carry, us) = (after, us + took);
        }
        let mut rest = results;
        let into = shares.into_iter().map(|(gpu, on, run, _)| {
            (gpu, on, rest.split_off_mut(..run.len()).unwrap_or_default())
        });
        on_each(into, |(gpu, on, into)| {
            on.results.download_to(0, into).map_err(|error| named(gpu, on, error))
        })?;
        // A part that failed may be retried from the same carry.
        self.carry = carry;
        Ok(us)
    }
}

impl<O: Scannable<Element: Pod, Output: Pod>> OnDevice<O> {
    /// A device that processes up to `share` elements at a time.
    fn new(op: O, device: &Device, share: usize) -> Result<Self, DeviceError> {
        let mut scanner = Scanner::new(op, device, share)?;
        scanner.compile(share)?;
        Ok(Self { scanner, elements: device.alloc(share)?, results: device.alloc(share)? })
    }

    /// Scans the first `len` elements that it holds, and continues from the combined value of the
    /// preceding elements. Returns the new combined value and the device time in µs.
    fn scan_from(
        &mut self,
        carry: Option<O::Accumulator>,
        len: usize,
        form: Form,
        is_whole: bool,
    ) -> Result<(Option<O::Accumulator>, f64), DeviceError> {
        self.scanner.go_on_from(carry)?;
        let us = self.scan(len, form, is_whole)?;
        Ok((self.scanner.carry()?, us))
    }

    /// Scans the first `len` elements that it holds: a whole array, or the next part. Returns the
    /// device time in µs.
    fn scan(&mut self, len: usize, form: Form, is_whole: bool) -> Result<f64, DeviceError> {
        let device = self.elements.device().clone();
        device.time(|| {
            let (from, to) = (&self.elements, &mut self.results);
            if is_whole {
                self.scanner.launch_part(from, 0..len, to, 0..len, form)
            } else {
                self.scanner.launch_next(from, 0..len, to, 0..len, form)
            }
        })
    }
}

/// How the devices share `len` elements.
fn cut<O: Scannable>(len: usize) -> Cut {
    Cut::in_units(len, Shape::part::<O::Element, O::Accumulator>())
}

/// The length of a part for `count` devices, if about `part` elements are requested.
fn rounded<O: Scannable>(len: usize, part: usize, count: usize) -> usize {
    let least = Shape::part::<O::Element, O::Accumulator>() * count;
    ((part / least).max(1).saturating_mul(least)).min(len)
}

/// Scans `input` by `op` on `devices`, part by part, like a [`PartScanner`]: about `part` elements
/// and their results are in their memory at a time. Calls `done` with the number of elements
/// scanned so far.
///
/// # Errors
/// If a device fails, and [`PartError::Memory`] for the results.
pub fn scan_in_parts<O>(
    op: O,
    devices: impl Into<Devices>,
    input: &[O::Element],
    form: Form,
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, PartError>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    let mut scanner = PartScanner::new(op, devices, input.len(), form, part)?;
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
