//! Copies between the host and a device, which are complete when they return.

use super::Cuda;
use super::event::Event;
use crate::device::DeviceError;
use libcuda::{CU_EVENT_DISABLE_TIMING, CUresult};

impl Cuda {
    /// Submits a copy to the stream with `put`, and waits for it. `what` and `doing` name it in
    /// errors.
    ///
    /// When this returns, the copy no longer uses the host's memory. If other GPUs may block the
    /// stream forever, the copy is submitted only once the stream is empty.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    pub(super) fn copy(
        &self,
        what: &'static str,
        doing: impl Fn() -> String,
        put: impl Fn() -> CUresult,
    ) -> Result<(), DeviceError> {
        loop {
            let turn = self.gpu.turn();
            let _entered = self.stream.gate.unrecorded(what)?;
            self.gpu.enter()?;
            let Some(turn) = turn else {
                DeviceError::check(put(), || self.after_last(&doing()))?;
                return self.wait(&doing());
            };
            let is_done = self.is_done(self.raw_stream());
            if is_done != Ok(true) {
                drop(turn);
                self.watch_others(self.raw_stream())?;
                is_done?;
                continue;
            }
            let ended = Event::new(CU_EVENT_DISABLE_TIMING)?;
            DeviceError::check(put(), || self.after_last(&doing()))?;
            if let Err(error) = ended.record(self.raw_stream()) {
                // SAFETY: the stream is live. There is already an error to report.
                let _waited = unsafe { libcuda::cuStreamSynchronize(self.raw_stream()) };
                return Err(error);
            }
            // After this, work that waits for other GPUs may enter the stream. The event does not
            // include it.
            drop(turn);
            return DeviceError::check(ended.synchronize(), || self.after_last(&doing()));
        }
    }
}
