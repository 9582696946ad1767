//! Reductions of spread arrays.

use super::Spread;
use crate::device::{Buffer, DeviceError, Devices};
use crate::primitives::parts::{PartReducible, from_leaves};
use crate::primitives::reduce::Reducer;
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::reduce::{MOST_TILES, Shape};
use gridsync_kernels::op::Carried;

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
            let words = MOST_TILES * O::Accumulator::WORDS;
            Ok((Reducer::with(op, device)?, device.alloc(words)?))
        })?;
        Ok(Self { op, devices: devices.clone(), each })
    }

    /// Puts the reduction of each device's part into its stream. Waits for nothing.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if `input` is spread over others, [`DeviceError::ShortStripes`], and errors of
    /// the launches.
    pub fn launch(&mut self, input: &Spread<O::Element>) -> Result<(), DeviceError> {
        let whole = Shape::of::<O::Element>(input.len);
        if !input.is_on_one() {
            // While the leaves are strips, the array is a single piece.
            let tile = match whole.leaves_are_strips() {
                true => input.len,
                false => whole.tile::<O::Element>(),
            };
            input.expect_tiles("a reduction", tile)?;
        }
        let each = &mut self.each;
        self.devices.each(|gpu, _| {
            let ((reducer, results), part) = (&mut each[gpu], &input.parts[gpu]);
            let (shape, values) = share(input, gpu);
            let result = results.view().part(0, values * O::Accumulator::WORDS);
            if part.is_empty() {
                return Ok(());
            }
            // SAFETY: the shape is that of the whole array with as many tiles as the part fills; there are words for
            // each of its tiles, and a dropped buffer waits for the stream.
            unsafe { reducer.launch_in(shape, part, 0..part.len(), result) }
        })?;
        Ok(())
    }

    /// The result of the last [`launch`](Self::launch), which reduced `input`. Waits for it.
    ///
    /// # Errors
    /// The error of the work that failed, with its device.
    pub fn result(&self, input: &Spread<O::Element>) -> Result<O::Output, DeviceError> {
        let whole = Shape::of::<O::Element>(input.len);
        // What has the whole array gives one value.
        let (tile, count) = match input.is_on_one() {
            true => (input.len.max(1), input.len.min(1)),
            false => (whole.tile::<O::Element>(), whole.tiles as usize),
        };
        let mut leaves = vec![self.op.identity(); count];
        self.devices.each(|gpu, _| {
            let (_, values) = share(input, gpu);
            if input.parts[gpu].is_empty() {
                return Ok(());
            }
            let words = self.each[gpu].1.download_part(0..values * O::Accumulator::WORDS)?;
            let mut words = words.chunks(O::Accumulator::WORDS);
            let mut here = 0;
            for stripe in input.stripes(gpu) {
                // The kernel has counted from the beginning of the part.
                let by = (stripe.start - here) as u64;
                here += stripe.len();
                for (start, words) in stripe.step_by(tile).zip(&mut words) {
                    leaves[start / tile] = O::moved(accumulator::<O>(words), by);
                }
            }
            Ok(())
        })?;
        Ok(from_leaves(self.op, input.len, &leaves))
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

/// The shape in which device `gpu` reduces its part, and how many values it leaves: one for each of its tiles, or one
/// if it has all.
fn share<T: Scalar + Pod>(input: &Spread<T>, gpu: usize) -> (Shape, usize) {
    let (whole, part) = (Shape::of::<T>(input.len), input.parts[gpu].len());
    if part == input.len {
        return (whole, 1);
    }
    let tiles = part.div_ceil(whole.tile::<T>());
    (Shape { tiles: tiles as u32, ..whole }, tiles)
}

/// The accumulator of these words.
fn accumulator<O: PartReducible>(written: &[u32]) -> O::Accumulator {
    let mut words = [0; 4];
    words[..written.len()].copy_from_slice(written);
    O::Accumulator::from_words(words)
}
