//! The latencies and bandwidths of a device.
//!
//! * [`latencies`]: latency of each kind of memory, with one load in flight.
//! * [`lines`]: latencies of single lines of the L2 from two multiprocessors.
//! * [`bandwidth`]: read rate as a function of the bytes in flight.
//!
//! A latency is a slope in cycles, as in [`fences`]: the difference between two walks of different
//! length, divided by the difference in steps. Every walk and every sum is compared with the
//! host's.

pub mod bandwidth;
pub mod cycle;
pub mod latencies;
pub mod lines;

use super::fences;
use crate::bench::{FEW, MANY, SAMPLES, Spread, WARM_UP_US};
use bandwidth::{Array, Curve, READERS, Shape, Shared};
use gridsync::device::{Device, DeviceError};
use latencies::Latencies;
use lines::Lines;

/// Bytes of the large arrays in device memory, if there is room: far more than any L2.
const LARGE: usize = 1 << 30;

/// An array uses at most the free memory divided by this. With everything else that is allocated
/// at the same time, the total stays below a quarter: other programs may need some.
const PART_OF_FREE: usize = 8;

/// An array that is read from device memory is at least this many times as large as the L2.
const CACHES: usize = 4;

/// An error from measuring a device.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A kernel computed a wrong result.
    #[error("{what} gave {found} on the device, but {expected} on the host")]
    Wrong {
        /// The computation.
        what: &'static str,
        /// Result of the kernel.
        found: u32,
        /// Expected result.
        expected: u32,
    },
    /// Not enough memory is free.
    #[error(
        "{free} bytes of device memory are free, and arrays that no cache holds need {needed}: end other programs that use the device"
    )]
    NoRoom {
        /// Free bytes.
        free: usize,
        /// Bytes that must be free.
        needed: usize,
    },
}

/// Results.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Clock of a multiprocessor, MHz.
    pub clock_mhz: f64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of the L2.
    pub l2_bytes: u32,
    /// Bandwidth of device memory by clock and bus width, GB/s, if the device reports them.
    pub peak_gb_per_s: Option<f64>,
    /// Latency of each kind of memory.
    pub latencies: Latencies,
    /// Lines of the L2, from two multiprocessors.
    pub lines: Lines,
    /// Reading device memory.
    pub device_memory: Curve,
    /// Reading the L2.
    pub l2: Curve,
    /// Reading shared memory.
    pub shared: Shared,
}

impl Measured {
    /// Converts cycles to nanoseconds.
    #[must_use]
    pub fn ns(&self, cycles: f64) -> f64 {
        cycles * 1e3 / self.clock_mhz
    }

    /// GB/s of `at_work` multiprocessors that each read this many bytes per cycle.
    #[must_use]
    pub fn gb_per_s(&self, bytes_per_cycle: f64, at_work: u32) -> f64 {
        bytes_per_cycle * self.clock_mhz * f64::from(at_work) / 1e3
    }

    /// The best rate of reading device memory, as a percentage of the peak bandwidth.
    #[must_use]
    pub fn percent_of_peak(&self) -> Option<f64> {
        let best = self.device_memory.best().gb_per_s.median;
        self.peak_gb_per_s.map(|peak| 100.0 * best / peak)
    }

    /// Bytes in flight per multiprocessor that a curve needs by Little's law, if a load takes
    /// `cycles` cycles: bandwidth × latency.
    #[must_use]
    pub fn little(&self, curve: &Curve, cycles: f64) -> f64 {
        curve.best().gb_per_s.median * self.ns(cycles) / f64::from(self.multiprocessors)
    }
}

/// Number of parts that [`measure`] measures.
pub const PARTS: usize = 6;

/// Measures everything. Calls `step` before each of [`PARTS`] parts, with its name.
///
/// # Errors
/// If the device fails, a result is wrong, or too little memory is free.
pub fn measure(
    device: &Device,
    mut step: impl FnMut(&'static str),
) -> Result<Measured, MemoryError> {
    let p = device.properties();
    let sizes = Sizes::of(p.l2_bytes as usize, device.free_memory()?)?;
    step("the clock");
    let l2 = Array::new(device, sizes.in_l2)?;
    warm_up(&l2, p.multiprocessors)?;
    let clock_mhz = fences::clock_mhz(device)?;
    step("latencies");
    let latencies = latencies::measure(device, &sizes)?;
    step("lines of the L2");
    let lines = lines::measure(device)?;
    step("bandwidth of shared memory");
    let shared = bandwidth::shared(device)?;
    step("bandwidth of the L2");
    let l2 = l2.curve()?;
    step("bandwidth of device memory");
    let device_memory = Array::new(device, sizes.array)?.curve()?;
    Ok(Measured {
        clock_mhz,
        multiprocessors: p.multiprocessors,
        l2_bytes: p.l2_bytes,
        peak_gb_per_s: p.peak_gb_per_s(),
        latencies,
        lines,
        device_memory,
        l2,
        shared,
    })
}

/// Sizes of the arrays in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    /// Fits in the L2 with room to spare: a power of two, at most a third. Lines may be in the L2
    /// twice, near and far.
    in_l2: usize,
    /// A few times the L2: no line is in the L2, and address translation is fast.
    few_caches: usize,
    /// Many times the L2.
    many_caches: usize,
    /// The array to read from device memory: a power of two.
    array: usize,
}

impl Sizes {
    fn of(l2: usize, free: usize) -> Result<Self, MemoryError> {
        // A device that does not report its L2 is assumed to be small.
        let l2 = l2.max(1 << 20);
        let usable = free / PART_OF_FREE;
        let least = (CACHES * l2).next_power_of_two();
        if usable < least {
            return Err(MemoryError::NoRoom { free, needed: least * PART_OF_FREE });
        }
        let largest = 1 << usable.ilog2();
        Ok(Self {
            in_l2: 1 << (l2 / 3).ilog2(),
            few_caches: (CACHES - 1) * l2,
            many_caches: LARGE.max(2 * CACHES * l2).min(usable),
            array: LARGE.max(least).min(largest),
        })
    }
}

/// Keeps the device busy until its clocks are up.
fn warm_up(array: &Array, multiprocessors: u32) -> Result<(), MemoryError> {
    /// Maximum number of launches, so that it ends even if the device measures no time.
    const LAUNCHES: u32 = 1000;
    let shape = Shape { blocks: 4 * multiprocessors, threads: 256 };
    let mut passed = 0.0;
    for _ in 0..LAUNCHES {
        passed += array.read(&READERS[0], shape, 0, FEW)?;
        if passed >= WARM_UP_US {
            break;
        }
    }
    Ok(())
}

/// The slopes of `run`, which repeats something a given number of times and returns the cycles. The
/// first run is not counted.
fn slopes(mut run: impl FnMut(u32) -> Result<f64, MemoryError>) -> Result<Spread, MemoryError> {
    run(FEW)?;
    let mut slope = || Ok((-run(FEW)? + run(MANY)?) / f64::from(MANY - FEW));
    let slopes = (0..SAMPLES).map(|_| slope()).collect::<Result<_, MemoryError>>()?;
    Ok(Spread::of(slopes).expect("there should be samples"))
}

/// Fails unless a kernel has found the expected value.
fn expect(what: &'static str, found: u32, expected: u32) -> Result<(), MemoryError> {
    match found == expected {
        true => Ok(()),
        false => Err(MemoryError::Wrong { what, found, expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_larger_than_the_l2_and_leave_most_of_the_free_memory() {
        for l2 in [0, 4 << 20, 50 << 20, 126 << 20] {
            for free in [2usize << 30, 3 << 30, 8 << 30, 150 << 30] {
                let sizes = match Sizes::of(l2, free) {
                    Ok(sizes) => sizes,
                    Err(MemoryError::NoRoom { needed, .. }) => {
                        assert!(free < needed && needed <= 8 * 8 * l2, "{l2}, {free}: {needed}");
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                let Sizes { in_l2, few_caches, many_caches, array } = sizes;
                assert!(l2 == 0 || 3 * in_l2 <= l2, "{sizes:?}");
                assert!(few_caches >= 2 * l2 && few_caches < many_caches, "{sizes:?}");
                assert!(array >= 4 * l2 && array.is_power_of_two(), "{sizes:?}");
                assert!(many_caches.max(array) <= free / 8, "{sizes:?}");
            }
        }
    }
}
