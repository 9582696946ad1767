//! Writes a packed image.

use crate::error::PackError;
use crate::frame::{Frame, LARGEST};
use crate::group::{Builder, MOST_LINES};
use crate::normal::normal;
use crate::numbers::{Numbers, in_names};
use crate::packed::{FORMAT, PACKED, checksum, restore};
use crate::text::{Parts, head};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

/// The mark for the kernel's own name. PTX does not use this character.
pub(crate) const NAME: char = '`';

/// The most bytes of a kernel. With two more bytes for each of its lines it still fits into a
/// frame.
const MOST_BYTES: usize = LARGEST / 4;

/// Packs the kernels of `ptx`, the compiler's text, as an image of `set`.
///
/// `below` is the text of the next lower image of the set. With it, only kernels that have another
/// normal text there are packed, and the image works only together with that one.
///
/// The same arguments give the same bytes with the same version of the compression library.
///
/// # Errors
/// If a text has no target, `below` is not for a lower one, the name of the set is not one word, or
/// a kernel cannot be packed.
pub fn pack(set: &str, ptx: &str, below: Option<&str>) -> Result<Vec<u8>, PackError> {
    let compute = target(ptx)?;
    if set.is_empty() || !set.chars().all(in_names) {
        return Err(PackError::BadSet { set: set.into() });
    }
    let parts = Parts::of(ptx);
    let lower = below.map(Parts::of);
    let mut above = String::new();
    if let Some(below) = below.map(target).transpose()? {
        if below >= compute {
            return Err(PackError::NotBelow { compute, below });
        }
        above = format!(" above compute_{below}");
    }

    let mut hidden = BTreeMap::new();
    let mut lengths = BTreeMap::new();
    for (name, entry) in &parts.entries {
        let text = normal(entry);
        let crc = crc32fast::hash(text.as_bytes());
        lengths.insert(*name, (crc, text.len()));
        let lower = lower.as_ref().and_then(|lower| lower.entries.get(name));
        if lower.is_none_or(|lower| normal(lower) != text) {
            hidden.insert(*name, hide(name, &text)?);
        }
    }
    let (places, groups) = group(&hidden);
    let head = head(ptx);
    let head = format!("{head}{PACKED}format {FORMAT}, set {set}, compute_{compute}{above}\n");
    let mut index = checksum(&head) + "\n";
    for (name, (crc, length)) in &lengths {
        let place = match places.get(name) {
            Some([group, first, count]) => format!("{group} {first} {count}"),
            None => "below".into(),
        };
        writeln!(index, "{name} {crc:08x} {length} {place}").expect("a string takes everything");
    }
    index.push('\n');
    index.push_str(&parts.prelude);

    let mut file = (head + "\n").into_bytes();
    Frame::write(index.as_bytes(), &mut file);
    for group in &groups {
        Frame::write(&group.bytes(), &mut file);
    }
    Ok(file)
}

/// The capability in `.target sm_NN`.
fn target(ptx: &str) -> Result<u32, PackError> {
    let rest = ptx.lines().find_map(|line| line.strip_prefix(".target sm_"));
    let digits = rest.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.and_then(|digits| digits.parse().ok()).ok_or(PackError::NoTarget)
}

/// The normal text of a kernel in packed form: a mark for its name, ranks for registers and labels.
fn hide(name: &str, text: &str) -> Result<String, PackError> {
    let refused = || PackError::NotReversible { kernel: name.into() };
    let nameless = without_name(name, text);
    let mut numbers = Numbers::default();
    let mut hidden = String::with_capacity(text.len());
    for line in nameless.lines() {
        numbers.rank(line, &mut hidden).ok_or_else(refused)?;
        hidden.push('\n');
    }
    let distinct = hidden.lines().collect::<HashSet<_>>().len();
    let bytes = hidden.len().max(text.len());
    if distinct > MOST_LINES || bytes > MOST_BYTES {
        return Err(PackError::TooLarge {
            kernel: name.into(),
            bytes,
            most_bytes: MOST_BYTES,
            lines: distinct,
            most_lines: MOST_LINES,
        });
    }
    let back = restore(name, &hidden.lines().collect::<Vec<_>>(), text.len());
    if back.as_deref() != Ok(text) {
        return Err(refused());
    }
    Ok(hidden)
}

/// The text with a mark for each `name`, alone or at the start of a parameter's name.
fn without_name(name: &str, text: &str) -> String {
    let mut nameless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let whole = !before.ends_with(|c: char| in_names(c) || c == '%')
            && (!after.starts_with(in_names) || after.starts_with("_param_"));
        nameless.push_str(before);
        if whole {
            nameless.push(NAME);
        } else {
            nameless.push_str(name);
        }
        rest = after;
    }
    nameless.push_str(rest);
    nameless
}

/// Puts the kernels into groups, equal ones once. Each gets its group, first line number and count.
fn group<'a>(
    hidden: &'a BTreeMap<&'a str, String>,
) -> (HashMap<&'a str, [usize; 3]>, Vec<Builder<'a>>) {
    let mut groups: Vec<Builder<'a>> = Vec::new();
    let mut known: HashMap<&str, [usize; 3]> = HashMap::new();
    let mut places = HashMap::new();
    for (name, text) in hidden {
        let place = *known.entry(text).or_insert_with(|| {
            if !groups.last().is_some_and(|group| group.has_room(text)) {
                groups.push(Builder::default());
            }
            let at = groups.len() - 1;
            let (first, count) = groups[at].add(text);
            [at, first, count]
        });
        places.insert(*name, place);
    }
    (places, groups)
}
