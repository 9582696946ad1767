//! A number in JSON, for `#[serde(with = "number")]`. JSON has no NaN and no infinities: they are
//! strings.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { to.serialize_f64(*value) } else { to.collect_str(value) }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Other(String),
    }
    match Number::deserialize(from)? {
        Number::Finite(value) => Ok(value),
        Number::Other(text) => text.parse().map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_json_lacks_is_a_string() {
        for (value, json) in [(1.5, "1.5"), (f64::NAN, "\"NaN\""), (f64::NEG_INFINITY, "\"-inf\"")]
        {
            let mut shown = Vec::new();
            serialize(&value, &mut serde_json::Serializer::new(&mut shown)).expect("JSON");
            assert_eq!(String::from_utf8_lossy(&shown), json);
            let read = deserialize(&mut serde_json::Deserializer::from_str(json));
            assert_eq!(read.expect("a number").to_string(), value.to_string());
        }
    }
}
