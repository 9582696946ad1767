//! A `.npy` file whose length is not known yet.

use super::npy::header_bytes;
use super::outgoing::{Outgoing, npy_descr};
use super::{DataError, Dtype, Output};
use gridsync::memory::{self, NoRoom};

/// Bytes that many held elements leave for everything else, which would otherwise fail first, and with
/// an error that does not name the output. Few leave as much as they take.
const LEFT: usize = 32 << 20;

/// A `.npy` file of one dimension to which elements are appended. Their number is written to its
/// header when it is [finished](Self::finish). Otherwise like [`write_npy`](super::write_npy). A
/// stream cannot be rewound for the header, so that its elements are held in memory until the end.
pub struct Growing {
    output: Output,
    outgoing: Outgoing,
    dtype: Dtype,
    descr: &'static str,
    /// Elements so far.
    len: u64,
    /// The elements for a stream.
    held: Option<Vec<u8>>,
}

impl Growing {
    /// Begins a file of elements of `dtype`.
    ///
    /// # Errors
    /// [`DataError::NoNpyDescr`] for bf16, [`DataError::Write`] if the operating system fails.
    pub fn begin(output: &Output, dtype: Dtype) -> Result<Self, DataError> {
        let descr = npy_descr(output, dtype.into())?;
        let mut outgoing = Outgoing::begin(output)?;
        let held = if outgoing.is_file() {
            outgoing.push(&header_bytes(descr, &[0]))?;
            None
        } else {
            Some(Vec::new())
        };
        Ok(Self { output: output.clone(), outgoing, dtype, descr, len: 0, held })
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Elements so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no elements have been added so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends elements.
    ///
    /// # Errors
    /// [`DataError::Write`], and for a stream [`DataError::NotHeld`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.len += (bytes.len() / self.dtype.size()) as u64;
        match &mut self.held {
            Some(held) => {
                let output = &self.output;
                hold(held, bytes)
                    .map_err(|no_room| DataError::NotHeld { output: output.clone(), no_room })
            }
            None => self.outgoing.push(bytes),
        }
    }

    /// Writes the rest and finishes the file.
    ///
    /// # Errors
    /// [`DataError::Write`].
    pub fn finish(mut self) -> Result<(), DataError> {
        // All headers of one dimension have the same length, so this overwrites the first one
        // exactly.
        let header = header_bytes(self.descr, &[self.len]);
        match &self.held {
            Some(held) => {
                self.outgoing.push(&header)?;
                self.outgoing.push(held)?;
            }
            None => self.outgoing.write_at_start(&header)?,
        }
        self.outgoing.finish()
    }
}

/// Appends `bytes` to those held, if that leaves some memory.
fn hold(held: &mut Vec<u8>, bytes: &[u8]) -> Result<(), NoRoom> {
    let before = held.capacity();
    memory::reserve(held, bytes.len())?;
    if held.capacity() > before {
        memory::probe(LEFT.min(held.capacity()))?;
    }
    held.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Input, read};

    #[test]
    fn one_dimensional_headers_have_equal_lengths() {
        for descr in Dtype::ALL.into_iter().filter_map(Dtype::npy_descr) {
            for len in [1, 9, 10, u64::MAX] {
                let header = header_bytes(descr, &[len]);
                assert_eq!(header.len(), header_bytes(descr, &[0]).len(), "{len}");
            }
        }
    }

    #[test]
    fn a_grown_file_has_all_elements_and_their_number() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [0, 1, 3] {
            let path = folder.path().join("grown.npy");
            let mut file = Growing::begin(&Output::parse(&path), Dtype::U32).unwrap();
            let all: Vec<u32> = (0..1000 * pieces).collect();
            for piece in all.chunks(1000) {
                file.push(bytemuck::cast_slice(piece)).unwrap();
            }
            assert_eq!(file.len(), all.len() as u64);
            file.finish().unwrap();
            let array = read(&Input::parse(&path), None).unwrap();
            assert_eq!(array.as_slice::<u32>().unwrap(), all);
        }
    }

    #[test]
    fn dropping_a_growing_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grown.npy");
        let mut file = Growing::begin(&Output::parse(&path), Dtype::U32).unwrap();
        file.push(&[0; 4]).unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
