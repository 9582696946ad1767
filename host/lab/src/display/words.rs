//! Numbers and lists in sentences.

use super::svg;

/// A nonnegative number with three digits, or with more before the point.
#[must_use]
pub fn three_digits(value: f64) -> String {
    format!("{value:.*}", svg::three_digits(value))
}

/// `a, b and c`.
#[must_use]
pub fn and(mut parts: Vec<String>) -> String {
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_three_digits_and_a_list_one_and() {
        let numbers = [0.1234, 1.234, 12.34, 123.4, 1234.5].map(three_digits);
        assert_eq!(numbers, ["0.123", "1.23", "12.3", "123", "1234"]);
        let list = |parts: &[&str]| and(parts.iter().map(ToString::to_string).collect());
        assert_eq!([list(&["a"]), list(&["a", "b", "c"])], ["a", "a, b and c"]);
    }
}
