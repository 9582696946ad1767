//! The gate that every call to a stream passes, and that a recording takes over while it lasts.

use super::DeviceError;
#[cfg(feature = "cuda")]
use std::sync::TryLockError;
use std::{
    sync::{PoisonError, RwLock, RwLockReadGuard},
    thread::{self, ThreadId},
};

/// Every call that touches a backend's stream passes this gate.
///
/// A backend has one stream, so a recording would also take up what other threads put there. One
/// thread at a time may record. Until the recording ends, this thread's launches become part of it.
/// Every other call, from this thread or another, is refused: it would end up in the graph or break
/// the recording. Calls hold the gate while they run, so that a recording begins between two calls.
#[derive(Debug)]
pub(super) struct Gate<R>(RwLock<Option<InProgress<R>>>);

/// A recording that has not ended yet.
#[derive(Debug)]
struct InProgress<R> {
    thread: ThreadId,
    recorded: R,
}

/// A call that was let through; no recording begins or ends before this is dropped.
pub(super) struct Entered<'a, R>(RwLockReadGuard<'a, Option<InProgress<R>>>);

impl<R> Entered<'_, R> {
    /// What is being recorded, if something is.
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
    /// Lets a call through that can become part of a recording; refuses it while another thread
    /// records.
    pub(super) fn recordable(&self, doing: &'static str) -> Result<Entered<'_, R>, DeviceError> {
        let entered = self.either();
        match &*entered.0 {
            Some(recording) if recording.thread != thread::current().id() => {
                Err(DeviceError::RecordingElsewhere { doing })
            }
            _ => Ok(entered),
        }
    }

    /// Lets a call through only while nobody records.
    pub(super) fn unrecorded(&self, doing: &'static str) -> Result<Entered<'_, R>, DeviceError> {
        let entered = self.recordable(doing)?;
        match entered.recorded() {
            Some(_) => Err(DeviceError::NotRecordable { doing }),
            None => Ok(entered),
        }
    }

    /// Lets a call through if nobody records, nor begins or ends to, and does not wait.
    #[cfg(feature = "cuda")]
    pub(super) fn unrecorded_now(&self) -> Option<Entered<'_, R>> {
        let entered = match self.0.try_read() {
            Ok(entered) => entered,
            Err(TryLockError::Poisoned(entered)) => entered.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        entered.is_none().then_some(Entered(entered))
    }

    /// Lets a call through in any case; it checks itself whether a thread records.
    pub(super) fn either(&self) -> Entered<'_, R> {
        Entered(self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this thread records.
    pub(super) fn is_recording(&self) -> bool {
        let entered = self.either();
        let recording = entered.0.as_ref();
        recording.is_some_and(|recording| recording.thread == thread::current().id())
    }

    /// Begins a recording by this thread, unless one has begun.
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

/// A recording that is under way. Dropping this ends it, whether its work succeeded or not.
pub(super) struct Recorder<'a, R>(Option<&'a Gate<R>>);

impl<R> Recorder<'_, R> {
    /// Ends the recording and gives what it recorded; none the second time.
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
