//! Arrays as a call describes them: `u32[100]`, `f32[100]=1.5`, `u32[100]=iota`, or a file.

use super::element::Element;
use crate::cli::exit::Usage;
use crate::data::{self, Input, Narrow};
use anyhow::bail;
use gridsync::device::{Buffer, Device, DeviceError};
use std::ffi::OsStr;

/// An array that a kernel gets, as bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) element: Element,
    pub(super) len: usize,
    /// The contents before the launch. `None` leaves them uninitialised.
    contents: Option<Vec<u8>>,
}

/// The largest array, in bytes. An emulated GPU has 4 GiB.
const MOST_BYTES: usize = 1 << 31;

impl Array {
    /// Parses `TYPE[LEN]`, zeros, with `=FILL` behind it: a number, `iota`, `random` or `unset`.
    /// Anything else is the name of a file.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let Some((element, len, fill)) = shape(text) else {
            return Self::read(text);
        };
        let element: Element = element.parse().map_err(Usage)?;
        let Ok(len) = len.parse::<usize>() else {
            bail!(Usage(format!("`{len}` is no number of elements, in {text}")));
        };
        let bytes = len.checked_mul(element.bytes()).filter(|&bytes| bytes <= MOST_BYTES);
        if bytes.is_none_or(|bytes| bytes == 0) {
            bail!(Usage(format!("{text} should have between 1 element and {MOST_BYTES} bytes")));
        }
        let contents = match fill {
            "unset" => None,
            _ => Some(filled(element, len, fill)?),
        };
        Ok(Self { element, len, contents })
    }

    /// The array of a file.
    fn read(path: &str) -> anyhow::Result<Self> {
        let mut file = data::open(&Input::parse(OsStr::new(path)), None)?;
        let (element, len) = (Element::of_file(&file), file.len());
        let contents = match file.narrow() {
            None => file.all()?.bytes().to_vec(),
            Some(Narrow::I8) => bytemuck::cast_slice(&file.all_narrow::<i8>()?).to_vec(),
            Some(Narrow::I16) => bytemuck::cast_slice(&file.all_narrow::<i16>()?).to_vec(),
            Some(Narrow::U8) => file.all_narrow::<u8>()?,
            Some(Narrow::U16) => bytemuck::cast_slice(&file.all_narrow::<u16>()?).to_vec(),
        };
        if len == 0 {
            bail!(Usage(format!("{path} has no elements")));
        }
        Ok(Self { element, len, contents: Some(contents) })
    }

    /// The array in the memory of a device.
    pub(super) fn put(&self, device: &Device) -> Result<Buffer<u8>, DeviceError> {
        match &self.contents {
            Some(contents) => device.upload(contents),
            None => device.alloc(self.len * self.element.bytes()),
        }
    }

    /// The bytes that `text` requires of this array: a fill as behind `=`, or a file.
    pub(super) fn expected(&self, text: &str) -> anyhow::Result<Vec<u8>> {
        let is_fill = text == "iota" || self.element.parse(text).is_ok();
        if is_fill {
            return filled(self.element, self.len, text);
        }
        let other = Self::read(text)?;
        if (other.element, other.len) != (self.element, self.len) {
            let of = |array: &Self| format!("{} {}", array.len, array.element.name());
            bail!(Usage(format!("{text} has {}, but the array has {}", of(&other), of(self))));
        }
        Ok(other.contents.unwrap_or_default())
    }

    /// The first element that differs, as a message.
    pub(super) fn difference(&self, found: &[u8], expected: &[u8]) -> Option<String> {
        let bytes = self.element.bytes();
        let mut pairs = found.chunks(bytes).zip(expected.chunks(bytes)).enumerate();
        let (at, (found, expected)) = pairs.find(|(_, (found, expected))| found != expected)?;
        let (found, expected) = (self.element.show(found), self.element.show(expected));
        Some(format!("element {at} is {found}, not {expected}"))
    }
}

/// Splits `TYPE[LEN]=FILL`. The fill is 0 if there is none.
fn shape(text: &str) -> Option<(&str, &str, &str)> {
    let (element, rest) = text.split_once('[')?;
    let (len, rest) = rest.split_once(']')?;
    let fill = if rest.is_empty() { "0" } else { rest.strip_prefix('=')? };
    Some((element, len, fill))
}

/// The bytes of an array that is filled in this way.
fn filled(element: Element, len: usize, fill: &str) -> anyhow::Result<Vec<u8>> {
    let each: Box<dyn Fn(usize) -> Result<Vec<u8>, String>> = match fill {
        "iota" => Box::new(|at| element.parse(&at.to_string())),
        "random" => Box::new(|at| element.parse(&(mixed(at as u64) % RANDOM).to_string())),
        number => {
            let number = element.parse(number).map_err(Usage)?;
            return Ok(number.repeat(len));
        }
    };
    let elements = (0..len).map(each).collect::<Result<Vec<_>, _>>().map_err(Usage)?;
    Ok(elements.concat())
}

/// Random elements are below this number, which fits into every type.
const RANDOM: u64 = 100;

/// Mixes the bits of a number (the finaliser of SplitMix64; Steele, Lea and Flood, 2014).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_filled_as_they_are_described() {
        let of = |text: &str| Array::parse(text).expect("an array").contents;
        assert_eq!(of("u8[3]"), Some(vec![0, 0, 0]));
        assert_eq!(of("u16[2]=258"), Some(vec![2, 1, 2, 1]));
        assert_eq!(of("i8[3]=iota"), Some(vec![0, 1, 2]));
        assert_eq!(of("u32[4]=unset"), None);
        assert_eq!(of("u8[100]=random"), of("u8[100]=random"));
    }

    #[test]
    fn a_fill_that_does_not_fit_and_an_empty_array_are_refused() {
        for (text, why) in [
            ("u8[300]=iota", "`256` is no u8"),
            ("u8[0]", "between 1 element"),
            ("u64[9999999999]", "between 1 element"),
            ("u7[4]", "`u7` is no type"),
            ("u8[x]", "`x` is no number"),
        ] {
            let error = Array::parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_first_wrong_element_is_named() {
        let array = Array::parse("i16[3]=7").expect("an array");
        let expected = array.expected("-1").expect("a number");
        let found = [255, 255, 5, 0, 255, 255];
        assert_eq!(array.difference(&found, &expected).as_deref(), Some("element 1 is 5, not -1"));
    }
}
