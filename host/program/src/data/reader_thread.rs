//! An array that is read ahead by a thread.

use super::{DataError, Incoming};
use gridsync::device::HostBuffer;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Parts that are read ahead while another one is processed.
const AHEAD: usize = 2;

/// The parts of an array, in order. The next ones are read while the caller computes.
///
/// After this is dropped, nothing more is read. Dropping does not wait for a read that waits for a
/// pipe.
pub struct Reading {
    filled: Receiver<Result<Part, DataError>>,
    empty: Sender<HostBuffer>,
    /// Parts not returned yet.
    left: usize,
}

/// The elements of a part, in a buffer to be [given back](Reading::give_back).
#[derive(Debug)]
pub struct Part {
    buffer: HostBuffer,
    bytes: usize,
}

impl Part {
    /// The elements.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.bytes]
    }

    /// The buffer, to be pinned.
    pub fn buffer(&mut self) -> &mut HostBuffer {
        &mut self.buffer
    }
}

impl Reading {
    /// Begins to read `input`, at most `part` elements at a time. An empty array has one empty
    /// part: reading it still checks that no bytes follow.
    ///
    /// # Errors
    /// [`DataError::OutOfMemory`] if a few parts do not fit in memory, [`DataError::NoThread`].
    pub fn begin(input: Incoming, part: usize) -> Result<Self, DataError> {
        let len = input.len();
        Self::begin_within(input, part, len)
    }

    /// Like [`begin`](Self::begin), for groups of `group` elements, such as the rows of a matrix:
    /// no part has elements of two groups. The last part of each group has the rest of it.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin).
    pub fn begin_within(mut input: Incoming, part: usize, group: usize) -> Result<Self, DataError> {
        let (size, len) = (input.size(), input.len());
        let group = group.max(1);
        let part = part.clamp(1, group);
        let in_group = group.div_ceil(part);
        let parts = (len.div_ceil(group) * in_group).max(1);
        let (fill, filled) = channel();
        let (empty, to_fill) = channel();
        for _ in 0..parts.min(1 + AHEAD) {
            let buffer = HostBuffer::zeroed(part.min(len).saturating_mul(size));
            let buffer = buffer.map_err(|no_room| input.no_room(no_room))?;
            // The receiver is in this function.
            let _sent = empty.send(buffer);
        }
        let reader = thread::Builder::new().spawn(move || {
            for number in 0..parts {
                let (of_group, number) = (number / in_group, number % in_group);
                let left = len.min((of_group + 1) * group) - (of_group * group + number * part);
                let bytes = part.min(left) * size;
                let Ok(buffer) = to_fill.recv() else {
                    return;
                };
                let mut read = Part { buffer, bytes };
                let result = input.next(&mut read.buffer.bytes_mut()[..bytes]);
                let failed = result.is_err();
                if fill.send(result.map(|()| read)).is_err() || failed {
                    return;
                }
            }
        });
        reader.map_err(|cause| DataError::NoThread { cause })?;
        Ok(Self { filled, empty, left: parts })
    }

    /// The next part, or `None` after the last one.
    ///
    /// # Errors
    /// As for [`Incoming::next`]. Nothing more is read after an error.
    ///
    /// # Panics
    /// After an error, and if the reading thread panicked.
    pub fn next_part(&mut self) -> Result<Option<Part>, DataError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let read = self.filled.recv().expect("the thread ends after the last part or an error");
        read.map(Some)
    }

    /// Returns the buffer, so that the next part can be read into it.
    pub fn give_back(&self, part: Part) {
        // After the last part, the buffer is not needed.
        let _not_needed = self.empty.send(part.buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dtype, Input, open};
    use std::fs;

    fn file_of(len: u32) -> (tempfile::TempDir, Input) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ramp.bin");
        let values: Vec<u32> = (0..len).collect();
        fs::write(&path, bytemuck::cast_slice::<u32, u8>(&values)).unwrap();
        (folder, Input::parse(&path))
    }

    #[test]
    fn parts_are_complete_and_in_order() {
        for (len, part) in [(1, 1), (10, 3), (10, 10), (10, 99), (1000, 7), (100_000, 4096)] {
            let (_folder, input) = file_of(len);
            let input = open(&input, Some(Dtype::U32)).unwrap();
            let mut reading = Reading::begin(input, part).unwrap();
            let mut all: Vec<u32> = Vec::new();
            while let Some(part) = reading.next_part().unwrap() {
                all.extend(bytemuck::cast_slice::<u8, u32>(part.bytes()));
                reading.give_back(part);
            }
            assert!(all.into_iter().eq(0..len), "{len} in parts of {part}");
        }
    }

    #[test]
    fn no_part_has_elements_of_two_groups() {
        for (groups, group, part) in [(1, 10, 3), (5, 10, 3), (7, 3, 3), (4, 5, 100), (3, 9, 4)] {
            let (_folder, input) = file_of(groups * group);
            let input = open(&input, Some(Dtype::U32)).unwrap();
            let group = group as usize;
            let mut reading = Reading::begin_within(input, part, group).unwrap();
            let mut all: Vec<u32> = Vec::new();
            while let Some(part) = reading.next_part().unwrap() {
                let left = group - all.len() % group;
                assert!(part.bytes().len() <= 4 * left, "{groups} of {group} in parts of {part:?}");
                all.extend(bytemuck::cast_slice::<u8, u32>(part.bytes()));
                reading.give_back(part);
            }
            assert!(all.into_iter().eq(0..groups * group as u32), "{groups} groups of {group}");
        }
    }

    #[test]
    fn an_empty_array_has_one_empty_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.npy");
        let output = crate::data::Output::parse(&path);
        crate::data::write_npy(&output, Dtype::F32, &[0], &[]).unwrap();
        let input = open(&Input::parse(&path), None).unwrap();
        let mut reading = Reading::begin(input, 100).unwrap();
        let part = reading.next_part().unwrap().unwrap();
        assert!(part.bytes().is_empty());
        reading.give_back(part);
        assert!(reading.next_part().unwrap().is_none());
    }

    #[test]
    fn a_shrinking_file_is_an_error_after_its_complete_parts() {
        let (folder, input) = file_of(100_000);
        let opened = open(&input, Some(Dtype::U32)).unwrap();
        let path = folder.path().join("ramp.bin");
        fs::File::options().write(true).open(path).unwrap().set_len(4000).unwrap();
        let mut reading = Reading::begin(opened, 500).unwrap();
        for _ in 0..2 {
            let part = reading.next_part().unwrap().unwrap();
            assert_eq!(part.bytes().len(), 2000);
            reading.give_back(part);
        }
        assert!(matches!(reading.next_part(), Err(DataError::Truncated { .. })));
    }

    #[test]
    fn a_reading_can_be_dropped_early() {
        let (_folder, input) = file_of(100_000);
        let mut reading = Reading::begin(open(&input, Some(Dtype::U32)).unwrap(), 10).unwrap();
        let part = reading.next_part().unwrap();
        assert!(part.is_some());
        drop(reading);
    }
}
