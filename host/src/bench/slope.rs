//! The time of one round, free of what a launch costs.

use crate::device::{Device, DeviceError};

/// What several samples of one quantity gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The one in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// How many there were.
    pub samples: usize,
}

impl Spread {
    /// The spread of `samples`, of which there is at least one; none of none.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        Some(Self {
            median: *samples.get(samples.len() / 2)?,
            min: *samples.first()?,
            max: *samples.last()?,
            samples: samples.len(),
        })
    }
}

/// Microseconds of device time per round of what `launch(rounds)` puts into the stream: the slope
/// between `few` and `many` rounds, after one launch that is not counted.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// If `many` is not greater than `few`, or `samples` is 0.
pub fn slope(
    device: &Device,
    few: u32,
    many: u32,
    samples: usize,
    mut launch: impl FnMut(u32) -> Result<(), DeviceError>,
) -> Result<Spread, DeviceError> {
    assert!(
        many > few && samples > 0,
        "a slope needs two counts and a sample"
    );
    launch(few)?;
    let slopes = (0..samples)
        .map(|_| {
            let short = device.time(|| launch(few))?;
            let long = device.time(|| launch(many))?;
            Ok::<_, DeviceError>((long - short) / f64::from(many - few))
        })
        .collect::<Result<_, _>>()?;
    Ok(Spread::of(slopes).expect("there should be a sample"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_the_least_and_the_greatest() {
        let spread = Spread::of(vec![3.0, 1.0, 2.0]).expect("three samples have a spread");
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.0, 3.0));
        assert_eq!(Spread::of(vec![]), None);
    }
}
