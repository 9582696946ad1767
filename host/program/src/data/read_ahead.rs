//! Reads the first bytes of an array before they are needed.

use super::{DataError, Incoming};
use std::io::{self, Cursor, Read};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Bytes to read at a time.
const AT_ONCE: usize = 1 << 20;

/// An array whose first bytes are read by a thread until it is [taken](Self::take).
pub struct ReadAhead {
    is_wanted: Arc<AtomicBool>,
    thread: JoinHandle<Incoming>,
}

impl ReadAhead {
    /// Begins to read `input`, at most about `most` bytes of it. An error is reported when the
    /// elements that it concerns are read.
    ///
    /// # Errors
    /// [`DataError::NoThread`].
    pub fn begin(mut input: Incoming, most: usize) -> Result<Self, DataError> {
        let is_wanted = Arc::new(AtomicBool::new(false));
        let is_enough = Arc::clone(&is_wanted);
        let thread = thread::Builder::new().spawn(move || {
            input.read_ahead(|bytes| bytes >= most || is_enough.load(Ordering::Relaxed));
            input
        });
        let thread = thread.map_err(|cause| DataError::NoThread { cause })?;
        Ok(Self { is_wanted, thread })
    }

    /// The array, including the bytes read so far. Waits for a read in progress.
    ///
    /// # Panics
    /// If the reading thread panicked.
    #[must_use]
    pub fn take(self) -> Incoming {
        self.is_wanted.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|payload| resume_unwind(payload))
    }
}

/// A reader of the same bytes as `reader`, some of which have been read in advance: until
/// `is_enough` returned true for their number, or until the end.
pub(super) fn ahead(
    mut reader: Box<dyn Read + Send>,
    is_enough: impl Fn(usize) -> bool,
) -> Box<dyn Read + Send> {
    let mut read = Vec::new();
    let mut failed = None;
    while !is_enough(read.len()) {
        let before = read.len();
        // Bytes that do not fit in memory now are read later.
        if gridsync::memory::reserve(&mut read, AT_ONCE).is_err() {
            break;
        }
        read.resize(before + AT_ONCE, 0);
        let more = reader.read(&mut read[before..]);
        read.truncate(before + *more.as_ref().unwrap_or(&0));
        match more {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    Box::new(Cursor::new(read).chain(Fails(failed)).chain(reader))
}

/// Returns an error once, and no bytes.
struct Fails(Option<io::Error>);

impl Read for Fails {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::Source;
    use crate::data::{Dtype, Input, Output, open, write_npy};

    /// Returns one of `pieces` at each read, then an error.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("the end of the wire"));
            }
            let piece = self.0.remove(0);
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn bytes_read_ahead_come_before_an_error() {
        let pieces = || Pieces(vec![vec![1, 2], vec![3], vec![4, 5, 6]]);
        for enough in [0, 1, 3, 6, 99] {
            let mut reader = ahead(Box::new(pieces()), |bytes| bytes >= enough);
            let mut all = Vec::new();
            let error = reader.read_to_end(&mut all).expect_err("the end").to_string();
            assert_eq!((&all[..], &*error), (&[1, 2, 3, 4, 5, 6][..], "the end of the wire"));
        }
    }

    #[test]
    fn reading_ahead_keeps_elements_and_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let values: Vec<u32> = (0..1_000_000).collect();
        let bytes = bytemuck::cast_slice(&values);
        write_npy(&Output::parse(&path), Dtype::U32, &[1_000_000], bytes).unwrap();
        for most in [0, 1, 2 << 20, 1 << 30] {
            let input = open(&Input::parse(&path), None).unwrap();
            let array = ReadAhead::begin(input, most).unwrap().take().all().unwrap();
            assert!(array.as_slice::<u32>().unwrap() == values, "{most} bytes ahead");
            let mut input =
                ReadAhead::begin(open(&Input::parse(&path), None).unwrap(), most).unwrap().take();
            input.skip(999_999).unwrap();
            let mut last = [0; 4];
            input.next(&mut last).unwrap();
            assert_eq!(u32::from_le_bytes(last), 999_999);
        }
        let mut short = std::fs::read(&path).unwrap();
        short.truncate(1000);
        let pipe = Cursor::new(short);
        let input = Source::new(&Input::Stdin, pipe, None).open(None).unwrap();
        let failed = ReadAhead::begin(input, 1 << 20).unwrap().take().all();
        assert!(matches!(failed, Err(DataError::Truncated { .. })), "{failed:?}");
    }
}
