//! The time of a kernel as it is called, including its launch.

use super::sampling::warm_up;
use super::{Measurement, SHORTEST_US, Sampling};
use gridsync::device::{Device, DeviceError};

/// Maximum number of runs in a sample.
const MOST_RUNS: u32 = 1 << 12;

/// Device time in microseconds of everything that `work` puts into the stream, including its
/// launch, after a warm-up.
///
/// The runs of a sample follow each other in the stream, so that one is launched while another
/// runs. Each run starts with the L2 as the previous run left it.
///
/// # Errors
/// If `work` or the device fails.
///
/// # Panics
/// If [`Sampling::measure`] panics.
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

/// Device time in microseconds of `runs` consecutive runs of `work` in the stream.
pub(super) fn time_runs(
    device: &Device,
    runs: u32,
    mut work: impl FnMut() -> Result<(), DeviceError>,
) -> Result<f64, DeviceError> {
    device.time(|| (0..runs).try_for_each(|_| work()))
}

/// Number of runs that make a sample long enough. `time(runs)` is the time of that many runs. The
/// result is twice the number needed, so that a faster sample is still long enough.
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
