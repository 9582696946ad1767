//! Writes a packed image.

use crate::error::PackError;
use crate::frame::Frame;
use crate::group::{Builder, MOST_LINES};
use crate::normal::normal;
use crate::numbers::Numbers;
use crate::packed::{FORMAT, PACKED, restore};
use crate::text::{Parts, head};
use std::{collections::HashSet, fmt::Write as _};

/// Packs the kernels of `ptx`, the compiler's text.
///
/// The same text gives the same bytes with the same version of the compression library.
///
/// # Errors
/// If the text has no target, or a kernel cannot be packed.
pub fn pack(ptx: &str) -> Result<Vec<u8>, PackError> {
    let compute = target(ptx)?;
    let parts = Parts::of(ptx);
    let mut kernels = Vec::new();
    for (name, entry) in &parts.entries {
        kernels.push((*name, rank(name, &normal(entry))?));
    }
    let head = format!("{}{PACKED}format {FORMAT}, compute_{compute}\n\n", head(ptx));
    let mut index = head.clone();
    let mut groups: Vec<Builder<'_>> = Vec::new();
    for (name, text) in &kernels {
        if !groups.last().is_some_and(|group| group.has_room(text)) {
            groups.push(Builder::default());
        }
        let at = groups.len() - 1;
        let (first, count) = groups[at].add(text);
        writeln!(index, "{name} {at} {first} {count}").expect("writing to a string does not fail");
    }
    index.push('\n');
    index.push_str(&parts.prelude);

    let mut file = head.into_bytes();
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

/// The normal text of the kernel `name`, with ranks for registers and labels.
fn rank(name: &str, text: &str) -> Result<String, PackError> {
    let refused = || PackError::NotReversible { kernel: name.into() };
    let mut numbers = Numbers::default();
    let mut ranked = String::with_capacity(text.len());
    for line in text.lines() {
        numbers.rank(line, &mut ranked).ok_or_else(refused)?;
        ranked.push('\n');
    }
    let lines = ranked.lines().collect::<HashSet<_>>().len();
    if lines > MOST_LINES {
        return Err(PackError::TooLarge { kernel: name.into(), lines, most: MOST_LINES });
    }
    if restore(&ranked.lines().collect::<Vec<_>>()).as_deref() != Ok(text) {
        return Err(refused());
    }
    Ok(ranked)
}
