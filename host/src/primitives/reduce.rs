//! Reductions of an array to one value.

use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::launch::resident_blocks;
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_kernels::{entry::reduce::Reducible, grid::LOADS_IN_FLIGHT, op::Operation};

/// Threads of a block.
// 256 × 8 blocks fill a multiprocessor and leave a short tail; measured on an H200: bench/runs.
const THREADS: u32 = 256;

/// Reduces `input` on its device.
///
/// An empty input gives the identity of the operation. To reduce more than once keep a
/// [`Reducer`]: it allocates only when it is made.
///
/// # Errors
/// Those of the device.
pub fn reduce<O: Reducible>(input: &Buffer<O::Element>) -> Result<O::Accumulator, DeviceError>
where
    O::Element: Pod,
    O::Accumulator: Pod,
{
    Reducer::<O>::new(input.device())?.reduce(input)
}

/// Reduces `input` on the CPU, on all its cores. An empty input gives the identity.
pub fn reduce_on_cpu<O: Operation>(input: &[O::Element]) -> O::Accumulator {
    reference::reduce::<O>(input)
}

/// A reduction by one operation on one device: its plan, and the memory it works in.
///
/// One launch per reduction. Floating-point results depend on the length of the input and on the
/// device, and on nothing else: two runs on one device give the same bits.
pub struct Reducer<O: Reducible> {
    device: Device,
    most_blocks: u32,
    partials: Buffer<O::Accumulator>,
    ticket: Buffer<u32>,
    result: Buffer<O::Accumulator>,
}

impl<O: Reducible> Reducer<O>
where
    O::Element: Pod,
    O::Accumulator: Pod,
{
    /// Plans reductions on `device` and allocates what they work in: one accumulator per block.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        // More blocks than are resident would only queue up behind them.
        let most_blocks = resident_blocks::<O::Kernel>(device, THREADS, 0)?.max(1);
        Ok(Self {
            device: device.clone(),
            most_blocks,
            partials: device.alloc(most_blocks as usize)?,
            ticket: device.zeroed(1)?,
            result: device.alloc(1)?,
        })
    }

    /// Reduces `input` and waits for the result.
    ///
    /// # Errors
    /// Those of the launch and of the device.
    pub fn reduce(&mut self, input: &Buffer<O::Element>) -> Result<O::Accumulator, DeviceError> {
        self.launch(input)?;
        self.result()
    }

    /// Puts the reduction of `input` into the stream. Allocates nothing and waits for nothing.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if `input` is not on the device of this plan, and those of the
    /// launch.
    pub fn launch(&mut self, input: &Buffer<O::Element>) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        let args = (
            input.view(),
            self.partials.view(),
            self.ticket.view(),
            self.result.view(),
        );
        let geometry = self.geometry(input.len());
        // SAFETY: the partials have room for every block of the geometry; the ticket was zeroed
        // and each launch leaves it at 0; `&mut self` and the order of the stream keep other
        // launches off all three; a dropped buffer waits for the stream.
        let launched = unsafe { self.device.launch::<O::Kernel>(&geometry, args) };
        if launched.is_err() {
            // The emulator goes on after a fault, which may have left the ticket half drawn.
            self.ticket.zero()?;
        }
        launched
    }

    /// The result of the last [`launch`](Self::launch), waiting for it.
    ///
    /// # Errors
    /// What went wrong in the stream.
    pub fn result(&self) -> Result<O::Accumulator, DeviceError> {
        Ok(self.result.download()?[0])
    }

    /// The launch for `len` elements: as many blocks as have a full turn of loads to do, and no
    /// more than are resident.
    #[must_use]
    pub fn geometry(&self, len: usize) -> Geometry {
        let per_block = THREADS as usize * O::Element::PACK * LOADS_IN_FLIGHT;
        let blocks = len.div_ceil(per_block).clamp(1, self.most_blocks as usize);
        Geometry::new(blocks as u32, THREADS)
    }

    /// How many roundings any one element goes through, at most, in a floating-point sum of `len`
    /// elements: the depth for [`reference::sum_bound`].
    #[must_use]
    pub fn depth(&self, len: usize) -> u64 {
        let blocks = self.geometry(len).grid.x as usize;
        let threads = blocks * THREADS as usize;
        let packs = len / O::Element::PACK;
        let turns = packs.div_ceil(threads * LOADS_IN_FLIGHT) + LOADS_IN_FLIGHT;
        let within_turn = LOADS_IN_FLIGHT.ilog2();
        let within_pack = O::Element::PACK.ilog2();
        let (head, tail) = (1, 1);
        let block = 2 * 5;
        let partials = blocks.div_ceil(THREADS as usize) as u32;
        turns as u64 + u64::from(within_turn + within_pack + head + tail + block + partials + block)
    }
}
