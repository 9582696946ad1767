//! One kind of addition: launched, checked, and timed or counted.

use super::number::Added;
use super::{Cost, Counted, Found, Rate, Target};
use crate::bench::{SAMPLES, Spread};
use crate::counting::counts;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};

/// Rounds of the shorter launch.
const FEW: u32 = 2;

/// Largest sum at one address: up to here every integer is an f32.
const EXACT: u32 = 1 << 24;

/// Difference in device time between the short launch and the long one, µs, unless the sums would
/// become inexact first: a few hundred times the resolution of events.
const LONG_US: f64 = 200.0;

/// An addition that is launched repeatedly.
struct Job<'a, T: Added> {
    device: &'a Device,
    geometry: Geometry,
    target: Target,
    with_result: bool,
    words: Buffer<T>,
    /// The exclusive or of all results that each thread has seen.
    seen: Buffer<u64>,
    right: bool,
}

/// Cost of an addition of `T`, on a GPU with a clock of `mhz` MHz or in the counting emulator.
pub(super) fn cost<T: Added>(
    device: &Device,
    geometry: Geometry,
    (target, with_result): (Target, bool),
    mhz: Option<f64>,
) -> Result<Cost, DeviceError> {
    let threads = (geometry.grid.volume() * geometry.block.volume()) as u32;
    let addresses = threads / target.threads_per_word(&geometry);
    let mut job = Job::<T> {
        device,
        // A number of any type fits in 8 bytes.
        geometry: geometry.with_dynamic_shared(8),
        target,
        with_result,
        words: device.alloc(addresses as usize * target.apart(size_of::<T>()))?,
        seen: device.zeroed(threads as usize)?,
        right: true,
    };
    let found = if let Some(mhz) = mhz {
        Found::Rate(Rate::new(job.rate(threads)?, addresses, mhz))
    } else {
        Found::Counted(job.count(threads)?)
    };
    Ok(Cost {
        dtype: T::NAME.to_owned(),
        target: target.name().to_owned(),
        with_result,
        addresses,
        right: job.right,
        found,
    })
}

impl<T: Added> Job<'_, T> {
    /// Makes each thread add 1 `rounds` times, and checks all sums. Returns the time in
    /// microseconds.
    fn run(&mut self, rounds: u32) -> Result<f64, DeviceError> {
        let per_word = self.target.threads_per_word(&self.geometry);
        let apart = self.target.apart(size_of::<T>());
        self.words.zero()?;
        let (device, geometry) = (self.device, &self.geometry);
        let (words, one) = (self.words.view(), T::of(1));
        let time = device.time(|| {
            let args = (words, per_word, apart as u32, one, rounds);
            // SAFETY: there is a word for every `per_word` threads, `apart` numbers apart, an
            // element of `seen` for each thread, and shared memory for one number. Blocks consist
            // of whole warps; all blocks share one word where the kernel needs that. The buffers
            // outlive the launch, because `time` waits for it.
            unsafe {
                match (self.target, self.with_result) {
                    (Target::SharedFirst, _) => device.launch::<T::SharedFirst>(geometry, args),
                    (Target::WarpFirst, _) => device.launch::<T::WarpFirst>(geometry, args),
                    (_, false) => device.launch::<T::Add>(geometry, args),
                    (_, true) => {
                        let args = (words, self.seen.view(), per_word, apart as u32, one, rounds);
                        device.launch::<T::FetchAdd>(geometry, args)
                    }
                }
            }
        })?;
        let sum = T::of(per_word * rounds);
        let expected = |at: usize| if at.is_multiple_of(apart) { sum } else { T::of(0) };
        let words = self.words.download()?;
        self.right &= words.into_iter().enumerate().all(|(at, word)| word == expected(at));
        Ok(time)
    }

    /// Checks the results of a launch of `rounds` rounds. Every number from 0 up to the sum must
    /// have been seen once at each address, in any order.
    fn check_results(&mut self, rounds: u32) -> Result<(), DeviceError> {
        if !self.with_result {
            return Ok(());
        }
        let per_word = self.target.threads_per_word(&self.geometry);
        let together = |all: u64, seen: u64| all ^ seen;
        let expected = (0..per_word * rounds).map(|count| T::of(count).bits()).fold(0, together);
        let seen = self.seen.download()?;
        let mut words = seen.chunks(per_word as usize);
        self.right &= words.all(|seen| seen.iter().copied().fold(0, together) == expected);
        Ok(())
    }

    /// Additions of the whole grid, 10⁹ per second.
    fn rate(&mut self, threads: u32) -> Result<Spread, DeviceError> {
        let most = EXACT / self.target.threads_per_word(&self.geometry);
        let mut many = 4 * FEW;
        self.run(FEW)?;
        self.check_results(FEW)?;
        while self.run(many)? - self.run(FEW)? < LONG_US && many < most {
            many = most.min(4 * many);
        }
        // The minimum of several: with other work on the GPU, a short launch may run longer than a
        // long one.
        let mut few = f64::INFINITY;
        for _ in 0..SAMPLES {
            few = few.min(self.run(FEW)?);
        }
        let added = f64::from(threads) * f64::from(many - FEW);
        let sample = |_| Ok(added / (self.run(many)? - few) / 1e3);
        let samples: Result<Vec<_>, DeviceError> = (0..SAMPLES).map(sample).collect();
        Ok(Spread::of(samples?).expect("there should be a sample"))
    }

    /// Counts of 32 additions in the emulator.
    fn count(&mut self, threads: u32) -> Result<Counted, DeviceError> {
        let mut count = |rounds| {
            self.run(rounds)?;
            self.check_results(rounds)?;
            Ok::<_, DeviceError>(counts(self.device))
        };
        let (few, many) = (count(FEW)?, count(2 * FEW)?);
        let warps = f64::from(threads / 32 * FEW);
        let each = |few: u64, many: u64| (many - few) as f64 / warps;
        Ok(Counted {
            per_additions: 32,
            global_accesses: each(few.global_accesses, many.global_accesses),
            sectors: each(few.sectors, many.sectors),
            shared_accesses: each(
                few.shared_loads + few.shared_stores,
                many.shared_loads + many.shared_stores,
            ),
            shuffles: each(few.exchanges, many.exchanges),
        })
    }
}
