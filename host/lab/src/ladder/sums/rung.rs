//! The rungs: their kernels and launches.

use crate::ladder::{self, Entry};
use bytemuck::Pod;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Geometry, Properties};
use gridsync::primitives::{Check, Checked};
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::sums::kernels::{Ladder as Kernels, ladder_redux_u32};
use gridsync_verify::Sample;
use std::fmt::Debug;

/// Input, sums.
pub(super) type Two<T> = (Global<T>, Global<T>);
/// Input, partial sums, words, sum.
pub(super) type Four<T> = (Global<T>, Global<T>, Global<u32>, Global<T>);

/// Elements that a thread of a resident grid loads per iteration: four loads of four.
pub(super) const PER_TURN: usize = 16;

/// The rung that only integers have.
pub const INTEGER_RUNG: u32 = 13;
/// The note for a ladder without it.
pub const NO_INTEGER_RUNG: &str =
    "Rung 13, redux, is left out: that instruction adds only integers (--dtype u32).";

/// An element type of the ladder.
pub trait Step: Kernels + Pod + Sample + Debug {
    /// Name.
    const NAME: &'static str;
    /// The kernel of the [`INTEGER_RUNG`], if the type has that rung.
    const REDUX: Option<Entry<Two<Self>>>;

    /// Compares a sum of `input`, in which no element is rounded more than `depth` times, with the
    /// reference.
    fn check(input: &[Self], sum: Self, depth: u64) -> Check<Self>;
}

impl Step for f32 {
    const NAME: &'static str = "f32";
    const REDUX: Option<Entry<Two<Self>>> = None;

    fn check(input: &[Self], sum: Self, depth: u64) -> Check<Self> {
        Sum::<Self>::new().check(input, sum, depth)
    }
}

impl Step for u32 {
    const NAME: &'static str = "u32";
    const REDUX: Option<Entry<Two<Self>>> = Some(Entry::of::<ladder_redux_u32>());

    fn check(input: &[Self], sum: Self, depth: u64) -> Check<Self> {
        Sum::<Self>::new().check(input, sum, depth)
    }
}

/// How a rung is launched: the result of its first launch, and the following ones.
#[derive(Clone, Copy, Debug)]
pub enum Launched<T> {
    /// The sum, by one thread.
    OneThread(Entry<Two<T>>),
    /// A sum for each thread of this many blocks and threads. Then one thread adds these up.
    SumOfEachThread(Entry<Two<T>>, fn(&Properties) -> (u32, u32)),
    /// The sum, by an atomic of each thread of a grid as large as the input.
    AtomicOfEachElement(Entry<Two<T>>),
    /// A sum for each block of this many elements. Then the same for these sums.
    Pyramid(Entry<Two<T>>, usize),
    /// A sum for each block of a resident grid. Then one block adds these up.
    Resident(Entry<Two<T>>),
    /// The sum, by an atomic of each block of a resident grid.
    AtomicOfEachBlock(Entry<Two<T>>),
    /// The sum, by the last block of a resident grid. A ticket determines which block is the last.
    LastBlock(Entry<Four<T>>),
    /// The sum, by the first block of a resident grid, after a barrier.
    GridBarrier(Entry<Four<T>>),
}

/// A rung of this ladder. Rung 3 has three sizes.
pub type Rung<T> = ladder::Rung<Launched<T>>;

/// All rungs, from the lowest to the highest.
#[must_use]
pub fn rungs<T: Step>() -> Vec<Rung<T>> {
    use Launched::{
        AtomicOfEachBlock, AtomicOfEachElement, GridBarrier, LastBlock, OneThread, Pyramid,
        Resident, SumOfEachThread,
    };
    let threads = THREADS as usize;
    let all = usize::MAX;
    let one_block = |_: &Properties| (1, THREADS);
    let cores = |properties: &Properties| {
        let of_each = cores_of_a_multiprocessor(properties.compute);
        (properties.multiprocessors, of_each)
    };
    let full_blocks = |properties: &Properties| (properties.multiprocessors, THREADS);
    let strided = Entry::of::<T::Strided>();
    let rung = |number, name, at_most, launched| Rung { number, name, at_most, launched };
    #[rustfmt::skip]
    let mut rungs = vec![
        rung(1, "one thread", 1 << 20, OneThread(Entry::of::<T::Serial>())),
        rung(2, "chunks, C = 256 an SM", all, SumOfEachThread(Entry::of::<T::Chunks>(), full_blocks)),
        rung(3, "strided, C = a block", 1 << 24, SumOfEachThread(strided, one_block)),
        rung(3, "strided, C = the cores", all, SumOfEachThread(strided, cores)),
        rung(3, "strided, C = 256 an SM", all, SumOfEachThread(strided, full_blocks)),
        rung(4, "an atomic each", 1 << 22, AtomicOfEachElement(Entry::of::<T::Atomics>())),
        rung(5, "interleaved", all, Pyramid(Entry::of::<T::Interleaved>(), threads)),
        rung(6, "compacted", all, Pyramid(Entry::of::<T::Compacted>(), threads)),
        rung(7, "sequential", all, Pyramid(Entry::of::<T::Sequential>(), threads)),
        rung(8, "first add", all, Pyramid(Entry::of::<T::FirstAdd>(), 2 * threads)),
        rung(9, "last warp", all, Pyramid(Entry::of::<T::LastWarp>(), 2 * threads)),
        rung(10, "warps first", all, Pyramid(Entry::of::<T::WarpsFirst>(), 2 * threads)),
        rung(11, "shuffles", all, Pyramid(Entry::of::<T::Shuffles>(), 2 * threads)),
        rung(12, "wide loads", all, Pyramid(Entry::of::<T::WideLoads>(), 8 * threads)),
    ];
    let redux = T::REDUX.map(|entry| rung(INTEGER_RUNG, "redux", all, Pyramid(entry, 8 * threads)));
    rungs.extend(redux);
    #[rustfmt::skip]
    rungs.extend([
        rung(14, "grid stride", all, Resident(Entry::of::<T::GridStride>())),
        rung(15, "atomic finish", all, AtomicOfEachBlock(Entry::of::<T::AtomicFinish>())),
        rung(16, "last block", all, LastBlock(Entry::of::<T::LastBlock>())),
        rung(17, "grid barrier", all, GridBarrier(Entry::of::<T::GridBarrier>())),
    ]);
    rungs
}

/// Additions of f32 that a multiprocessor starts per clock (CUDA C++ Programming Guide, "Arithmetic
/// Instructions"). The emulator has no compute capability and gets the smallest.
const fn cores_of_a_multiprocessor(compute: u32) -> u32 {
    if compute <= 80 { 64 } else { 128 }
}

impl<T> Rung<T> {
    /// The entry point in the PTX.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        match self.launched {
            Launched::OneThread(kernel)
            | Launched::SumOfEachThread(kernel, _)
            | Launched::AtomicOfEachElement(kernel)
            | Launched::Pyramid(kernel, _)
            | Launched::Resident(kernel)
            | Launched::AtomicOfEachBlock(kernel) => kernel.name,
            Launched::LastBlock(kernel) | Launched::GridBarrier(kernel) => kernel.name,
        }
    }

    /// The first launch for `len` elements.
    ///
    /// # Errors
    /// If querying the number of resident blocks fails.
    pub fn geometry(&self, device: &Device, len: usize) -> Result<Geometry, DeviceError> {
        let threads = THREADS as usize;
        let blocks = |per_block: usize| len.div_ceil(per_block).max(1) as u32;
        let resident = |fitting: Result<u32, DeviceError>| {
            Ok::<_, DeviceError>(blocks(threads * PER_TURN).min(fitting?.max(1)))
        };
        let (blocks, threads) = match self.launched {
            Launched::OneThread(_) => (1, 1),
            Launched::SumOfEachThread(_, grid) => grid(device.properties()),
            Launched::AtomicOfEachElement(_) => (blocks(threads), THREADS),
            Launched::Pyramid(_, per_block) => (blocks(per_block), THREADS),
            Launched::Resident(kernel) | Launched::AtomicOfEachBlock(kernel) => {
                (resident((kernel.resident)(device, THREADS, 0))?, THREADS)
            }
            Launched::LastBlock(kernel) | Launched::GridBarrier(kernel) => {
                (resident((kernel.resident)(device, THREADS, 0))?, THREADS)
            }
        };
        let geometry = Geometry::new(blocks, threads);
        Ok(match self.launched {
            Launched::GridBarrier(_) => geometry.cooperative(),
            _ => geometry,
        })
    }

    /// Maximum number of roundings of any of `len` elements in a floating-point sum whose first
    /// launch is `geometry`: the depth for [`sum_bound`](gridsync::reference::sum_bound).
    #[must_use]
    pub fn depth(&self, len: usize, geometry: &Geometry) -> u64 {
        // The sum of a block of 256 threads: eight rounds, or five in each warp and five for the
        // warps.
        const BLOCK: usize = 10;
        let blocks = geometry.grid.volume() as usize;
        let threads = blocks * geometry.block.volume() as usize;
        // One addition per iteration, after two within the iteration; at the end two within the
        // pack, and one for an element after the last pack.
        let resident = |len: usize, threads: usize| (len / 4).div_ceil(threads) + 5 + BLOCK;
        let depth = match self.launched {
            Launched::OneThread(_) | Launched::AtomicOfEachElement(_) => len,
            Launched::SumOfEachThread(..) => len.div_ceil(threads) + threads,
            Launched::Pyramid(_, per_block) => {
                let mut levels = 1;
                let mut left = len.div_ceil(per_block);
                while left > 1 {
                    left = left.div_ceil(per_block);
                    levels += 1;
                }
                levels * (per_block / THREADS as usize + BLOCK)
            }
            Launched::Resident(_) => resident(len, threads) + resident(blocks, THREADS as usize),
            Launched::AtomicOfEachBlock(_) => resident(len, threads) + blocks,
            Launched::LastBlock(_) | Launched::GridBarrier(_) => {
                resident(len, threads) + blocks.div_ceil(THREADS as usize) + BLOCK
            }
        };
        depth as u64
    }
}
