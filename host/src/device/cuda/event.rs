//! Events: points in streams that the host and other streams can wait for.

use super::Cuda;
use crate::device::DeviceError;
use libcuda::{CUDA_ERROR_NOT_READY, CUevent, CUevent_flags, CUresult, CUstream};
use std::{ptr, sync::Arc};

/// An event of the driver, destroyed when dropped.
pub(super) struct Event(CUevent);

// SAFETY: the driver API may be called from any thread on which the context is current.
unsafe impl Send for Event {}
// SAFETY: the driver API may be called from any thread on which the context is current, and calls
// on one event may come from several threads.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event in the current context.
    pub(super) fn new(flags: CUevent_flags) -> Result<Self, DeviceError> {
        let mut event = ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for writes.
        let made = unsafe { libcuda::cuEventCreate(&raw mut event, flags) };
        DeviceError::check(made, || "making an event".into())?;
        Ok(Self(event))
    }

    /// Marks the work submitted to `stream` so far.
    pub(super) fn record(&self, stream: CUstream) -> Result<(), DeviceError> {
        // SAFETY: both are live.
        let result = unsafe { libcuda::cuEventRecord(self.0, stream) };
        DeviceError::check(result, || "recording an event".into())
    }

    /// Waits until the marked work is done.
    pub(super) fn synchronize(&self) -> CUresult {
        // SAFETY: the event is live.
        unsafe { libcuda::cuEventSynchronize(self.0) }
    }

    /// Makes later work in `stream` wait for the marked work.
    pub(super) fn let_wait(&self, stream: CUstream) -> Result<(), DeviceError> {
        // SAFETY: both are live; flags are not used.
        let result = unsafe { libcuda::cuStreamWaitEvent(stream, self.0, 0) };
        DeviceError::check(result, || "waiting for an event".into())
    }

    /// Microseconds from `start` to this event. Both have happened, and have timestamps.
    pub(super) fn microseconds_since(&self, start: &Self) -> Result<f64, DeviceError> {
        let mut milliseconds = 0.0;
        // SAFETY: the pointer to the number is valid for writes, and both events are live.
        let result = unsafe { libcuda::cuEventElapsedTime(&raw mut milliseconds, start.0, self.0) };
        DeviceError::check(result, || "asking for the time between two events".into())?;
        Ok(f64::from(milliseconds) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle belongs to a live event and is destroyed only here. A failure means
        // that the context is already gone.
        let _lost = unsafe { libcuda::cuEventDestroy_v2(self.0) };
    }
}

/// A point in the stream of a device.
pub(in crate::device) struct Mark {
    // Fields drop in order: the event is destroyed before its context.
    event: Event,
    cuda: Arc<Cuda>,
}

impl Mark {
    /// Marks the work submitted to the stream of `cuda` so far.
    pub(super) fn new(cuda: Arc<Cuda>) -> Result<Self, DeviceError> {
        let event = {
            // Between two launches that wait for each other, the event would be after one and
            // before the other.
            let _turn = cuda.gpu.turn();
            let _entered = cuda.stream.gate.unrecorded("recording an event")?;
            cuda.gpu.enter()?;
            let event = Event::new(libcuda::CU_EVENT_DEFAULT)?;
            event.record(cuda.stream.raw())?;
            event
        };
        Ok(Self { event, cuda })
    }

    /// Whether the marked work is done.
    pub(in crate::device) fn is_done(&self) -> Result<bool, DeviceError> {
        self.cuda.gpu.enter()?;
        // SAFETY: the event is live.
        match unsafe { libcuda::cuEventQuery(self.event.0) } {
            CUDA_ERROR_NOT_READY => Ok(false),
            result => {
                let doing = || self.cuda.after_last("asking whether an event has happened");
                DeviceError::check(result, doing).map(|()| true)
            }
        }
    }

    /// Waits until the marked work is done.
    pub(in crate::device) fn synchronize(&self) -> Result<(), DeviceError> {
        self.cuda.gpu.enter()?;
        self.cuda.gpu.watch_others_until(|| self.is_done())?;
        DeviceError::check(self.event.synchronize(), || {
            self.cuda.after_last("waiting for an event")
        })
    }

    /// Microseconds from `start` to this mark. Both are done, and belong to one context.
    pub(in crate::device) fn microseconds_since(&self, start: &Self) -> Result<f64, DeviceError> {
        self.cuda.gpu.enter()?;
        self.event.microseconds_since(&start.event)
    }

    /// Makes later work in the stream of `cuda` wait for this mark.
    pub(super) fn let_wait(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        // The marked work may wait for another GPU, forever if that fails. No copy may get behind
        // it.
        let _turn = cuda.gpu.turn_alone();
        let _entered = cuda.stream.gate.unrecorded("waiting for an event")?;
        cuda.gpu.enter()?;
        self.event.let_wait(cuda.stream.raw())
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // The event can be destroyed only while the context is current. After a fault the driver
        // frees everything when the process exits.
        let _lost = self.cuda.gpu.enter_to_free();
    }
}
