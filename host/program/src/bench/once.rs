//! The time of a kernel as it is called, for one whose work is its input.

use super::sampling::warm_up;
use super::{Measurement, SHORTEST_US, Sampling, Warning};
use gridsync::device::{Device, DeviceError};

/// Runs within a sample at most.
const MOST_RUNS: u32 = 1 << 12;

/// What of a kernel's input lies in the L2 when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Nothing: a buffer of twice the L2 is written before each sample. Its lines are left modified
    /// in the L2, and writing those back counts. A device that does not tell the size of its L2
    /// stays warm.
    Cold,
    /// What the run before left there.
    Warm,
}

impl Cache {
    /// What it is called in a record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// Microseconds of device time of what `work` puts into the stream, after a warm-up.
///
/// What its launch costs counts. With a warm cache the runs of a sample follow each other in the
/// stream, so that one is launched while another runs. With a cold one each sample is a single run,
/// launched into an empty stream: a few microseconds more, and those of less than [`SHORTEST_US`]
/// carry [`Warning::TooShort`].
///
/// # Errors
/// Those of `work` and of the device; [`DeviceError::OutOfMemory`] if there is no room for twice the
/// L2.
///
/// # Panics
/// As [`Sampling::measure`] does.
pub fn once(
    device: &Device,
    cache: Cache,
    sampling: &Sampling,
    mut work: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    let mut time = |runs| device.time(|| (0..runs).try_for_each(|_| work()));
    warm_up(|| time(1))?;
    let (runs, flush) = match cache {
        Cache::Cold => (1, 2 * device.properties().l2_bytes as usize),
        Cache::Warm => (runs_of_a_sample(&mut time)?, 0),
    };
    let mut flush = device.alloc::<u8>(flush)?;
    let mut measured = sampling.measure(|| {
        flush.zero()?;
        time(runs).map(|us| us / f64::from(runs))
    })?;
    let timed = measured.time.median * f64::from(runs);
    measured.warnings.extend(Warning::too_short(timed));
    Ok(measured)
}

/// How many runs take long enough, where `time(runs)` says what they take. Twice long enough, so
/// that a faster sample still is.
fn runs_of_a_sample<E>(mut time: impl FnMut(u32) -> Result<f64, E>) -> Result<u32, E> {
    let mut runs = 1;
    while runs < MOST_RUNS && time(runs)? < 2.0 * SHORTEST_US {
        runs *= 2;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};
    use std::convert::Infallible;
    use std::{thread, time::Duration};

    #[test]
    fn a_short_run_is_repeated_and_a_long_one_is_not() {
        let runs = |us: f64| runs_of_a_sample(|runs| Ok::<_, Infallible>(us * f64::from(runs)));
        assert_eq!(runs(1000.0), Ok(1));
        assert_eq!(runs(2.5), Ok(128));
        assert_eq!(runs(0.0), Ok(MOST_RUNS));
    }

    #[test]
    fn the_time_is_that_of_one_run_whatever_the_cache() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        for cache in [Cache::Cold, Cache::Warm] {
            let sampling = Sampling {
                at_most: 7,
                ..Sampling::default()
            };
            let measured = once(&device, cache, &sampling, || {
                thread::sleep(Duration::from_micros(150));
                Ok(())
            });
            let measured = measured.expect("sleeping should not fail");
            assert!(measured.time.min >= 150.0, "{cache:?}: {measured:?}");
        }
    }
}
