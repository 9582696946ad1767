//! Formats times for display.

/// A time given in µs, to three digits, in a suitable unit.
#[must_use]
pub fn time(us: f64) -> String {
    match us {
        ..999.5 => digits(us, "µs"),
        ..999.5e3 => digits(us / 1e3, "ms"),
        ..119.5e6 => digits(us / 1e6, "s"),
        _ => {
            let seconds = (us / 1e6).round() as u64;
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
    }
}

/// A number from 0 to 1000, to three digits.
fn digits(value: f64, unit: &str) -> String {
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_a_suitable_unit() {
        for (us, said) in [
            (0.0, "0.00 µs"),
            (4.519, "4.52 µs"),
            (99.96, "100 µs"),
            (237.7, "238 µs"),
            (999.7, "1.00 ms"),
            (238_812.0, "239 ms"),
            (1_051_000.0, "1.05 s"),
            (59_900_000.0, "59.9 s"),
            (119_600_000.0, "2 min 0 s"),
            (202_000_000.0, "3 min 22 s"),
        ] {
            assert_eq!(time(us), said);
        }
    }
}
