//! Runs a rung: its launches, and the memory they work in.

use super::KIND;
use super::rung::{Launched, Rung, Step, Two, rungs};
use crate::ladder::{Counted, Entry, Kind, Ladder, Own, Roof, roof};
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::barrier_words;
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::sums::kernels::ladder_read_only;

/// An input, and the memory that all rungs work in.
pub struct Climb<T: Step> {
    device: Device,
    input: Buffer<T>,
    /// The sums of the threads or of the blocks. Successive levels alternate between the two
    /// buffers.
    sums: [Buffer<T>; 2],
    ticket: Buffer<u32>,
    barrier: Buffer<u32>,
    sum: Buffer<T>,
}

impl<T: Step> Ladder for Climb<T> {
    type Element = T;
    type Launched = Launched<T>;
    /// The first launch.
    type Plan = Geometry;

    const KIND: &'static Kind = &KIND;
    const DTYPE: &'static str = T::NAME;

    fn rungs() -> Vec<Rung<T>> {
        rungs()
    }

    fn new(device: &Device, input: &[T]) -> Result<Self, DeviceError> {
        let properties = device.properties();
        // Room for the lowest pyramid, and for all threads or blocks that can be resident.
        let resident = properties.multiprocessors * properties.max_threads_per_multiprocessor;
        let most = input.len().div_ceil(THREADS as usize).max(resident as usize);
        Ok(Self {
            device: device.clone(),
            input: device.upload(input)?,
            sums: [device.alloc(most)?, device.alloc(most)?],
            ticket: device.zeroed(1)?,
            barrier: barrier_words::<GridBarrier>(device, &Geometry::new(resident, THREADS))?,
            sum: device.zeroed(1)?,
        })
    }

    fn plan(&self, rung: &Rung<T>, len: usize) -> Result<Geometry, DeviceError> {
        rung.geometry(&self.device, len)
    }

    fn launch(
        &mut self,
        rung: &Rung<T>,
        len: usize,
        geometry: &Geometry,
    ) -> Result<(), DeviceError> {
        let (input, sum) = (self.input.view().part(0, len), self.sum.view());
        let [sums, others] = self.sums.each_ref().map(Buffer::view);
        let (device, ticket, barrier) = (&self.device, self.ticket.view(), self.barrier.view());
        let blocks = geometry.grid.volume() as usize;
        let adds_to_the_sum = matches!(
            rung.launched,
            Launched::AtomicOfEachElement(_) | Launched::AtomicOfEachBlock(_)
        );
        if adds_to_the_sum {
            self.sum.zero()?;
        }
        // SAFETY: buffers are aligned to 256 bytes. Nothing writes the input. There is room for a
        // sum of each thread and of each block, as `new` explains. Ticket and barrier start at 0,
        // and each launch leaves them as the next one needs them. The stream orders the launches,
        // and dropping a buffer waits for the stream. Blocks are those of `Rung::geometry`, which
        // are resident where the kernel needs it.
        unsafe {
            match rung.launched {
                Launched::OneThread(kernel)
                | Launched::AtomicOfEachElement(kernel)
                | Launched::AtomicOfEachBlock(kernel) => {
                    (kernel.launch)(device, geometry, (input, sum))
                }
                Launched::SumOfEachThread(kernel, _) => {
                    let threads = blocks * geometry.block.volume() as usize;
                    let sums = sums.part(0, threads);
                    (kernel.launch)(device, geometry, (input, sums))?;
                    device.launch::<T::Serial>(&Geometry::new(1, 1), (sums, sum))
                }
                Launched::Pyramid(kernel, per_block) => {
                    pyramid(device, kernel, per_block, input, [sums, others], sum)
                }
                Launched::Resident(kernel) if blocks == 1 => {
                    (kernel.launch)(device, geometry, (input, sum))
                }
                Launched::Resident(kernel) => {
                    let sums = sums.part(0, blocks);
                    (kernel.launch)(device, geometry, (input, sums))?;
                    (kernel.launch)(device, &Geometry::new(1, THREADS), (sums, sum))
                }
                Launched::LastBlock(kernel) => {
                    (kernel.launch)(device, geometry, (input, sums, ticket, sum))
                }
                Launched::GridBarrier(kernel) => {
                    (kernel.launch)(device, geometry, (input, sums, barrier, sum))
                }
            }
        }
    }

    fn fault(
        &mut self,
        rung: &Rung<T>,
        input: &[T],
        geometry: &Geometry,
    ) -> Result<Option<String>, DeviceError> {
        let len = input.len();
        self.launch(rung, len, geometry)?;
        let sum = self.sum()?;
        let check = T::check(input, sum, rung.depth(len, geometry));
        Ok((!check.ok).then(|| {
            format!(
                "{sum:?}, the reference says {:?}; they differ by {:e}, allowed {:e}",
                check.reference, check.abs_err, check.bound
            )
        }))
    }

    fn count(rung: &Rung<T>) -> Result<Option<Counted>, DeviceError> {
        rung.count()
    }

    fn own(geometry: &Geometry, counted: Option<&Counted>, percent: Option<f64>) -> Own {
        Own::Sum {
            percent_of_reading: percent,
            warp_additions: counted.map(Counted::warp_additions),
            geometry: Some([geometry.grid.volume(), geometry.block.volume()]),
        }
    }

    fn roof(gb_per_s: Option<f64>) -> Roof {
        Roof::Reading(gb_per_s)
    }

    fn roof_grids(&self, _len: usize) -> Result<Vec<u32>, DeviceError> {
        roof::grids::<ladder_read_only>(&self.device)
    }

    fn launch_roof(&self, len: usize, blocks: u32) -> Result<(), DeviceError> {
        let words = self.input.view().part(0, len).cast::<u32>();
        // The kernel almost never writes to it, and every rung overwrites it.
        let never = self.sum.view().cast::<u32>();
        // SAFETY: the input is aligned to 256 bytes and nothing writes it. The word that is almost
        // never written exists.
        unsafe {
            let geometry = Geometry::new(blocks, THREADS);
            self.device.launch::<ladder_read_only>(&geometry, (words, never))
        }
    }
}

impl<T: Step> Climb<T> {
    /// The sum of the last rung, after all launches.
    ///
    /// # Errors
    /// If a launch in the stream failed.
    pub fn sum(&self) -> Result<T, DeviceError> {
        Ok(self.sum.download()?[0])
    }
}

/// Launches `kernel` on `input`, then on the resulting sums, until one is left: `sum`.
///
/// # Safety
/// As for the kernel; each of `sums` has room for a sum of each block.
unsafe fn pyramid<T: Step>(
    device: &Device,
    kernel: Entry<Two<T>>,
    per_block: usize,
    mut input: Global<T>,
    [mut sums, mut others]: [Global<T>; 2],
    sum: Global<T>,
) -> Result<(), DeviceError> {
    loop {
        let blocks = input.len().div_ceil(per_block).max(1);
        let geometry = Geometry::new(blocks as u32, THREADS);
        if blocks == 1 {
            // SAFETY: guaranteed by the caller.
            return unsafe { (kernel.launch)(device, &geometry, (input, sum)) };
        }
        let left = sums.part(0, blocks);
        // SAFETY: guaranteed by the caller.
        unsafe { (kernel.launch)(device, &geometry, (input, left))? };
        (input, sums, others) = (left, others, sums);
    }
}
