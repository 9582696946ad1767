//! Read rate as a function of the bytes in flight (Little's law: the bytes in flight are the rate ×
//! the latency).

use super::curve::{Curve, PACK_BYTES, Point};
use super::error::{MemoryError, expect};
use crate::bench::{SAMPLES, Spread};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry, KernelInfo};
use gridsync_lab_kernels::memory::SHARED_WORDS;
use gridsync_lab_kernels::memory::bandwidth::{
    PACK, SHARED_PACKS, SHARED_THREADS, memory_fill, memory_read_1, memory_read_2, memory_read_4,
    memory_read_8, memory_read_shared, word,
};

const _: () = assert!(PACK_BYTES == PACK * size_of::<u32>());

/// Bytes that the longer launch reads if its threads have many in flight: enough for 100 µs at the
/// rate of any L2.
const GOAL: usize = 2 << 30;

/// Rounds of the longer launch: enough for 100 µs with few bytes in flight, and no more than a few
/// milliseconds.
const ROUNDS: std::ops::RangeInclusive<usize> = 16..=4096;

/// Ratio of the longer launch to the shorter one.
const TIMES: u32 = 4;

/// Threads of a block, if a multiprocessor can hold as many.
const THREADS: u32 = 256;

/// Words, sums, first, rounds, zero.
type Args = (Global<u32>, Global<u32>, u32, u32, u32);

/// A kernel that reads with a number of packs in flight in each thread.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Number of packs.
    pub packs: u32,
    kernel: KernelInfo,
    launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
}

/// All readers, by increasing number of packs.
pub const READERS: [Reader; 4] = [
    Reader::of::<memory_read_1>(1),
    Reader::of::<memory_read_2>(2),
    Reader::of::<memory_read_4>(4),
    Reader::of::<memory_read_8>(8),
];

impl Reader {
    const fn of<K: Kernel<Args = Args>>(packs: u32) -> Self {
        Self { packs, kernel: KernelInfo::of::<K>(), launch: Device::launch::<K> }
    }
}

/// A one-dimensional grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
}

/// An array of device memory to read.
#[derive(Debug)]
pub struct Array {
    device: Device,
    words: Buffer<u32>,
}

impl Array {
    /// An array of `bytes` bytes, filled.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If `bytes` is not a power of two from 16 to 2^34.
    pub fn new(device: &Device, bytes: usize) -> Result<Self, DeviceError> {
        assert!(
            bytes.is_power_of_two() && (PACK_BYTES..=1 << 34).contains(&bytes),
            "{bytes} bytes should be a power of two from 16 to 2^34"
        );
        let words = device.alloc::<u32>(bytes / size_of::<u32>())?;
        let geometry = Geometry::new(8 * device.properties().multiprocessors, THREADS);
        // SAFETY: only this launch uses the buffer, which outlives it, because dropping it waits
        // for the stream.
        unsafe { device.launch::<memory_fill>(&geometry, (words.view(),))? };
        Ok(Self { device: device.clone(), words })
    }

    fn packs(&self) -> u32 {
        (self.words.len() / PACK) as u32
    }

    /// Reads `rounds` rounds, starting at pack `first`, and returns the microseconds of device
    /// time.
    ///
    /// # Errors
    /// [`MemoryError::Wrong`] if the sum is wrong; or if the device fails.
    pub fn read(
        &self,
        reader: &Reader,
        shape: Shape,
        first: u32,
        rounds: u32,
    ) -> Result<f64, MemoryError> {
        let threads = shape.blocks as usize * shape.threads as usize;
        let sums = self.device.zeroed::<u32>(threads)?;
        let geometry = Geometry::new(shape.blocks, shape.threads);
        let time = self.device.time(|| {
            let args = (self.words.view(), sums.view(), first, rounds, 0);
            // SAFETY: the number of packs is a power of two, and there is a sum for each thread.
            // Both buffers outlive the launch, because `time` waits for it.
            unsafe { (reader.launch)(&self.device, &geometry, args) }
        })?;
        let read = u64::from(rounds) * threads as u64 * u64::from(reader.packs);
        let expected = sum_of_packs(first, read, self.packs());
        expect(reader.kernel.name, total(&sums.download()?), expected)?;
        Ok(time)
    }

    /// The rate of `reader` with `blocks` blocks of `threads` threads on each multiprocessor. Every
    /// launch starts where the last one ended.
    fn point(&self, reader: &Reader, blocks: u32, threads: u32) -> Result<Point, MemoryError> {
        let multiprocessors = self.device.properties().multiprocessors;
        let shape = Shape { blocks: blocks * multiprocessors, threads };
        let packs = shape.blocks * threads * reader.packs;
        let round = packs as usize * PACK_BYTES;
        let many = (GOAL / round).clamp(*ROUNDS.start(), *ROUNDS.end()) as u32;
        let few = many / TIMES;
        let mut first = 0u32;
        let mut read = |rounds: u32| {
            let time = self.read(reader, shape, first, rounds)?;
            first = first.wrapping_add(rounds.wrapping_mul(packs)) % self.packs();
            Ok::<_, MemoryError>(time)
        };
        read(few)?;
        let bytes = (many - few) as f64 * round as f64;
        let mut rate = || Ok(bytes / (-read(few)? + read(many)?) / 1e3);
        let rates = (0..SAMPLES).map(|_| rate()).collect::<Result<_, MemoryError>>()?;
        let gb_per_s = Spread::of(rates).expect("there should be samples");
        Ok(Point::new(blocks * threads, reader.packs, gb_per_s))
    }

    /// The rates from one warp on each multiprocessor to as many as it can hold, if a load takes
    /// `ns` nanoseconds.
    pub(super) fn curve(&self, ns: f64) -> Result<Curve, MemoryError> {
        let properties = self.device.properties();
        let most = properties.max_threads_per_multiprocessor;
        let mut points = Vec::new();
        for reader in &READERS {
            let powers = (5..).map(|log| 1u32 << log).take_while(|&threads| threads <= most);
            for threads in powers {
                let of_block = threads.min(THREADS);
                let blocks = threads / of_block;
                let fit = self.device.backend().occupancy(&reader.kernel, of_block, 0)?;
                if blocks <= fit {
                    points.push(self.point(reader, blocks, of_block)?);
                }
            }
        }
        Ok(Curve::of(self.words.bytes(), points, ns, properties.multiprocessors))
    }
}

/// The sum of `count` packs of an array of `packs` packs, starting at pack `first` and wrapping
/// around.
fn sum_of_packs(first: u32, count: u64, packs: u32) -> u32 {
    let (first, packs) = (u64::from(first), u64::from(packs));
    // Sum of the words of the first `end` packs.
    let below = |end: u64| {
        let words = u128::from(end) * PACK as u128;
        word((words * words.saturating_sub(1) / 2) as u32)
    };
    let (turns, rest) = (count / packs, count % packs);
    let end = first + rest;
    let part = if end <= packs {
        below(end).wrapping_sub(below(first))
    } else {
        below(packs).wrapping_sub(below(first)).wrapping_add(below(end - packs))
    };
    below(packs).wrapping_mul(turns as u32).wrapping_add(part)
}

fn total(sums: &[u32]) -> u32 {
    sums.iter().fold(0, |total, &sum| total.wrapping_add(sum))
}

/// Reads shared memory for `rounds` rounds in each of `blocks` blocks, each alone on a
/// multiprocessor. Returns the cycles of the block in the middle.
///
/// # Errors
/// [`MemoryError::Wrong`] if the sum is wrong; or if the device fails.
pub fn read_shared(device: &Device, blocks: u32, rounds: u32) -> Result<f64, MemoryError> {
    let words: Vec<u32> = (0..SHARED_WORDS as u32).map(word).collect();
    let words = device.upload(&words)?;
    let sums = device.zeroed::<u32>(blocks as usize * SHARED_THREADS)?;
    let cycles = device.zeroed::<u64>(blocks as usize)?;
    // Two blocks do not fit on one multiprocessor.
    let half = device.properties().shared_per_multiprocessor / 2;
    let geometry = Geometry::new(blocks, SHARED_THREADS as u32).with_dynamic_shared(half);
    let args = (words.view(), sums.view(), cycles.view(), rounds, 0);
    // SAFETY: there are the words, a sum for each thread, and a number for each block. All outlive
    // the launch, because the downloads wait for it.
    unsafe { device.launch::<memory_read_shared>(&geometry, args)? };
    let all = sum_of_packs(0, SHARED_THREADS as u64, SHARED_THREADS as u32);
    let times = blocks.wrapping_mul(rounds).wrapping_mul(SHARED_PACKS as u32);
    expect(memory_read_shared::NAME, total(&sums.download()?), all.wrapping_mul(times))?;
    let cycles = cycles.download()?.into_iter().map(|cycles| cycles as f64).collect();
    Ok(Spread::of(cycles).expect("there should be a block").median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_packs_is_the_sum_of_their_words() {
        let packs = 64;
        for (first, count) in [(0, 0), (0, 1), (5, 7), (60, 9), (0, 64), (63, 1000), (1, 129)] {
            let words = (0..count).flat_map(|pack: u64| {
                let pack = (first + pack as u32) % packs;
                (0..4).map(move |i| word(4 * pack + i))
            });
            let expected = words.fold(0u32, u32::wrapping_add);
            assert_eq!(sum_of_packs(first, count, packs), expected, "{first}, {count}");
        }
    }
}
