//! A summary of several samples.

/// A summary of several samples of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle sample, or the mean of the two middle samples.
    pub median: f64,
    /// The interquartile range. Outliers do not change it. It detects two modes, which the median
    /// absolute deviation may miss.
    pub quartile_range: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Spread {
    /// The spread of `samples`, or `None` if it is empty.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        let (&min, &max) = (samples.first()?, samples.last()?);
        Some(Self {
            median: quantile(&samples, 0.5),
            quartile_range: quantile(&samples, 0.75) - quantile(&samples, 0.25),
            min,
            max,
            samples: samples.len(),
        })
    }

    /// Uncertainty of the median: its standard error divided by the median. Infinite if the median
    /// is not above 0.
    ///
    /// For n normal samples of standard deviation σ the standard error of the median is about
    /// √(π/2)·σ/√n, and the quartiles are about 1.349·σ apart.
    #[must_use]
    pub fn uncertainty(&self) -> f64 {
        if self.median <= 0.0 {
            return f64::INFINITY;
        }
        let sigma = self.quartile_range / 1.349;
        let error = std::f64::consts::FRAC_PI_2.sqrt() * sigma / (self.samples as f64).sqrt();
        error / self.median
    }
}

/// The quantile `part` of `sorted`, interpolated between two samples. `sorted` must not be empty.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + place.fract() * (above - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_between_the_minimum_and_the_maximum() {
        let spread = Spread::of(vec![3.0, 1.0, 2.5, 2.0]).expect("four samples have a spread");
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.25, 3.0));
        assert_eq!(spread.quartile_range, 2.625 - 1.75);
        assert_eq!(Spread::of(vec![]), None);
    }

    #[test]
    fn an_outlier_does_not_change_the_uncertainty_and_more_samples_reduce_it() {
        let uncertainty = |samples: Vec<f64>| {
            let spread = Spread::of(samples).expect("there are samples");
            spread.uncertainty()
        };
        let few = vec![0.99, 1.0, 1.01, 0.99, 1.0, 1.01, 1.0];
        let mut outlier = few.clone();
        outlier[6] = 100.0;
        assert!(uncertainty(outlier) < 0.01);
        assert!(uncertainty(few.repeat(16)) < 0.6 * uncertainty(few));
        assert_eq!(uncertainty(vec![-1.0, 0.0, 1.0]), f64::INFINITY);
    }
}
