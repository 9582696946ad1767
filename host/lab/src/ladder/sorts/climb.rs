//! Runs a rung: its launches, and the memory they work in.

use super::KIND;
use super::bitonic::{Step, pairs, steps};
use super::rung::{Counted, Launched, Rung, rungs, tiles};
use crate::ladder::scans::{self, Moves};
use crate::ladder::{self, Kind, Ladder, Own, Roof, roof};
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::resident_blocks;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync::primitives::sort::{Order, Sorter, sort_on_cpu};
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::kernels::ladder_scan_copy;
use gridsync_lab_kernels::ladder::sorts::kernels::{
    ladder_sort_count, ladder_sort_count_all, ladder_sort_odd_even, ladder_sort_one_sweep,
    ladder_sort_step, ladder_sort_tiles,
};
use gridsync_lab_kernels::ladder::sorts::t05_ranks::ROW;
use gridsync_lab_kernels::ladder::sorts::{DIGITS, PASSES};

/// An input, an output, and the memory that all rungs work in.
pub struct Climb {
    device: Device,
    input: Buffer<u32>,
    output: Buffer<u32>,
    /// The keys after every other pass.
    spare: Buffer<u32>,
    /// The counts of each tile, and their scan.
    counts: Buffer<u32>,
    starts: Buffer<u32>,
    scanner: Scanner<Sum<u32>>,
    /// The counts of the whole array for each digit.
    totals: Buffer<u32>,
    /// The most blocks that count them.
    resident: u32,
    /// A ticket, and a word for each digit of each tile.
    words: Buffer<u32>,
    sorter: Sorter<u32>,
    /// The keys in order, for the number of keys of the last check.
    expected: Vec<u32>,
}

impl Ladder for Climb {
    type Element = u32;
    type Launched = Launched;
    type Plan = Moves;

    const KIND: &'static Kind = &KIND;
    const DTYPE: &'static str = "u32";

    fn rungs() -> Vec<Rung> {
        rungs().into()
    }

    fn new(device: &Device, input: &[u32]) -> Result<Self, DeviceError> {
        let len = input.len();
        let most = rungs().iter().map(|rung| rung.at_most).filter(|&most| most < usize::MAX).max();
        let of_tiles = DIGITS * tiles(len.min(most.unwrap_or(len)));
        Ok(Self {
            device: device.clone(),
            input: device.upload(input)?,
            output: device.zeroed(len)?,
            spare: device.alloc(len)?,
            counts: device.alloc(of_tiles)?,
            starts: device.alloc(of_tiles)?,
            scanner: Scanner::new(Sum::new(), device, of_tiles)?,
            totals: device.alloc(PASSES * DIGITS)?,
            resident: resident_blocks::<ladder_sort_count_all>(device, THREADS, 0)?.max(1),
            words: device.alloc(1 + of_tiles)?,
            sorter: Sorter::new(device, len)?,
            expected: Vec::new(),
        })
    }

    fn plan(&self, rung: &Rung, len: usize) -> Result<Moves, DeviceError> {
        Ok(rung.moves(len, self.device.properties().compute))
    }

    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the library's rung gets fewer keys than the input has.
    fn launch(&mut self, rung: &Rung, len: usize, _: &Moves) -> Result<(), DeviceError> {
        match rung.launched {
            Launched::OneBlock => {
                let views = self.views(len);
                // SAFETY: input and output do not overlap and have the same length, and only the
                // rungs use them. Dropping a buffer waits for the stream.
                unsafe {
                    self.device.launch::<ladder_sort_odd_even>(&Geometry::new(1, THREADS), views)
                }
            }
            Launched::BitonicSteps => self.bitonic(len, false),
            Launched::BitonicTiles => self.bitonic(len, true),
            Launched::Counted(counted) => self.counted(len, counted),
            Launched::OneSweep => self.one_sweep(len),
            Launched::Library if len == self.input.len() => {
                self.sorter.launch(Order::ASCENDING, &self.input, &mut self.output)
            }
            Launched::Library => {
                Err(DeviceError::LengthMismatch { buffer: self.input.len(), given: len })
            }
        }
    }

    fn fault(
        &mut self,
        rung: &Rung,
        input: &[u32],
        moves: &Moves,
    ) -> Result<Option<String>, DeviceError> {
        self.clear()?;
        self.launch(rung, input.len(), moves)?;
        let sorted = self.sorted()?;
        // All inputs are prefixes of one array.
        if self.expected.len() != input.len() {
            self.expected = sort_on_cpu(Order::ASCENDING, input);
        }
        let wrong = sorted.iter().zip(&self.expected).position(|(key, expected)| key != expected);
        Ok(wrong
            .map(|at| format!("{} at {at}, the reference says {}", sorted[at], self.expected[at])))
    }

    fn count(rung: &Rung) -> Result<Option<ladder::Counted>, DeviceError> {
        rung.count()
    }

    fn own(moves: &Moves, counted: Option<&ladder::Counted>, percent: Option<f64>) -> Own {
        scans::Climb::own(moves, counted, percent)
    }

    fn roof(gb_per_s: Option<f64>) -> Roof {
        Roof::Pass(gb_per_s)
    }

    fn roof_grids(&self, len: usize) -> Result<Vec<u32>, DeviceError> {
        roof::copy_grids(&self.device, len)
    }

    fn launch_roof(&self, len: usize, blocks: u32) -> Result<(), DeviceError> {
        let geometry = Geometry::new(blocks, THREADS);
        // SAFETY: input and output are aligned to 256 bytes, do not overlap and have the same
        // length.
        unsafe { self.device.launch::<ladder_scan_copy>(&geometry, self.views(len)) }
    }
}

impl Climb {
    /// Sets the output to 0.
    ///
    /// # Errors
    /// If the device fails.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        self.output.zero()
    }

    /// The output, after all launches. It is 0 where the rungs have not written since
    /// [`clear`](Self::clear).
    ///
    /// # Errors
    /// If a launch in the stream failed.
    pub fn sorted(&self) -> Result<Vec<u32>, DeviceError> {
        self.output.download()
    }

    /// The first `len` elements of the input, and the memory for them in order.
    fn views(&self, len: usize) -> (Global<u32>, Global<u32>) {
        (self.input.view().part(0, len), self.output.view().part(0, len))
    }

    /// The keys before and after each pass, and the first bit of its digit. The number of passes is
    /// even, so the last one writes the output.
    fn passes(&self, len: usize) -> [(Global<u32>, Global<u32>, u32); PASSES] {
        let (input, output) = self.views(len);
        let spare = self.spare.view().part(0, len);
        [(input, spare, 0), (spare, output, 8), (output, spare, 16), (spare, output, 24)]
    }

    /// A bitonic sort.
    fn bitonic(&self, len: usize, by_tiles: bool) -> Result<(), DeviceError> {
        let (mut from, output) = self.views(len);
        let of_tiles = Geometry::new(tiles(len) as u32, THREADS);
        let launch_tiles = |from, merging| {
            // SAFETY: both views have the same length, and are one or do not overlap; only the rungs
            // use them. Dropping a buffer waits for the stream. Each tile has a block.
            unsafe { self.device.launch::<ladder_sort_tiles>(&of_tiles, (from, output, merging)) }
        };
        for step in steps(len, by_tiles) {
            match step {
                Step::SortTiles => launch_tiles(from, 0)?,
                Step::MergeTiles => launch_tiles(from, 1)?,
                Step::Across { mask } => {
                    let blocks = pairs(mask, len).div_ceil(THREADS as usize).max(1);
                    let geometry = Geometry::new(blocks as u32, THREADS);
                    // SAFETY: as above, and each pair has a thread.
                    unsafe {
                        self.device.launch::<ladder_sort_step>(&geometry, (from, output, mask))?;
                    }
                }
            }
            from = output;
        }
        Ok(())
    }

    /// A radix sort with three launches for each digit.
    fn counted(&mut self, len: usize, counted: Counted) -> Result<(), DeviceError> {
        let tiles = tiles(len);
        let (all, Counted { scatter, threads }) = (DIGITS * tiles, counted);
        for (from, to, shift) in self.passes(len) {
            let counts = self.counts.view().part(0, all);
            let geometry = Geometry::new(tiles as u32, THREADS);
            // SAFETY: there is a count for each digit of each tile, the keys and the counts do not
            // overlap, and only the rungs use them. Dropping a buffer waits for the stream. Each tile
            // has a block.
            unsafe { self.device.launch::<ladder_sort_count>(&geometry, (from, counts, shift))? };
            let (counts, starts) = (&self.counts, &mut self.starts);
            self.scanner.launch_part(counts, 0..all, starts, 0..all, Form::Exclusive)?;
            let starts = self.starts.view().part(0, all);
            let geometry = Geometry::new(tiles as u32, threads);
            // SAFETY: as above. Both views of keys have the same length, and the starts are those of
            // the keys.
            unsafe { (scatter.launch)(&self.device, &geometry, (from, to, starts, shift))? };
        }
        Ok(())
    }

    /// A radix sort with one launch for each digit.
    fn one_sweep(&mut self, len: usize) -> Result<(), DeviceError> {
        let tiles = tiles(len) as u32;
        self.totals.zero()?;
        let args = (self.input.view().part(0, len), self.totals.view());
        // SAFETY: there is a count for each value of each digit, all 0, and only the rungs use the
        // buffers, which do not overlap. Dropping a buffer waits for the stream.
        unsafe {
            let geometry = Geometry::new(tiles.min(self.resident), THREADS);
            self.device.launch::<ladder_sort_count_all>(&geometry, args)?;
        }
        for (pass, (from, to, shift)) in self.passes(len).into_iter().enumerate() {
            self.words.zero()?;
            let totals = self.totals.view().part(pass * DIGITS, DIGITS);
            let args = (from, to, totals, self.words.view(), shift);
            // SAFETY: as above. The counts are those of the digit, each tile has a block and a word
            // for each digit, and the words are 0.
            unsafe {
                let geometry = Geometry::new(tiles, ROW as u32);
                self.device.launch::<ladder_sort_one_sweep>(&geometry, args)?;
            }
        }
        Ok(())
    }
}
