//! The time of one round, excluding the cost of a launch.

use super::sampling::warm_up;
use super::{Measurement, Sampling};
use gridsync::device::{Device, DeviceError};

/// Device time in microseconds per round of everything that `launch(rounds)` puts into the stream:
/// the slope between `few` and `many` rounds, after a warm-up.
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `many` is not greater than `few`, or [`Sampling::measure`] panics.
pub fn slope(
    device: &Device,
    few: u32,
    many: u32,
    sampling: &Sampling,
    mut launch: impl FnMut(u32) -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    slope_of(few, many, sampling, |rounds| device.time(|| launch(rounds)))
}

/// The slope of `time(rounds)`.
pub(super) fn slope_of<E>(
    few: u32,
    many: u32,
    sampling: &Sampling,
    mut time: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Measurement, E> {
    assert!(many > few, "a slope needs two counts");
    let rounds = f64::from(many - few);
    warm_up(|| time(few))?;
    sampling.measure_each_of(rounds, || {
        let short = time(few)?;
        Ok(time(many)? - short)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Warning;
    use std::convert::Infallible;

    fn with_round_of(us: f64) -> Measurement {
        let time = |rounds| Ok::<_, Infallible>(7.5 + us * f64::from(rounds));
        slope_of(200, 2200, &Sampling::default(), time).expect("no launch fails")
    }

    #[test]
    fn the_cost_of_a_launch_cancels_out() {
        let measured = with_round_of(0.5);
        assert!((measured.time.median - 0.5).abs() < 1e-9, "{measured:?}");
        assert_eq!(measured.warnings, []);
    }

    #[test]
    fn too_few_rounds_get_a_warning() {
        // 2000 rounds of 10 ns are 20 µs.
        let warnings = with_round_of(0.01).warnings;
        assert!(
            matches!(warnings[..], [Warning::TooShort { us, .. }] if (us - 20.0).abs() < 1e-6),
            "{warnings:?}"
        );
    }
}
