//! The time of a kernel as it is called, with its launch.

use super::sampling::warm_up;
use super::{Measurement, SHORTEST_US, Sampling};
use gridsync::device::{Device, DeviceError};

/// Runs within a sample at most.
const MOST_RUNS: u32 = 1 << 12;

/// Microseconds of device time of what `work` puts into the stream, its launch included, after a
/// warm-up.
///
/// The runs of a sample follow each other in the stream, so that one is launched while another
/// runs. Each finds in the L2 what the run before it left there.
///
/// # Errors
/// Those of `work` and of the device.
///
/// # Panics
/// As [`Sampling::measure`] does.
pub fn once(
    device: &Device,
    sampling: &Sampling,
    mut work: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    let mut time = |runs| time_runs(device, runs, &mut work);
    warm_up(|| time(1))?;
    let runs = runs_of_a_sample(&mut time)?;
    sampling.measure_each_of(f64::from(runs), || time(runs))
}

/// Microseconds of device time of `runs` runs of `work`, one after the other in the stream.
pub(super) fn time_runs(
    device: &Device,
    runs: u32,
    mut work: impl FnMut() -> Result<(), DeviceError>,
) -> Result<f64, DeviceError> {
    device.time(|| (0..runs).try_for_each(|_| work()))
}

/// How many runs make a sample long enough. `time(runs)` is the time of that many runs. It is twice
/// as many as needed, so that a faster sample is still long enough.
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
    fn the_time_is_that_of_one_run() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let sampling = Sampling { at_most: 7, ..Sampling::default() };
        let measured = once(&device, &sampling, || {
            thread::sleep(Duration::from_micros(150));
            Ok(())
        });
        let measured = measured.expect("sleeping should not fail");
        assert!(measured.time.min >= 150.0, "{measured:?}");
    }
}
