//! Numeric axes: their ranges and ticks.

/// A numeric axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    kind: Kind,
    /// The ends; their logarithms if the axis is logarithmic.
    from: f64,
    to: f64,
    /// The values and labels of the ticks.
    pub(super) ticks: Vec<(f64, String)>,
}

/// Maps values to positions on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Linear,
    Log2,
    Log10,
}

/// The most ticks of an axis.
const TICKS: f64 = 8.0;

impl Scale {
    /// A linear axis that includes 0 and all of `values`, which must be finite. Its ends are ticks.
    /// Ticks are 1, 2 or 5 times a power of ten apart.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (least, greatest) = ends(values.chain([0.0]));
        Self::linear_between(least, greatest)
    }

    /// A linear axis that includes all of `values`, which must be finite. It includes 0 too, unless
    /// the values are so far from 0 that most of the axis would be empty.
    pub(super) fn linear_near(values: impl Iterator<Item = f64>) -> Self {
        let (least, greatest) = ends(values);
        if least > greatest / 2.0 && greatest > least {
            Self::linear_between(least, greatest)
        } else {
            Self::linear_between(least.min(0.0), greatest.max(0.0))
        }
    }

    fn linear_between(least: f64, greatest: f64) -> Self {
        let range = if greatest > least { greatest - least } else { 1.0 };
        let power = 10f64.powf((range / TICKS).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|times| times * power)
            .into_iter()
            .find(|step| range / step <= TICKS - 2.0)
            .unwrap_or(20.0 * power);
        let (first, mut last) = ((least / step).floor(), (greatest / step).ceil());
        if last <= first {
            last = first + 1.0;
        }
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (0..=(last - first) as u32)
            .map(|tick| {
                let value = (first + f64::from(tick)) * step;
                (value, plain(value, decimals))
            })
            .collect();
        Self { kind: Kind::Linear, from: first * step, to: last * step, ticks }
    }

    /// A logarithmic axis that includes all of `values`, which must be finite and above 0. Its
    /// ticks are powers of two. It begins at one of them, and ends at the greatest value.
    pub(super) fn log2(values: impl Iterator<Item = f64>) -> Self {
        let (least, greatest) = ends(values.map(f64::log2));
        let first = least.floor();
        let last = greatest.max(first + 1.0);
        let mut scale = Self { to: last, ..Self::powers(Kind::Log2, first, last.ceil()) };
        scale.ticks.retain(|(value, _)| value.log2() <= last);
        scale
    }

    /// A logarithmic axis that begins below all of `values`, which must be finite and above 0. Its
    /// ends and its ticks are powers of ten.
    pub(super) fn log10(values: impl Iterator<Item = f64>) -> Self {
        let (least, greatest) = ends(values.map(f64::log10));
        // The least value is at least a tenth of a power above the first end, so that a bar has
        // some length.
        Self::powers(Kind::Log10, (least - 0.1).floor(), greatest.ceil())
    }

    /// A logarithmic axis between two powers, or slightly longer.
    fn powers(kind: Kind, first: f64, last: f64) -> Self {
        // Ticks are at every power, or at every second, third, …, so that the last end is a tick.
        let step = ((last - first) / TICKS).ceil();
        let last = first + step * ((last - first) / step).ceil();
        let tick = |tick| {
            let exponent = first + f64::from(tick) * step;
            match kind {
                Kind::Log10 => {
                    let value = 10f64.powf(exponent);
                    let text = if (-3.0..=5.0).contains(&exponent) {
                        plain(value, (-exponent).max(0.0) as usize)
                    } else {
                        format!("10{}", superscript(exponent))
                    };
                    (value, text)
                }
                _ => {
                    let value = exponent.exp2();
                    let text = if first >= 0.0 && last <= 14.0 {
                        plain(value, 0)
                    } else {
                        format!("2{}", superscript(exponent))
                    };
                    (value, text)
                }
            }
        };
        Self {
            kind,
            from: first,
            to: last,
            ticks: (0..=((last - first) / step) as u32).map(tick).collect(),
        }
    }

    /// The position of `value` between the ends: 0 at the first, 1 at the last.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = match self.kind {
            Kind::Linear => value,
            Kind::Log2 => value.log2(),
            Kind::Log10 => value.log10(),
        };
        (value - self.from) / (self.to - self.from)
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)))
}

/// A number with `decimals` decimals, and a real minus sign instead of a hyphen.
pub(super) fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.contains(|c| ('1'..='9').contains(&c)) => format!("−{digits}"),
        Some(zero) => zero.into(),
        None => text,
    }
}

/// The number of decimals that show three digits of `value`.
#[must_use]
pub fn three_digits(value: f64) -> usize {
    match value {
        value if value >= 100.0 || value == 0.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    }
}

/// An integer in superscript digits.
#[must_use]
pub fn superscript(exponent: f64) -> String {
    let raise = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    format!("{exponent:.0}").chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn a_linear_axis_includes_zero_and_has_round_ticks() {
        let latencies = Scale::linear([0.791, 1.673].into_iter());
        assert_eq!(ticks(&latencies), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(latencies.place(1.0), 0.5);
        let signed = Scale::linear([-29.0, 12.0].into_iter());
        assert_eq!(ticks(&signed), ["−30", "−20", "−10", "0", "10", "20"]);
        assert_eq!(ticks(&Scale::linear([0.0].into_iter())).first(), Some(&"0.0"));
    }

    #[test]
    fn an_axis_near_its_values_includes_zero_only_if_close() {
        let far = Scale::linear_near([254.0, 323.0].into_iter());
        assert_eq!((ticks(&far)[0], far.place(250.0) < 0.2), ("240", true), "{far:?}");
        assert!(far.place(254.0) >= 0.0 && far.place(323.0) <= 1.0);
        for near in [[10.0, 33.0], [-5.0, 5.0], [7.0, 7.0]] {
            let scale = Scale::linear_near(near.into_iter());
            assert!(ticks(&scale).contains(&"0") || ticks(&scale).contains(&"0.0"), "{scale:?}");
        }
    }

    #[test]
    fn a_linear_axis_of_any_magnitude_has_few_ticks() {
        for exponent in -12..12 {
            for mantissa in [1.0, 1.9, 2.1, 4.9, 5.1, 9.9] {
                let value = mantissa * 10f64.powi(exponent);
                let scale = Scale::linear([value].into_iter());
                let place = scale.place(value);
                assert!(place > 0.5 && place <= 1.0 + 1e-9, "{value}: {place}");
                assert!((3..=9).contains(&scale.ticks.len()), "{value}: {scale:?}");
            }
        }
    }

    #[test]
    fn a_log2_axis_has_powers_of_two_and_ends_at_the_greatest_value() {
        let blocks = Scale::log2([33.0, 528.0].into_iter());
        assert_eq!(ticks(&blocks), ["32", "64", "128", "256", "512"]);
        assert_eq!((blocks.place(32.0), blocks.place(528.0)), (0.0, 1.0));
        let lengths = Scale::log2([1024.0, f64::from(1 << 28)].into_iter());
        assert_eq!(ticks(&lengths)[..2], ["2¹⁰", "2¹³"]);
        assert_eq!(lengths.place(f64::from(1 << 28)), 1.0);
        assert_eq!(ticks(&Scale::log2([0.5].into_iter())), ["2⁻¹", "2⁰"]);
    }

    #[test]
    fn a_log10_axis_has_powers_of_ten_and_begins_below_its_values() {
        let rates = Scale::log10([0.4, 4400.0].into_iter());
        assert_eq!(ticks(&rates), ["0.1", "1", "10", "100", "1000", "10000"]);
        let one = Scale::log10([1.0].into_iter());
        assert_eq!(ticks(&one), ["0.1", "1"]);
        assert_eq!(one.place(1.0), 1.0);
        let wide = Scale::log10([1e-9, 1e9].into_iter());
        assert!(wide.ticks.len() <= 9, "{wide:?}");
        assert!(wide.place(1e9) <= 1.0 && wide.place(1e-9) > 0.0);
    }
}
