//! Reads a packed image.

use crate::error::ImageError;
use crate::frame::Frame;
use crate::group;
use crate::numbers::Numbers;
use std::collections::BTreeMap;

/// The format that this version writes and reads.
pub(crate) const FORMAT: u32 = 2;

/// The beginning of the last line of the head.
pub(crate) const PACKED: &str = "// packed: ";

/// The most bytes that are searched for the end of the head.
const LONGEST_HEAD: usize = 64 << 10;

/// The contents of the head.
pub(crate) struct Head<'a> {
    /// All of its lines.
    pub(crate) text: &'a str,
    pub(crate) compute: u32,
}

impl<'a> Head<'a> {
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, ImageError> {
        let damaged = |what: &str| damage(file, "head", 0, what.into());
        let start = &file[..file.len().min(LONGEST_HEAD)];
        let end = start.windows(2).position(|two| two == b"\n\n");
        let end = end.ok_or_else(|| damaged("no empty line ends it"))?;
        let text = str::from_utf8(&file[..=end]).map_err(|error| damaged(&error.to_string()))?;
        let line = text.lines().next_back().unwrap_or_default();
        let invalid = || damaged(&format!("`{line}` does not state the format and the target"));
        let rest = line.strip_prefix(PACKED).and_then(|rest| rest.strip_prefix("format "));
        let (format, rest) = rest.and_then(|rest| rest.split_once(", ")).ok_or_else(invalid)?;
        let found = format.parse().map_err(|_| invalid())?;
        if found != FORMAT {
            let known = FORMAT;
            return Err(ImageError::Format { found, known });
        }
        let compute = rest.strip_prefix("compute_").and_then(|digits| digits.parse().ok());
        Ok(Self { text, compute: compute.ok_or_else(invalid)? })
    }
}

/// A packed image: its index, and its groups still packed.
pub(crate) struct Packed<'a> {
    pub(crate) compute: u32,
    pub(crate) prelude: String,
    pub(crate) entries: BTreeMap<String, Place>,
    file: &'a [u8],
    groups: Vec<Frame<'a>>,
}

/// The lines `first..first + count` of a group.
pub(crate) struct Place {
    group: usize,
    first: usize,
    count: usize,
}

impl<'a> Packed<'a> {
    pub(crate) fn open(file: &'a [u8]) -> Result<Self, ImageError> {
        let head = Head::read(file)?;
        let start = head.text.len() + 1;
        let in_index = |what| damage(file, "index", start, what);
        let (index, mut at) = Frame::read(file, start).map_err(in_index)?;
        let mut groups = Vec::new();
        while at < file.len() {
            let (group, end) =
                Frame::read(file, at).map_err(|what| damage(file, "group", at, what))?;
            groups.push(group);
            at = end;
        }
        let index = index.unpack().map_err(in_index)?;
        let index = index
            .strip_prefix(&file[..start])
            .ok_or_else(|| damage(file, "head", 0, "the index has another head".into()))?;
        let index = str::from_utf8(index).map_err(|error| in_index(error.to_string()))?;
        let mut entries = BTreeMap::new();
        let mut rest = index;
        loop {
            let (line, after) =
                rest.split_once('\n').ok_or_else(|| in_index("no empty line ends it".into()))?;
            rest = after;
            if line.is_empty() {
                break;
            }
            let (name, place) = Place::read(line, groups.len()).ok_or_else(|| {
                in_index(format!("`{line}` is not a kernel of {} groups", groups.len()))
            })?;
            entries.insert(name.to_owned(), place);
        }
        Ok(Self { compute: head.compute, prelude: rest.to_owned(), entries, file, groups })
    }

    /// The text of a kernel at `place`.
    pub(crate) fn unpack(&self, place: &Place) -> Result<String, ImageError> {
        let frame = &self.groups[place.group];
        let damaged = |what| damage(self.file, "group", frame.offset, what);
        let bytes = frame.unpack().map_err(damaged)?;
        let lines = group::lines(&bytes, place.first, place.count).map_err(damaged)?;
        restore(&lines).map_err(damaged)
    }
}

impl Place {
    /// Reads a line of the index: the name of a kernel, and its place.
    fn read(line: &str, groups: usize) -> Option<(&str, Self)> {
        let (name, numbers) = line.split_once(' ')?;
        let numbers: Result<Vec<usize>, _> = numbers.split(' ').map(str::parse).collect();
        let [group, first, count] = numbers.ok()?.try_into().ok()?;
        (group < groups).then_some((name, Self { group, first, count }))
    }
}

/// The text of a kernel from its packed lines, or what is wrong.
pub(crate) fn restore(lines: &[&str]) -> Result<String, String> {
    let mut text = String::new();
    let mut numbers = Numbers::default();
    for (at, line) in lines.iter().enumerate() {
        numbers
            .restore(line, &mut text)
            .ok_or_else(|| format!("line {at} has a rank without a register"))?;
        text.push('\n');
    }
    Ok(text)
}

fn damage(file: &[u8], part: &'static str, offset: usize, what: String) -> ImageError {
    ImageError::Damaged { what, part, offset, bytes: file.len() }
}
