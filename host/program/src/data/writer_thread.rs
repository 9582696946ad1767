//! An array that is written by a thread.

use super::{DataError, Growing, Outgoing, Output};
use gridsync::device::HostBuffer;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// Buffers that are written or queued while another one is filled.
const LATER: usize = 2;

/// An array to which bytes are appended.
pub enum Destination {
    /// Its length is known from the start.
    Known(Outgoing),
    /// Its length is known only at the end.
    Growing(Growing),
}

impl Destination {
    fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        match self {
            Self::Known(file) => file.push(bytes),
            Self::Growing(file) => file.push(bytes),
        }
    }

    fn finish(self) -> Result<(), DataError> {
        match self {
            Self::Known(file) => file.finish(),
            Self::Growing(file) => file.finish(),
        }
    }
}

/// Writes an array while the caller computes the next elements.
///
/// If this is dropped before it is [finished](Self::finish), nothing is left of a file, as for
/// [`Outgoing`].
pub struct Writing {
    output: Output,
    /// `None` once there is nothing more to write.
    full: Option<Sender<(HostBuffer, usize)>>,
    written: Receiver<HostBuffer>,
    buffers: usize,
    thread: Option<JoinHandle<Result<Destination, DataError>>>,
}

impl Writing {
    /// Begins to write to `to`, a file or stream of `output`.
    ///
    /// # Errors
    /// [`DataError::NoThread`].
    pub fn begin(output: Output, mut to: Destination) -> Result<Self, DataError> {
        let (full, to_write) = channel::<(HostBuffer, usize)>();
        let (give_back, written) = channel();
        let thread = thread::Builder::new().spawn(move || {
            for (buffer, bytes) in to_write {
                to.push(&buffer.bytes()[..bytes])?;
                // After the last buffer, the receiver may be closed.
                let _not_wanted = give_back.send(buffer);
            }
            Ok(to)
        });
        let thread = thread.map_err(|cause| DataError::NoThread { cause })?;
        Ok(Self { output, full: Some(full), written, buffers: 0, thread: Some(thread) })
    }

    /// A buffer of at least `bytes` bytes, to be filled and [pushed](Self::push). If all are in
    /// use, waits until one has been written.
    ///
    /// # Errors
    /// [`DataError::NotHeld`], or the error of an earlier push.
    pub fn buffer(&mut self, bytes: usize) -> Result<HostBuffer, DataError> {
        let free = if self.buffers <= LATER {
            self.written.try_recv().ok()
        } else {
            Some(self.written.recv().map_err(|_| self.failure())?)
        };
        match free {
            Some(buffer) if buffer.bytes().len() >= bytes => Ok(buffer),
            free => {
                self.buffers += usize::from(free.is_none());
                drop(free);
                HostBuffer::zeroed(bytes)
                    .map_err(|no_room| DataError::NotHeld { output: self.output.clone(), no_room })
            }
        }
    }

    /// Queues the first `bytes` bytes of the buffer for writing.
    ///
    /// # Errors
    /// The error of an earlier push. An error of this one is returned later, at the latest from
    /// [`finish`](Self::finish).
    pub fn push(&mut self, buffer: HostBuffer, bytes: usize) -> Result<(), DataError> {
        let full = self.full.as_ref().expect("it is not finished");
        full.send((buffer, bytes)).map_err(|_| self.failure())
    }

    /// The error that ended the thread.
    fn failure(&mut self) -> DataError {
        match self.end() {
            Some(Err(error)) => error,
            _ => unreachable!("the thread ends early only with an error, which is told once"),
        }
    }

    /// Waits until the thread has written everything and exits. Returns `None` the second time.
    fn end(&mut self) -> Option<Result<Destination, DataError>> {
        self.full = None;
        let thread = self.thread.take()?;
        Some(thread.join().unwrap_or_else(|payload| resume_unwind(payload)))
    }

    /// Waits until everything is written, and finishes the array.
    ///
    /// # Errors
    /// As for [`Outgoing::push`] and [`Outgoing::finish`], or [`Growing`].
    ///
    /// # Panics
    /// After an error.
    pub fn finish(mut self) -> Result<(), DataError> {
        self.end().expect("an error ends the use of this")?.finish()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // If the thread kept running, the process could exit first and leave the partial file.
        let _given_up = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::create_raw;
    use std::fs;

    fn begin(path: &std::path::Path) -> Writing {
        let output = Output::parse(path);
        let file = Destination::Known(create_raw(&output).unwrap());
        Writing::begin(output, file).unwrap()
    }

    fn push(writing: &mut Writing, bytes: &[u8]) -> Result<(), DataError> {
        let mut buffer = writing.buffer(bytes.len())?;
        buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        writing.push(buffer, bytes.len())
    }

    #[test]
    fn parts_are_written_in_order_through_few_buffers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut writing = begin(&path);
        let parts: Vec<Vec<u8>> = (0..200u8).map(|n| vec![n; usize::from(n) * 50]).collect();
        for part in &parts {
            push(&mut writing, part).unwrap();
        }
        assert!(writing.buffers <= 1 + LATER, "{}", writing.buffers);
        writing.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), parts.concat());
    }

    #[test]
    fn dropping_a_writing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writing = begin(&folder.path().join("out"));
        push(&mut writing, &[1; 1000]).unwrap();
        drop(writing);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_fails_a_later_push_or_finish() {
        let mut writing = begin("/dev/full".as_ref());
        let failed = (0..100).find_map(|_| push(&mut writing, &[1; 1000]).err());
        let failed = failed.expect("the third buffer comes back only after the first is written");
        assert!(failed.to_string().contains("/dev/full"), "{failed}");
        drop(writing);
        let mut writing = begin("/dev/full".as_ref());
        push(&mut writing, &[1; 1000]).unwrap();
        writing.finish().unwrap_err();
    }
}
