//! Runs a rung: its launches, and the memory they work in.

use super::KIND;
use super::rung::{Launched, Levels, Moves, Rung, rungs};
use crate::ladder::{Counted, Kind, Ladder, Own, Roof, roof};
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::{barrier_words, resident_blocks};
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Design, Form};
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::kernels::{ladder_scan_copy, ladder_scan_grid_barrier};
use gridsync_lab_kernels::ladder::scans::s06_shuffles::TILE;

/// Words in 16 bytes: every array of sums starts at a multiple of this.
const ALIGNED: usize = 4;

/// An input, an output, and the memory that all rungs work in.
pub struct Climb {
    device: Device,
    input: Buffer<u32>,
    output: Buffer<u32>,
    /// The sums of the blocks, then the sums of the blocks that scan these, and so on.
    sums: Buffer<u32>,
    /// The most blocks of the grid with a barrier.
    resident: u32,
    barrier: Buffer<u32>,
    words: Buffer<u64>,
    in_registers: Scanner<Sum<u32>>,
    by_bulk: Result<Scanner<Sum<u32>>, DeviceError>,
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
        let resident = resident_blocks::<ladder_scan_grid_barrier>(device, THREADS, 0)?.max(1);
        let scanner = || Scanner::new(Sum::<u32>::new(), device, len);
        Ok(Self {
            device: device.clone(),
            input: device.upload(input)?,
            output: device.zeroed(len)?,
            sums: device.alloc(room_for_sums(len).max(resident as usize))?,
            resident,
            barrier: barrier_words::<GridBarrier>(device, &Geometry::new(resident, THREADS))?,
            words: device.zeroed(1 + len.div_ceil(TILE).max(1))?,
            in_registers: scanner()?.with_design(Design::Registers)?,
            by_bulk: scanner()?.with_design(Design::Bulk),
        })
    }

    fn plan(&self, rung: &Rung, len: usize) -> Result<Moves, DeviceError> {
        Ok(rung.moves(len))
    }

    fn launch(&mut self, rung: &Rung, len: usize, _: &Moves) -> Result<(), DeviceError> {
        let (input, output) = self.views(len);
        let (device, sums) = (&self.device, self.sums.view());
        let tiles = len.div_ceil(TILE).max(1) as u32;
        // SAFETY: buffers are aligned to 256 bytes and do not overlap, and only the rungs use them.
        // There is room for the sums of all blocks and levels, for a ticket and a word of each
        // tile, which are 0, and for a barrier; each launch leaves the barrier's words as the next
        // one needs them. The stream orders the launches, and dropping a buffer waits for the
        // stream. Blocks and threads are those that the kernels need, and the blocks with a barrier
        // are resident.
        unsafe {
            match rung.launched {
                Launched::OneBlock(kernel, threads) => {
                    (kernel.launch)(device, &Geometry::new(1, threads), (input, output))
                }
                Launched::Levels(levels) => scan_levels(device, levels, input, output, sums),
                Launched::GridBarrier(kernel) => {
                    let geometry = Geometry::new(tiles.min(self.resident), THREADS);
                    let args = (input, output, sums, self.barrier.view());
                    (kernel.launch)(device, &geometry.cooperative(), args)
                }
                Launched::Chain(kernel) => {
                    self.words.zero()?;
                    let args = (input, output, self.words.view());
                    (kernel.launch)(device, &Geometry::new(tiles, THREADS), args)
                }
                Launched::Library(Design::Registers) => {
                    let (from, to) = (&self.input, &mut self.output);
                    self.in_registers.launch_part(from, 0..len, to, 0..len, Form::Inclusive)
                }
                Launched::Library(Design::Bulk) => {
                    let scanner = self.by_bulk.as_mut().map_err(|error| error.clone())?;
                    if Shape::of::<u32, u32>(len) != Shape::for_bulk::<u32>(len) {
                        return Err(DeviceError::Unsupported {
                            what: "the library's scan of so few elements by bulk copies",
                            device: device.properties().name.clone(),
                            needs: "arrays of 1 MiB and less are scanned in registers: it takes more than 262144 elements",
                        });
                    }
                    let (from, to) = (&self.input, &mut self.output);
                    scanner.launch_part(from, 0..len, to, 0..len, Form::Inclusive)
                }
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
        let mut reference = 0u32;
        for (at, (element, sum)) in input.iter().zip(self.sums()?).enumerate() {
            reference = reference.wrapping_add(*element);
            if sum != reference {
                let fault = format!("{sum} at {at}, the reference says {reference}");
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    fn count(rung: &Rung) -> Result<Option<Counted>, DeviceError> {
        rung.count()
    }

    fn own(moves: &Moves, counted: Option<&Counted>, percent: Option<f64>) -> Own {
        Own::Array {
            percent_of_copying: percent,
            launches: moves.launches,
            words_moved: moves.words,
            tile: counted.map(|counted| counted.elements as u64),
            warp_operations: counted.map(Counted::warp_operations),
            shuffles: counted.map(|counted| counted.shuffles),
        }
    }

    fn roof(gb_per_s: Option<f64>) -> Roof {
        Roof::Copying(gb_per_s)
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
    pub fn sums(&self) -> Result<Vec<u32>, DeviceError> {
        self.output.download()
    }

    /// The first `len` elements of the input, and the memory for their sums.
    fn views(&self, len: usize) -> (Global<u32>, Global<u32>) {
        (self.input.view().part(0, len), self.output.view().part(0, len))
    }
}

/// Words for the sums of all levels for `len` elements in tiles of 256, the smallest tiles.
fn room_for_sums(len: usize) -> usize {
    let blocks = len.div_ceil(THREADS as usize).max(1);
    let deeper = match blocks {
        1 => 0,
        _ => room_for_sums(blocks),
    };
    blocks.next_multiple_of(ALIGNED) + deeper
}

/// Scans `input` into `output` by blocks; then scans the sums of the blocks in the same way, and
/// adds them.
///
/// # Safety
/// As for the kernels; `sums` has room for the sums of all levels.
unsafe fn scan_levels(
    device: &Device,
    levels: Levels,
    input: Global<u32>,
    output: Global<u32>,
    sums: Global<u32>,
) -> Result<(), DeviceError> {
    let blocks = input.len().div_ceil(levels.tile).max(1);
    let own = sums.part(0, blocks);
    let geometry = Geometry::new(blocks as u32, THREADS);
    // SAFETY: guaranteed by the caller; the block that reads a tile also writes it.
    unsafe { (levels.scan.launch)(device, &geometry, (input, output, own))? };
    if blocks == 1 {
        return Ok(());
    }
    let start = blocks.next_multiple_of(ALIGNED);
    let geometry = Geometry::new(blocks as u32, levels.inject_threads);
    // SAFETY: guaranteed by the caller; the block that reads a tile also writes it.
    unsafe {
        scan_levels(device, levels, own, own, sums.part(start, sums.len() - start))?;
        (levels.inject.launch)(device, &geometry, (output, own))
    }
}
