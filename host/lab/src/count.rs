//! Counts on the command line: `1000`, `2^20`, `1e6`.

use std::ops::RangeInclusive;

/// A parser for a count in `range`, for an argument of the command line.
///
/// ```
/// let parse = gridsync_lab::count::within::<u32>(1..=1 << 20);
/// assert_eq!(parse("2^20"), Ok(1 << 20));
/// assert!(parse("0").is_err());
/// ```
pub fn within<T>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text| {
        let in_range = count(text).filter(|count| range.contains(count));
        in_range.and_then(|count| count.try_into().ok()).ok_or_else(|| {
            let (from, to) = (range.start(), range.end());
            match *to {
                u64::MAX => format!("counts are 1000, 2^20 or 1e6, at least {from}"),
                _ => format!("counts are 1000, 2^20 or 1e6, from {from} to {to}"),
            }
        })
    }
}

/// Parses a count that is a power of two.
///
/// # Errors
/// A message that says which counts are valid.
pub fn power_of_two(text: &str) -> Result<usize, String> {
    let count = within::<usize>(1..=1 << 56)(text)?;
    if count.is_power_of_two() {
        Ok(count)
    } else {
        Err(format!("{count} is not a power of two (e.g. 2^20)"))
    }
}

/// The text as an integer, if it is one.
fn count(text: &str) -> Option<u64> {
    if let Some((base, exponent)) = text.split_once('^') {
        return base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?);
    }
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return text.parse().ok();
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = exponent.parse::<usize>().ok()?.checked_sub(part.len())?;
    if whole.is_empty() || zeros > 20 {
        return None;
    }
    format!("{whole}{part}{}", "0".repeat(zeros)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_numbers_powers_or_have_an_exponent() {
        for (text, value) in [
            ("0", 0),
            ("1000", 1000),
            ("2^20", 1 << 20),
            ("10^0", 1),
            ("1e6", 1_000_000),
            ("1E3", 1000),
            ("2.5e3", 2500),
            ("0e5", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Some(value), "{text}");
        }
        for text in [
            "",
            "-1",
            "many",
            "1.5",
            "2.55e1",
            "e6",
            "1e",
            "1e-3",
            "2^",
            "^2",
            "2^64",
            "1e20",
            "2^x",
            "1e99999999999",
        ] {
            assert_eq!(count(text), None, "{text:?}");
        }
    }

    #[test]
    fn error_of_a_count_out_of_range_names_the_range() {
        let refused = |range, text: &str| within::<u32>(range)(text).err();
        assert_eq!(refused(1..=8, "2^3"), None);
        let told = refused(1..=8, "9").expect("it is too large");
        assert!(told.contains("from 1 to 8"), "{told}");
        let told = refused(1..=u64::MAX, "0").expect("it is too small");
        assert!(told.contains("at least 1"), "{told}");
        assert!(refused(0..=u64::MAX, "2^32").is_some(), "it is no u32");
    }
}
