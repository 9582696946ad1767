//! Quantiles: where each is among the ranks.

/// How a quantile is computed from the elements around it. These are the nine definitions of
/// Hyndman and Fan (1996), under NumPy's names. The first three give an element, or the mean of two;
/// the others are continuous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// The first element that at least this share of the elements does not exceed.
    InvertedCdf,
    /// The same, but the mean of two elements where the distribution jumps.
    AveragedInvertedCdf,
    /// The element of the nearest rank; of two, the even one, counted from 1.
    ClosestObservation,
    /// Linear between the jumps of the distribution.
    InterpolatedInvertedCdf,
    /// Linear between the centres of its steps.
    Hazen,
    /// Rank k of n, from 1, is the quantile k / (n + 1).
    Weibull,
    /// Rank k of n, from 0, is the quantile k / (n − 1).
    #[default]
    Linear,
    /// Its median hardly depends on the distribution.
    MedianUnbiased,
    /// Its mean does not, if the distribution is normal.
    NormalUnbiased,
}

/// A place between two elements of a sorted array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Virtual {
    /// The rank of the first, and of the second, which is the same or the next.
    pub ranks: [usize; 2],
    /// The weight of the second.
    pub weight: f64,
}

impl QuantileMethod {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::InvertedCdf,
        Self::AveragedInvertedCdf,
        Self::ClosestObservation,
        Self::InterpolatedInvertedCdf,
        Self::Hazen,
        Self::Weibull,
        Self::Linear,
        Self::MedianUnbiased,
        Self::NormalUnbiased,
    ];

    /// NumPy's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvertedCdf => "inverted_cdf",
            Self::AveragedInvertedCdf => "averaged_inverted_cdf",
            Self::ClosestObservation => "closest_observation",
            Self::InterpolatedInvertedCdf => "interpolated_inverted_cdf",
            Self::Hazen => "hazen",
            Self::Weibull => "weibull",
            Self::Linear => "linear",
            Self::MedianUnbiased => "median_unbiased",
            Self::NormalUnbiased => "normal_unbiased",
        }
    }

    /// Where quantile `q`, from 0 to 1, of `len` elements is, with the roundings of NumPy.
    ///
    /// # Panics
    /// If the array is empty.
    #[must_use]
    pub fn of(self, q: f64, len: usize) -> Virtual {
        assert!(len > 0, "no elements have no quantile");
        let n = len as f64;
        // With the parameters of Hyndman and Fan.
        let between = |alpha: f64, beta: f64| n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0;
        let at = match self {
            Self::InvertedCdf | Self::AveragedInvertedCdf => n * q - 1.0,
            Self::ClosestObservation => n * q - 1.5,
            Self::InterpolatedInvertedCdf => between(0.0, 1.0),
            Self::Hazen => between(0.5, 0.5),
            Self::Weibull => between(0.0, 0.0),
            Self::Linear => (n - 1.0) * q,
            Self::MedianUnbiased => between(1.0 / 3.0, 1.0 / 3.0),
            Self::NormalUnbiased => between(3.0 / 8.0, 3.0 / 8.0),
        };
        let (below, fraction) = (at.floor(), at - at.floor());
        let weight = match self {
            Self::InvertedCdf if fraction > 0.0 => 1.0,
            Self::AveragedInvertedCdf if fraction > 0.0 => 1.0,
            Self::AveragedInvertedCdf => 0.5,
            // A rank that is odd, counted from 0, is even, counted from 1.
            Self::ClosestObservation if fraction > 0.0 || below.rem_euclid(2.0) != 1.0 => 1.0,
            Self::InvertedCdf | Self::ClosestObservation => 0.0,
            _ => fraction,
        };
        // Outside of the array, both are its first or last element.
        let rank = |rank: f64| (rank.max(0.0) as usize).min(len - 1);
        Virtual { ranks: [rank(below), rank(below + 1.0)], weight }
    }
}

impl Virtual {
    /// The value between those of the two ranks. Zero is +0.
    #[must_use]
    pub fn value(self, [a, b]: [f64; 2]) -> f64 {
        let value = if a == b || self.weight == 0.0 {
            a
        } else if self.weight == 1.0 {
            b
        } else if self.weight < 0.5 {
            a + (b - a) * self.weight
        } else {
            b - (b - a) * (1.0 - self.weight)
        };
        value + 0.0
    }
}
