//! Running a rung: its launches, and the memory they work in.

use super::rung::{Launched, Rung, Step, Two};
use crate::lab::ladder::Entry;
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::barrier_words;
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab_kernels::ladder::THREADS;

/// An input, and the memory that all rungs work in on their way over it.
pub struct Climb<T: Step> {
    device: Device,
    input: Buffer<T>,
    /// The sums of the threads or of the blocks; those of the blocks over these, by turns.
    sums: [Buffer<T>; 2],
    ticket: Buffer<u32>,
    barrier: Buffer<u32>,
    sum: Buffer<T>,
}

impl<T: Step> Climb<T> {
    /// Takes `input` to `device`, and allocates.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, input: &[T]) -> Result<Self, DeviceError> {
        let properties = device.properties();
        // Of the lowest pyramids; of all threads or blocks that can be resident.
        let resident = properties.multiprocessors * properties.max_threads_per_multiprocessor;
        let most = input
            .len()
            .div_ceil(THREADS as usize)
            .max(resident as usize);
        Ok(Self {
            device: device.clone(),
            input: device.upload(input)?,
            sums: [device.alloc(most)?, device.alloc(most)?],
            ticket: device.zeroed(1)?,
            barrier: barrier_words::<GridBarrier>(device, &Geometry::new(resident, THREADS))?,
            sum: device.zeroed(1)?,
        })
    }

    /// The first `len` elements of the input.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn input(&self, len: usize) -> Global<T> {
        assert!(
            len <= self.input.len(),
            "{len} elements should be at most {}, those of the input",
            self.input.len()
        );
        self.input.view().part(0, len)
    }

    /// Puts into the stream all that `rung` does to sum the first `len` elements. `geometry` is that
    /// of its first launch, as [`Rung::geometry`] says. Waits for nothing.
    ///
    /// # Errors
    /// Those of the launches. After a fault of the emulator, climb anew.
    ///
    /// # Panics
    /// If the input has fewer elements.
    pub fn launch(
        &mut self,
        rung: &Rung<T>,
        len: usize,
        geometry: &Geometry,
    ) -> Result<(), DeviceError> {
        let (input, sum) = (self.input(len), self.sum.view());
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
        // SAFETY: buffers begin at a multiple of 256 bytes; nobody writes the input; there is room
        // for a sum of each thread and of each block, as `new` says; ticket and barrier started at 0
        // and each launch leaves them as the next wants them; the stream keeps launches apart, and a
        // dropped buffer waits for it; blocks are those of `Rung::geometry`, which are resident
        // where the kernel needs it.
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

    /// The sum that the last rung left, waiting for it.
    ///
    /// # Errors
    /// What went wrong in the stream.
    pub fn sum(&self) -> Result<T, DeviceError> {
        Ok(self.sum.download()?[0])
    }
}

/// Launches `kernel` over `input`, then over the sums it leaves, until one is left, in `sum`.
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
            // SAFETY: the caller's promise.
            return unsafe { (kernel.launch)(device, &geometry, (input, sum)) };
        }
        let left = sums.part(0, blocks);
        // SAFETY: the caller's promise.
        unsafe { (kernel.launch)(device, &geometry, (input, left))? };
        (input, sums, others) = (left, others, sums);
    }
}
