//! Reads a packed image.

use crate::error::ImageError;
use crate::frame::{Frame, LARGEST};
use crate::group;
use crate::numbers::Numbers;
use crate::pack::NAME;
use std::collections::BTreeMap;

/// The format that this version writes and reads.
pub(crate) const FORMAT: u32 = 1;

/// The beginning of the last line of the head.
pub(crate) const PACKED: &str = "// packed: ";

/// The most bytes that are searched for the end of the head.
const LONGEST_HEAD: usize = 64 << 10;

/// The contents of the head.
pub(crate) struct Head<'a> {
    /// All of its lines.
    pub(crate) text: &'a str,
    pub(crate) set: &'a str,
    pub(crate) compute: u32,
    /// The compute capability of the image that has the other kernels.
    pub(crate) below: Option<u32>,
}

impl<'a> Head<'a> {
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, ImageError> {
        let damaged = |what: &str| damage(file, "head", 0, what.into());
        let start = &file[..file.len().min(LONGEST_HEAD)];
        let end = start.windows(2).position(|two| two == b"\n\n");
        let end = end.ok_or_else(|| damaged("no empty line ends it"))?;
        let text = str::from_utf8(&file[..=end]).map_err(|error| damaged(&error.to_string()))?;
        let line = text.lines().next_back().unwrap_or_default();
        let strange = || damaged(&format!("`{line}` is no line that says what is packed"));
        let said = line.strip_prefix(PACKED).ok_or_else(strange)?;
        let (format, said) = said.split_once(", set ").ok_or_else(strange)?;
        let format = format.strip_prefix("format ").ok_or_else(strange)?;
        let found = format.parse().map_err(|_| strange())?;
        if found != FORMAT {
            let known = FORMAT;
            return Err(ImageError::Format { found, known });
        }
        let (set, said) = said.split_once(", compute_").ok_or_else(strange)?;
        let (compute, below) = match said.split_once(" above compute_") {
            Some((compute, below)) => (compute, Some(below)),
            None => (said, None),
        };
        let number = |digits: &str| digits.parse().map_err(|_| strange());
        let compute = number(compute)?;
        let below = below.map(number).transpose()?;
        if below.is_some_and(|below| below >= compute) {
            return Err(strange());
        }
        Ok(Self { text, set, compute, below })
    }
}

/// A packed image: its index, and its groups still packed.
pub(crate) struct Packed<'a> {
    pub(crate) head: Head<'a>,
    pub(crate) prelude: String,
    pub(crate) entries: BTreeMap<String, Entry>,
    file: &'a [u8],
    groups: Vec<Frame<'a>>,
}

/// A kernel in the index.
pub(crate) struct Entry {
    crc: u32,
    length: usize,
    pub(crate) place: Place,
}

/// Where the text of a kernel is.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Here { group: usize, first: usize, count: usize },
    Below,
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
        let index = str::from_utf8(&index).map_err(|error| in_index(error.to_string()))?;
        let no_end = || in_index("no empty line ends it".into());
        let (crc, index) = index.split_once('\n').ok_or_else(no_end)?;
        let of_head = checksum(head.text);
        if crc != of_head {
            let what = format!("CRC-32 {of_head} instead of {crc:.8}");
            return Err(damage(file, "head", 0, what));
        }
        let (kernels, prelude) = match index.strip_prefix('\n') {
            Some(prelude) => ("", prelude),
            None => index.split_once("\n\n").ok_or_else(no_end)?,
        };
        let mut entries = BTreeMap::new();
        for line in kernels.lines() {
            let (name, entry) =
                Entry::read(line, &groups, head.below.is_some()).ok_or_else(|| {
                    in_index(format!("`{line}` is no kernel of {} groups", groups.len()))
                })?;
            entries.insert(name.to_owned(), entry);
        }
        Ok(Self { prelude: prelude.to_owned(), head, entries, file, groups })
    }

    /// The text of a kernel that this image holds.
    pub(crate) fn unpack(
        &self,
        name: &str,
        length: usize,
        [group, first, count]: [usize; 3],
    ) -> Result<String, ImageError> {
        let frame = &self.groups[group];
        let damaged = |what| damage(self.file, "group", frame.offset, what);
        let bytes = frame.unpack().map_err(damaged)?;
        let lines = group::lines(&bytes, first, count).map_err(damaged)?;
        restore(name, &lines, length).map_err(|what| damaged(format!("{what} in `{name}`")))
    }
}

impl Entry {
    /// Reads a line of the index.
    fn read<'a>(line: &'a str, groups: &[Frame<'_>], has_below: bool) -> Option<(&'a str, Self)> {
        let mut words = line.split(' ');
        let name = words.next()?;
        let crc = u32::from_str_radix(words.next()?, 16).ok()?;
        let length = words.next()?.parse().ok().filter(|&length| length <= LARGEST)?;
        let number = |word: &str| word.parse::<usize>().ok();
        let place = match words.next()? {
            "below" if has_below => Place::Below,
            group => Place::Here {
                group: number(group).filter(|&group| group < groups.len())?,
                first: number(words.next()?)?,
                count: number(words.next()?)?,
            },
        };
        let entry = Self { crc, length, place };
        (words.next().is_none() && !name.is_empty()).then_some((name, entry))
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Refuses a text that differs from the packed one.
    pub(crate) fn check(&self, kernel: &str, compute: u32, text: &str) -> Result<(), ImageError> {
        let found = crc32fast::hash(text.as_bytes());
        if (found, text.len()) == (self.crc, self.length) {
            return Ok(());
        }
        Err(ImageError::Mismatch {
            kernel: kernel.into(),
            compute,
            found,
            length: text.len(),
            packed: self.crc,
            packed_length: self.length,
        })
    }
}

/// The text of the kernel `name`, of `length` bytes, from its packed lines; or what is wrong.
pub(crate) fn restore(name: &str, lines: &[&str], length: usize) -> Result<String, String> {
    let mut nameless = String::with_capacity(length);
    let mut numbers = Numbers::default();
    for (at, line) in lines.iter().enumerate() {
        numbers
            .restore(line, &mut nameless)
            .ok_or_else(|| format!("line {at} has the rank of no register"))?;
        nameless.push('\n');
        if nameless.len() > length {
            return Err(format!("more than {length} bytes"));
        }
    }
    // The length is checked before the name goes in, so a damaged file cannot make the text long.
    let marks = nameless.matches(NAME).count();
    let found = nameless.len() - marks + marks * name.len();
    if found != length {
        return Err(format!("{found} bytes, not {length},"));
    }
    Ok(nameless.replace(NAME, name))
}

/// The CRC-32 of a text, in hex.
pub(crate) fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

fn damage(file: &[u8], part: &'static str, offset: usize, what: String) -> ImageError {
    ImageError::Damaged { what, part, offset, bytes: file.len() }
}
