//! Scans of distributed arrays.

use super::Spread;
use crate::device::{Buffer, Device, DeviceError, Devices, Geometry, Launch};
use crate::launch::{resident_blocks, words_with_heads};
use crate::primitives::scan::{
    Design, Form, Scanner, expect_bulk, has_bulk, is_long_enough_for_bulk,
};
use bytemuck::Pod;
use gridsync_entries::KernelOf;
use gridsync_entries::spread::{Arguments, BulkArguments, BulkCommon, Common, SpreadScannable};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, STATE, Shape, head_and_places};
use gridsync_kernels::op::Carried;

/// Scans of distributed arrays by one operation, and their working memory.
///
/// All devices scan their stripes at the same time, with one launch each, and read and write the
/// array once. The combined value of a stripe is sent to the other devices while they scan, as
/// words of 8 bytes, one per tile of up to 32 KiB. So two devices take half as long as one, and the
/// bits are those of one.
pub struct SpreadScanner<O: SpreadScannable> {
    op: O,
    devices: Devices,
    /// For arrays on the first device.
    alone: Scanner<O>,
    /// The words of each device, with their heads, and its state.
    words: Vec<Buffer<u64>>,
    states: Vec<Buffer<u32>>,
    /// The stamp of the last launch.
    stamp: u32,
    /// The requested design.
    design: Option<Design>,
    /// How many blocks of each kernel can be resident at once on every device: in registers, by
    /// bulk copies. `None` before the first query of the devices.
    resident: [Option<u32>; 2],
}

impl<O: SpreadScannable<Element: Pod, Output: Pod>> SpreadScanner<O> {
    /// Allocates the working memory for scans by `op` of up to `longest` elements, on each device:
    /// about 8 bytes per tile of 4 to 32 KiB and per word of an accumulator.
    ///
    /// # Errors
    /// If a device fails.
    ///
    /// # Panics
    /// If a scan cannot have enough tiles for `longest` elements, which happens at 16 TiB and more.
    pub fn new(op: O, devices: &Devices, longest: usize) -> Result<Self, DeviceError> {
        let states = devices.zeroed(STATE)?;
        let words = words_with_heads(devices, words::<O>(longest))?;
        // The other devices write to this memory, and their streams are not ordered after the zero
        // fill.
        devices.synchronize()?;
        let alone = Scanner::new(op, &devices[0], longest);
        Ok(Self {
            op,
            devices: devices.clone(),
            alone: alone.map_err(|error| error.on_gpu(0, &devices[0]))?,
            words,
            states,
            stamp: 0,
            design: None,
            resident: [None; 2],
        })
    }

    /// Always scans by `design`, instead of choosing the faster design for the length. Arrays of 1
    /// MiB and less are still scanned in registers.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with [`DeviceError::Unsupported`] if the operation has no kernel of
    /// that design, or a device cannot run it.
    pub fn with_design(mut self, design: Design) -> Result<Self, DeviceError> {
        if design == Design::Bulk {
            self.devices.each(|_, device| expect_bulk::<O>(device))?;
        }
        self.alone = self.alone.with_design(design)?;
        self.design = Some(design);
        Ok(self)
    }

    /// Submits the scan of `input` into `output`, which must be distributed [like](Spread::like)
    /// it, to the streams of all devices. Does not wait, and allocates only if the input is longer
    /// than all earlier ones and the length passed to [`new`](Self::new). On each device it starts
    /// after the current work in the streams of all devices.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the two are distributed differently,
    /// [`DeviceError::SpreadElsewhere`] or [`DeviceError::OtherDevice`] if they are distributed
    /// over other devices, [`DeviceError::ShortStripes`], and if a launch fails.
    pub fn launch(
        &mut self,
        input: &Spread<O::Element>,
        output: &mut Spread<O::Output>,
        form: Form,
    ) -> Result<(), DeviceError> {
        if (input.len, input.stripe, input.parts.len())
            != (output.len, output.stripe, output.parts.len())
        {
            return Err(DeviceError::LengthMismatch { buffer: output.len, given: input.len });
        }
        input.expect_on(&self.devices)?;
        output.expect_on(&self.devices)?;
        if input.is_on_one() {
            let launched = self.alone.launch(&input.parts[0], &mut output.parts[0], form);
            return launched.map_err(|error| error.on_gpu(0, &self.devices[0]));
        }
        let shape = Shape::of::<O::Element, O::Accumulator>(input.len);
        let tile = shape.tile::<O::Element>();
        input.expect_tiles("a scan", tile)?;
        self.next_stamp(input.len)?;
        let design = self.design_for(shape, input.len);
        // The first device has the most tiles.
        let tiles = input.parts[0].len().div_ceil(tile) as u32;
        let blocks = tiles.min(self.resident(design, shape)?);
        let common = |gpu: usize| Arguments {
            input: input.parts[gpu].view(),
            output: output.parts[gpu].view(),
            words: self.words[gpu].view(),
            state: self.states[gpu].view(),
            rows: shape.rows,
            group: shape.group,
            tiles: shape.tiles,
            stripe: (input.stripe / tile) as u32,
            stamp: self.stamp,
            form: form as u32,
        };
        let op = self.op;
        let launches: Vec<Launch> = (0..self.devices.len())
            .map(|gpu| match design {
                Design::Registers => {
                    let geometry = Geometry::new(blocks, shape.threads());
                    let args = op.arguments(common(gpu));
                    Launch::new::<KernelOf<O, Common<O>>>(geometry, args)
                }
                Design::Bulk => {
                    let geometry = Geometry::new(blocks, BULK_THREADS);
                    let args = op.arguments(BulkArguments(common(gpu)));
                    Launch::new::<KernelOf<O, BulkCommon<O>>>(
                        geometry.with_dynamic_shared(BULK_SHARED),
                        args,
                    )
                }
            })
            .collect();
        // Words are overwritten only when no device polls them any more.
        self.devices.meet()?;
        // SAFETY: the shape is that of the whole array, and stripes are whole tiles. The words have
        // room for it on each device, and no word has this stamp. All of them were zeroed before
        // the first launch, which waited for that, and each launch waits for the last one on all
        // devices. The grids are resident at the same time. A dropped buffer waits for all streams
        // of devices that work together.
        unsafe { self.devices.launch(&launches) }
    }

    /// The design that scans `len` elements.
    fn design_for(&self, shape: Shape, len: usize) -> Design {
        let can_bulk = shape == Shape::for_bulk::<O::Element>(len)
            && self.devices.iter().all(|device| has_bulk::<O>(device));
        let share = len / self.devices.len();
        let is_long = || is_long_enough_for_bulk::<O>(&self.devices[0], share);
        match self.design {
            Some(Design::Bulk) if can_bulk => Design::Bulk,
            None if can_bulk && is_long() => Design::Bulk,
            _ => Design::Registers,
        }
    }

    /// How many blocks can be resident on every device; at least 1. If not even one fits, the
    /// launch returns the error.
    fn resident(&mut self, design: Design, shape: Shape) -> Result<u32, DeviceError> {
        if let Some(resident) = self.resident[design as usize] {
            return Ok(resident);
        }
        let resident = |device: &Device| match design {
            Design::Registers => {
                resident_blocks::<KernelOf<O, Common<O>>>(device, shape.threads(), 0)
            }
            Design::Bulk => {
                resident_blocks::<KernelOf<O, BulkCommon<O>>>(device, BULK_THREADS, BULK_SHARED)
            }
        };
        let of_each = self.devices.each(|_, device| resident(device))?;
        // Grids on one GPU share its multiprocessors.
        let least = of_each.into_iter().min().unwrap_or(1) / self.devices.sharing();
        self.resident[design as usize] = Some(least.max(1));
        Ok(least.max(1))
    }

    /// Makes room for `len` elements, and picks a stamp that no word has.
    fn next_stamp(&mut self, len: usize) -> Result<(), DeviceError> {
        let (needed, have) = (words::<O>(len), self.words[0].len());
        if needed > have || self.stamp == u32::MAX {
            // Nothing writes to the old words any more, and the new ones are zero before others
            // write to them.
            self.devices.synchronize()?;
            self.words = words_with_heads(&self.devices, needed.max(have))?;
            self.devices.synchronize()?;
            self.stamp = 0;
        }
        self.stamp += 1;
        Ok(())
    }
}

/// Words on each device for scans by `O` of up to `longest` elements.
fn words<O: SpreadScannable>(longest: usize) -> usize {
    let places = Shape::most_places::<O::Element, O::Accumulator>(longest);
    head_and_places(places * O::Accumulator::WORDS)
}

/// Scans `input` into `output`, which must be distributed [like](Spread::like) it, by `op`, and
/// returns when all devices have finished. The bits are those of one device. To scan more than
/// once, keep a [`SpreadScanner`].
///
/// # Errors
/// As for [`SpreadScanner::new`] and [`SpreadScanner::launch`].
pub fn scan_spread<O: SpreadScannable<Element: Pod, Output: Pod>>(
    op: O,
    devices: &Devices,
    input: &Spread<O::Element>,
    output: &mut Spread<O::Output>,
    form: Form,
) -> Result<(), DeviceError> {
    SpreadScanner::new(op, devices, input.len)?.launch(input, output, form)?;
    devices.synchronize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{EmulatorConfig, Schedule};
    use crate::primitives::scan::scan_on_cpu;
    use gridsync_kernels::op::Sum;

    /// A launch mistakes the words of another one for its own if their stamps are the same. So each
    /// launch has other elements, and schedules are drawn in which tiles poll early.
    #[test]
    fn launches_do_not_reuse_stamps_on_the_same_words() {
        let op = Sum::<u32>::new();
        for seed in 1..9 {
            let schedule = Schedule::from_seed(seed);
            let config = EmulatorConfig { gpus: 2, schedule, ..EmulatorConfig::default() };
            let config = EmulatorConfig { races: seed % 2 == 0, weak_memory: true, ..config };
            let devices = Devices::emulated(config).expect("there may be two");
            let mut scanner = SpreadScanner::new(op, &devices, 3500).expect("there is room");
            for launch in 1..7 {
                // The stamps are 1, 2, the last two, and then 1 and 2 again. Until then short
                // arrays leave the first stamp in the words of later tiles.
                if launch == 3 {
                    scanner.stamp = u32::MAX - 2;
                }
                let len = if matches!(launch, 2..5) { 1500 } else { 3500 };
                let host: Vec<u32> = (0..len).map(|i| i * launch).collect();
                let input = Spread::in_stripes(&devices, host.len(), 1024);
                let mut input = input.expect("there is room");
                input.copy_from(&host).expect("it is as long");
                let mut output = Spread::like(&devices, &input).expect("there is room");
                scanner.launch(&input, &mut output, Form::Inclusive).expect("it runs");
                let got = output.download().expect("it is there");
                let expected = scan_on_cpu(op, &host, Form::Inclusive);
                assert!(got == expected, "launch {launch}, seed {seed}");
            }
        }
    }
}
