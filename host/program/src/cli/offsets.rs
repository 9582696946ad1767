//! Offsets of segments, from a file.

use super::exit::Usage;
use super::job::Job;
use crate::data::{Dtype, Input, Scalar};
use gridsync::memory::{self, NoRoom};
use std::ffi::OsString;

/// The offsets in the file `path` of the segments of an array of `len` elements: segment i has the
/// elements from offset i up to, but without, offset i + 1.
pub(super) fn offsets(job: &Job<'_>, path: &OsString, len: usize) -> anyhow::Result<Vec<u64>> {
    let input = job.open(path, None)?;
    let (name, dtype) = (Input::parse(path), input.dtype());
    let array = input.all()?;
    let offsets = match dtype {
        Dtype::I32 => numbers::<i32>(array.as_slice()?)?,
        Dtype::U32 => numbers::<u32>(array.as_slice()?)?,
        Dtype::I64 => numbers::<i64>(array.as_slice()?)?,
        Dtype::U64 => numbers::<u64>(array.as_slice()?)?,
        other => {
            return Err(Usage(format!("{name}: offsets are integers, not {other}")).into());
        }
    };
    if let Some(wrong) = wrong(&offsets, len) {
        return Err(Usage(format!("{name}: {wrong}")).into());
    }
    // None is negative.
    Ok(offsets.into_iter().map(|offset| offset as u64).collect())
}

fn numbers<T: Scalar + Into<i128>>(offsets: &[T]) -> Result<Vec<i128>, NoRoom> {
    let mut numbers = Vec::new();
    memory::reserve(&mut numbers, offsets.len())?;
    numbers.extend(offsets.iter().map(|&offset| offset.into()));
    Ok(numbers)
}

/// Why these are not the offsets of segments of `len` elements, if they are not.
fn wrong(offsets: &[i128], len: usize) -> Option<String> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Some("there are no offsets: segments start with 0".into());
    };
    if first != 0 {
        return Some(format!("the first offset is {first}: segments start with 0"));
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        let [before, offset] = [offsets[at], offsets[at + 1]];
        let at = at + 1;
        return Some(format!("offset {at} is {offset}, less than the one before, {before}"));
    }
    let is_whole = last == len as i128;
    (!is_whole).then(|| {
        format!("the last offset is {last}, but the array has {len} elements: give one more offset, or fewer")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_begin_with_0_ascend_and_end_with_the_length() {
        assert_eq!(wrong(&[0], 0), None);
        assert_eq!(wrong(&[0, 0, 5, 5, 7], 7), None);
        for (offsets, expected) in [
            (&[] as &[i128], "no offsets"),
            (&[1, 7], "first offset is 1"),
            (&[-1, 7], "first offset is -1"),
            (&[0, 5, 4, 7], "offset 2 is 4, less than the one before, 5"),
            (&[0, 5], "last offset is 5, but the array has 7"),
            (&[0, 9], "last offset is 9, but the array has 7"),
        ] {
            let found = wrong(offsets, 7).unwrap_or_default();
            assert!(found.contains(expected), "{offsets:?}: {found}");
        }
    }
}
