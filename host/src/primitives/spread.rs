//! Arrays that lie on several devices, and primitives that leave them there.

use super::parts::leaves::shape_of;
use super::parts::{Cut, PartReducible, from_leaves};
use super::reduce::Reducer;
use super::scan::{Form, Scanner};
use crate::device::{Buffer, DeviceError, Devices};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::{reduce, scan};
use gridsync_kernels::op::Carried;
use std::ops::Range;

/// An array that is spread over [`Devices`]: each has one run of it, in their order.
///
/// Runs are whole multiples of 32 MiB, or of a tile of a reduction where that is more, so that each device can take its
/// own for itself, to the bits of one device. An array that is shorter lies on the first device.
#[derive(Debug)]
pub struct Spread<T> {
    cut: Cut,
    len: usize,
    parts: Vec<Buffer<T>>,
}

impl<T: Scalar + Pod> Spread<T> {
    /// An array of `len` elements whose contents are whatever the memory held.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with [`DeviceError::OutOfMemory`].
    pub fn alloc(devices: &Devices, len: usize) -> Result<Self, DeviceError> {
        // Both are powers of two.
        let tile = reduce::Shape::of::<T>(len).tile::<T>();
        let cut = Cut::in_units(len, tile.max(scan::Shape::part::<T, T>()));
        Self::cut_as(devices, len, cut)
    }

    /// An array that is spread as `other` is, for the results of a scan.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    pub fn like<U>(devices: &Devices, other: &Spread<U>) -> Result<Self, DeviceError> {
        Self::cut_as(devices, other.len, other.cut)
    }

    fn cut_as(devices: &Devices, len: usize, cut: Cut) -> Result<Self, DeviceError> {
        let count = devices.len();
        let parts = devices.each(|gpu, device| device.alloc(cut.run(gpu, count).len()))?;
        Ok(Self { cut, len, parts })
    }

    /// An array with the elements of `host`.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc), and errors of the copies.
    pub fn upload(devices: &Devices, host: &[T]) -> Result<Self, DeviceError> {
        let mut spread = Self::alloc(devices, host.len())?;
        let count = spread.parts.len();
        for ((run, elements), part) in spread.cut.runs(host, count).zip(&mut spread.parts) {
            debug_assert_eq!(run.len(), part.len());
            part.copy_from(elements)?;
        }
        Ok(spread)
    }

    /// All elements, on the host.
    ///
    /// # Errors
    /// Errors of the copies.
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        let mut host = Vec::with_capacity(self.len);
        for part in &self.parts {
            host.extend(part.download()?);
        }
        Ok(host)
    }
}

impl<T> Spread<T> {
    /// How many elements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements that lie on a device, by its place among the devices.
    #[must_use]
    pub fn run(&self, gpu: usize) -> Range<usize> {
        self.cut.run(gpu, self.parts.len())
    }

    /// The memory of that run.
    #[must_use]
    pub fn part(&self, gpu: usize) -> &Buffer<T> {
        &self.parts[gpu]
    }
}

/// A reduction of spread arrays by one operation.
///
/// Each device takes the tiles that it has, at the same time, in one launch. The host combines what they give, in the
/// order that the length prescribes: the bits are those of one device.
pub struct SpreadReducer<O: PartReducible> {
    op: O,
    devices: Devices,
    each: Vec<(Reducer<O>, Buffer<u32>)>,
}

impl<O: PartReducible<Element: Pod>> SpreadReducer<O> {
    /// Plans reductions by `op` on `devices`.
    ///
    /// # Errors
    /// Errors of the devices.
    pub fn new(op: O, devices: &Devices) -> Result<Self, DeviceError> {
        let each = devices.each(|_, device| {
            let words = reduce::MOST_TILES * O::Accumulator::WORDS;
            Ok((Reducer::with(op, device)?, device.alloc(words)?))
        })?;
        Ok(Self { op, devices: devices.clone(), each })
    }

    /// Puts the reduction of each device's part into its stream. Waits for nothing.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if `input` is spread over others, and errors of the launches.
    pub fn launch(&mut self, input: &Spread<O::Element>) -> Result<(), DeviceError> {
        let (len, each) = (input.len, &mut self.each);
        self.devices.each(|gpu, _| {
            let ((reducer, results), part) = (&mut each[gpu], &input.parts[gpu]);
            let (shape, values) = shape_of::<O>(len, part.len());
            let result = results.view().part(0, values * O::Accumulator::WORDS);
            if part.is_empty() {
                return Ok(());
            }
            // SAFETY: the shape is made for the part, or it is that of the whole array with as many tiles as the part
            // fills; there are words for each of its tiles, and a dropped buffer waits for the stream.
            unsafe { reducer.launch_in(shape, part, 0..part.len(), result) }
        })?;
        Ok(())
    }

    /// The result of the last [`launch`](Self::launch), which reduced `input`. Waits for it.
    ///
    /// # Errors
    /// The error of the work that failed, with its device.
    pub fn result(&self, input: &Spread<O::Element>) -> Result<O::Output, DeviceError> {
        let leaves = self.devices.each(|gpu, _| {
            let run = input.run(gpu);
            let (_, values) = shape_of::<O>(input.len, run.len());
            let written = match run.is_empty() {
                true => Vec::new(),
                false => self.each[gpu].1.download_part(0..values * O::Accumulator::WORDS)?,
            };
            let leaf = |written: &[u32]| {
                let mut words = [0; 4];
                words[..written.len()].copy_from_slice(written);
                O::moved(O::Accumulator::from_words(words), run.start as u64)
            };
            Ok(written.chunks(O::Accumulator::WORDS).map(leaf).collect::<Vec<_>>())
        })?;
        Ok(from_leaves(self.op, input.len, &leaves.concat()))
    }

    /// Reduces `input` and waits for the result.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch) and [`result`](Self::result).
    pub fn reduce(&mut self, input: &Spread<O::Element>) -> Result<O::Output, DeviceError> {
        self.launch(input)?;
        self.result(input)
    }
}

/// Scans `input` into `output`, which is spread [like](Spread::like) it, by `op`. Each device goes on from what the ones
/// before it combine to: they scan one after the other, so this takes as long as on one device with memory for all. The
/// bits are those of one device. Returns when all have ended.
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if the two differ, and errors of the devices.
pub fn scan_spread<O: Scannable<Element: Pod, Output: Pod>>(
    op: O,
    devices: &Devices,
    input: &Spread<O::Element>,
    output: &mut Spread<O::Output>,
    form: Form,
) -> Result<(), DeviceError> {
    if (input.len, input.cut) != (output.len, output.cut) {
        return Err(DeviceError::LengthMismatch { buffer: output.len, given: input.len });
    }
    let (mut carry, outputs) = (None, &mut output.parts);
    devices.each(|gpu, device| {
        let (from, to) = (&input.parts[gpu], &mut outputs[gpu]);
        let mut scanner = Scanner::with(op, device, from.len())?;
        if from.len() == input.len {
            scanner.launch(from, to, form)?;
            return device.synchronize();
        }
        let all = 0..from.len();
        scanner.go_on_from(carry)?;
        scanner.launch_next(from, all.clone(), to, all, form)?;
        carry = scanner.carry()?.or(carry);
        Ok(())
    })?;
    Ok(())
}
