//! Arrays that are easy to sum, and hard ones. They are the same on every machine.

use super::Real;
use gridsync_verify::random;
use serde::{Deserialize, Serialize};

/// Distribution of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Uniform between 0 and 1.
    Uniform,
    /// Uniform between −1 and 1.
    Signed,
    /// Numbers of either sign with exponents from −32 to 31.
    Wide,
    /// Numbers from −1 to 1 in pairs that cancel, and 2^-16.
    Cancelling,
}

/// Seed of the elements.
const SEED: u64 = 1;

impl Input {
    /// All inputs.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Signed, Self::Wide, Self::Cancelling];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Signed => "signed",
            Self::Wide => "wide",
            Self::Cancelling => "cancelling",
        }
    }

    /// `n` elements.
    #[must_use]
    pub fn values<T: Real>(self, n: usize) -> Vec<T> {
        let of: fn(usize, usize) -> f64 = match self {
            Self::Uniform => |i, _| uniform(i),
            Self::Signed => |i, _| signed(i),
            Self::Wide => |i, _| wide(i),
            Self::Cancelling => cancelling,
        };
        (0..n).map(|i| T::nearest(of(i, n))).collect()
    }
}

fn uniform(i: usize) -> f64 {
    (random(SEED, i as u64) >> 11) as f64 * (f64::EPSILON / 2.0)
}

fn signed(i: usize) -> f64 {
    2.0 * uniform(i) - 1.0
}

fn wide(i: usize) -> f64 {
    let bits = random(SEED, i as u64);
    // The exponent comes from other bits than the sign and the digits.
    let exponent = (bits & 63) as f64 - 32.0;
    let sign = if bits & 64 == 0 { 1.0 } else { -1.0 };
    sign * (1.0 + uniform(i)) * exponent.exp2()
}

/// The first element is 2^-16. Of the rest, the first cancels the last, the second the second to
/// last, and so on. An odd one in the middle is 0.
fn cancelling(i: usize, n: usize) -> f64 {
    match i.checked_sub(1).map(|i| (i, n - 2 - i)) {
        None => f64::from(-16).exp2(),
        Some((i, partner)) if i < partner => signed(i),
        Some((i, partner)) if i > partner => -signed(partner),
        Some(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::reference::Unrounded;

    #[test]
    fn elements_are_in_the_range_of_their_kind() {
        for n in [1, 2, 3, 1000, 1001] {
            let within = |input: Input, range: std::ops::RangeInclusive<f64>| {
                assert!(input.values::<f64>(n).iter().all(|x| range.contains(x)), "{input:?} {n}");
            };
            within(Input::Uniform, 0.0..=1.0);
            within(Input::Signed, -1.0..=1.0);
            let wide = Input::Wide.values::<f64>(n);
            let exponents = wide.iter().map(|x| x.abs().log2().floor());
            assert!(exponents.clone().all(|e| (-32.0..32.0).contains(&e)), "{n}");
            assert!(n < 1000 || exponents.clone().any(|e| e == -32.0), "the least is there");
            assert!(n < 1000 || wide.iter().any(|&x| x < 0.0) && wide.iter().any(|&x| x > 0.0));
        }
        assert!(Input::Uniform.values::<f32>(0).is_empty());
    }

    #[test]
    fn cancelling_input_sums_to_its_first_element_in_both_types() {
        for n in [1, 2, 3, 4, 1000, 1001] {
            let long: Unrounded = Input::Cancelling.values::<f64>(n).into_iter().collect();
            let short = Input::Cancelling.values::<f32>(n).into_iter();
            let short: Unrounded = short.map(f64::from).collect();
            assert_eq!([long, short].map(|sum| sum.rounded()), [f64::from(-16).exp2(); 2], "{n}");
        }
    }
}
