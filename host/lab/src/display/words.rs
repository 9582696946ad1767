//! Numbers and lists in sentences.

use super::svg;

/// A nonnegative number with three digits, or with more before the point.
#[must_use]
pub fn three_digits(value: f64) -> String {
    format!("{value:.*}", svg::three_digits(value))
}

/// A number of elements, as a power of two if it is one.
#[must_use]
pub fn length(n: f64) -> String {
    let log = n.log2();
    if log.fract() == 0.0 && log >= 10.0 {
        format!("2{}", svg::superscript(log))
    } else {
        n.to_string()
    }
}

/// A number and its noun, in the plural if needed.
#[must_use]
pub fn count(number: f64, one: &str) -> String {
    let end = if number == 1.0 { "" } else { "s" };
    format!("{number} {one}{end}")
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
