//! Number of samples, and when to stop.

use super::{Spread, Warning};

/// Minimum number of samples.
pub const SAMPLES: usize = 7;

/// Device time before the first sample, µs.
pub const WARM_UP_US: f64 = 20_000.0;

/// Maximum number of launches of a warm-up: with work that takes no time it would never end.
const WARM_UP_LAUNCHES: usize = 1000;

/// Number of samples, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Minimum number of samples; one or more.
    pub at_least: usize,
    /// Maximum number of samples; at least `at_least`.
    pub at_most: usize,
    /// The [`Spread::uncertainty`] of the median at which sampling stops.
    pub uncertainty: f64,
}

impl Default for Sampling {
    /// At least [`SAMPLES`], at most 51, until the median is known to half a percent.
    fn default() -> Self {
        Self { at_least: SAMPLES, at_most: 51, uncertainty: 0.005 }
    }
}

/// The result of several samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Time, µs.
    pub time: Spread,
    /// The rules that were broken; empty if there are none.
    pub warnings: Vec<Warning>,
}

impl Sampling {
    /// Takes samples until their median is known well enough; [`Warning::Noise`] if it never is.
    ///
    /// # Errors
    /// The first error of `sample`.
    ///
    /// # Panics
    /// If `at_least` is 0, or `at_most` is less than `at_least`.
    pub fn measure<E>(&self, mut sample: impl FnMut() -> Result<f64, E>) -> Result<Measurement, E> {
        assert!(0 < self.at_least && self.at_least <= self.at_most, "a measurement needs a sample");
        let mut samples = Vec::new();
        loop {
            samples.push(sample()?);
            if samples.len() < self.at_least {
                continue;
            }
            let time = Spread::of(samples.clone()).expect("a sample has just been pushed");
            let noise = self.noise(&time);
            if noise.is_some() && samples.len() < self.at_most {
                continue;
            }
            return Ok(Measurement { time, warnings: noise.into_iter().collect() });
        }
    }

    /// Measures one of `parts` equal parts of some work. `time` runs all of it and returns its µs.
    /// [`Warning::TooShort`] if the whole is too short.
    pub(super) fn measure_each_of<E>(
        &self,
        parts: f64,
        mut time: impl FnMut() -> Result<f64, E>,
    ) -> Result<Measurement, E> {
        let mut measured = self.measure(|| Ok(time()? / parts))?;
        let timed = measured.time.median * parts;
        measured.warnings.extend(Warning::too_short(timed));
        Ok(measured)
    }

    /// The warning for samples whose median is not known well enough.
    pub(super) fn noise(&self, time: &Spread) -> Option<Warning> {
        let Spread { samples, .. } = *time;
        let (uncertainty, allowed) = (time.uncertainty(), self.uncertainty);
        (uncertainty > allowed).then_some(Warning::Noise { uncertainty, allowed, samples })
    }

    /// The warning for samples of a peer whose median is not known well enough.
    pub(super) fn peer_noise(&self, time: &Spread) -> Option<Warning> {
        let Spread { samples, .. } = *time;
        let (uncertainty, allowed) = (time.uncertainty(), self.uncertainty);
        (uncertainty > allowed).then_some(Warning::PeerNoise { uncertainty, allowed, samples })
    }
}

/// Calls `time`, which runs something and returns its microseconds, until [`WARM_UP_US`] have
/// passed.
pub(super) fn warm_up<E>(mut time: impl FnMut() -> Result<f64, E>) -> Result<(), E> {
    let mut passed = 0.0;
    for _ in 0..WARM_UP_LAUNCHES {
        passed += time()?;
        if passed >= WARM_UP_US {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Measures samples that alternate between 1 + `scatter` and 1 − `scatter`.
    fn alternating(scatter: f64) -> Measurement {
        let mut sign = 1.0;
        let measured = Sampling::default().measure(|| {
            sign = -sign;
            Ok::<_, Infallible>(1.0 + sign * scatter)
        });
        measured.expect("no sample fails")
    }

    #[test]
    fn steady_times_need_the_fewest_samples() {
        let steady = alternating(0.0001);
        assert_eq!(steady.time.samples, SAMPLES);
        assert_eq!(steady.warnings, []);
    }

    #[test]
    fn scattered_times_need_more_samples_until_the_median_is_known() {
        let scattered = alternating(0.01);
        assert!((SAMPLES + 1..51).contains(&scattered.time.samples));
        assert_eq!(scattered.warnings, []);
    }

    #[test]
    fn times_that_never_settle_get_a_warning() {
        let noisy = alternating(0.5);
        assert_eq!(noisy.time.samples, 51);
        assert!(
            matches!(noisy.warnings[..], [Warning::Noise { uncertainty, allowed: 0.005, samples: 51 }] if uncertainty > 0.05),
            "{noisy:?}"
        );
    }

    #[test]
    fn a_failed_sample_ends_the_measurement() {
        assert_eq!(Sampling::default().measure(|| Err("lost")), Err("lost"));
    }

    #[test]
    fn the_warm_up_ends_after_its_time_or_if_no_time_passes() {
        let launches = |us: f64| {
            let mut launches = 0;
            let done = warm_up(|| {
                launches += 1;
                Ok::<_, Infallible>(us)
            });
            done.map_or(0, |()| launches)
        };
        assert_eq!(launches(WARM_UP_US), 1);
        assert_eq!(launches(WARM_UP_US / 4.0), 4);
        assert_eq!(launches(0.0), WARM_UP_LAUNCHES);
    }
}
