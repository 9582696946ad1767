//! The gate that every call to a stream passes, and that a recording holds while it is in progress.

use super::DeviceError;
#[cfg(feature = "cuda")]
use std::sync::TryLockError;
use std::{
    sync::{PoisonError, RwLock, RwLockReadGuard},
    thread::{self, ThreadId},
};

/// Every call that touches a backend's stream passes this gate.
///
/// A backend has one stream, so a recording would also capture the work of other threads. One
/// thread at a time may record. Until the recording ends, this thread's launches become part of it.
/// Every other call, from this thread or another, is refused: it would end up in the graph or break
/// the recording. Calls hold the gate while they run, so a recording starts between two calls.
#[derive(Debug)]
pub(super) struct Gate<R>(RwLock<Option<InProgress<R>>>);

/// A recording in progress.
#[derive(Debug)]
struct InProgress<R> {
    thread: ThreadId,
    recorded: R,
}

/// A call that was admitted. No recording starts or ends before this is dropped.
pub(super) struct Entered<'a, R>(RwLockReadGuard<'a, Option<InProgress<R>>>);

impl<R> Entered<'_, R> {
    /// The state of the recording, if one is in progress.
    pub(super) fn recorded(&self) -> Option<&R> {
        self.0.as_ref().map(|recording| &recording.recorded)
    }
}

impl<R> Default for Gate<R> {
    fn default() -> Self {
        Self(RwLock::new(None))
    }
}

impl<R> Gate<R> {
    /// Admits a call that can become part of a recording. Refuses it while another thread is
    /// recording.
    pub(super) fn recordable(&self, doing: &'static str) -> Result<Entered<'_, R>, DeviceError> {
        let entered = self.either();
        match &*entered.0 {
            Some(recording) if recording.thread != thread::current().id() => {
                Err(DeviceError::RecordingElsewhere { doing })
            }
            _ => Ok(entered),
        }
    }

    /// Admits a call only while no thread is recording.
    pub(super) fn unrecorded(&self, doing: &'static str) -> Result<Entered<'_, R>, DeviceError> {
        let entered = self.recordable(doing)?;
        match entered.recorded() {
            Some(_) => Err(DeviceError::NotRecordable { doing }),
            None => Ok(entered),
        }
    }

    /// Admits a call if no thread is recording, or about to start or end a recording. Does not
    /// wait.
    #[cfg(feature = "cuda")]
    pub(super) fn unrecorded_now(&self) -> Option<Entered<'_, R>> {
        let entered = match self.0.try_read() {
            Ok(entered) => entered,
            Err(TryLockError::Poisoned(entered)) => entered.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        entered.is_none().then_some(Entered(entered))
    }

    /// Admits any call; the caller checks whether a thread is recording.
    pub(super) fn either(&self) -> Entered<'_, R> {
        Entered(self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this thread is recording.
    pub(super) fn is_recording(&self) -> bool {
        let entered = self.either();
        let recording = entered.0.as_ref();
        recording.is_some_and(|recording| recording.thread == thread::current().id())
    }

    /// Starts a recording on this thread, unless one is in progress.
    pub(super) fn begin(&self, recorded: R) -> Result<Recorder<'_, R>, DeviceError> {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let (me, doing) = (thread::current().id(), "recording a graph");
        match &*state {
            Some(recording) if recording.thread != me => {
                return Err(DeviceError::RecordingElsewhere { doing });
            }
            Some(_) => return Err(DeviceError::NotRecordable { doing }),
            None => {}
        }
        *state = Some(InProgress { thread: me, recorded });
        Ok(Recorder(Some(self)))
    }
}

/// A recording in progress. Dropping this ends it, whether its work succeeded or not.
pub(super) struct Recorder<'a, R>(Option<&'a Gate<R>>);

impl<R> Recorder<'_, R> {
    /// Ends the recording and returns its state, or `None` on the second call.
    pub(super) fn end(&mut self) -> Option<R> {
        let gate = self.0.take()?;
        let mut state = gate.0.write().unwrap_or_else(PoisonError::into_inner);
        state.take().map(|recording| recording.recorded)
    }
}

impl<R> Drop for Recorder<'_, R> {
    fn drop(&mut self) {
        drop(self.end());
    }
}
