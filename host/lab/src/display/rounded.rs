//! Rounds numbers for display.

/// A number to three digits, without an exponent if it is readable without one.
#[must_use]
pub fn rounded(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !size.is_finite() {
        return value.to_string();
    }
    if !(1e-3..999_999.5).contains(&size) {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_zeros(digits));
    }
    // Decimals, so that there are three digits in total.
    let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// Removes trailing zeros after the point.
fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_an_exponent_only_if_needed() {
        for (value, said) in [
            (0.0, "0"),
            (-0.0, "0"),
            (7.458042290869789e-1, "0.746"),
            (0.5, "0.5"),
            (1.0, "1"),
            (-2.25, "-2.25"),
            (10.04, "10"),
            (1234.5, "1234"),
            (150_000.0, "150000"),
            (1e6, "1e6"),
            (0.001, "0.001"),
            (1.23456e-7, "1.23e-7"),
            (1e-10, "1e-10"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rounded(value), said);
        }
    }
}
