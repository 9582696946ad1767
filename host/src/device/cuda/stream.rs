//! Streams, and what has to wait for them.

use super::{Cuda, graph::Capture, lock};
use crate::device::{DeviceError, gate::Gate};
use libcuda::CUstream;
use std::ptr;

/// The stream of a [`Cuda`], and the gate that its calls pass.
pub(super) struct Stream {
    pub(super) gate: Gate<Capture>,
    handle: OwnStream,
}

impl Stream {
    pub(super) fn new(handle: OwnStream) -> Self {
        Self { gate: Gate::default(), handle }
    }

    /// The stream as the driver knows it.
    pub(super) fn raw(&self) -> CUstream {
        self.handle.0
    }
}

/// A stream that was made here, destroyed when dropped, once it is empty.
pub(super) struct OwnStream(pub(super) CUstream);

// SAFETY: the driver API may be called from any thread on which the context is current.
unsafe impl Send for OwnStream {}
// SAFETY: as above; calls on one stream may come from several threads.
unsafe impl Sync for OwnStream {}

impl OwnStream {
    /// A stream of the current context, of the kind that also follows the default stream.
    pub(super) fn new() -> Result<Self, DeviceError> {
        let mut stream = ptr::null_mut();
        // SAFETY: the handle is there to be written; no flags, and the default priority.
        let made = unsafe { libcuda::cuStreamCreateWithPriority(&raw mut stream, 0, 0) };
        DeviceError::check(made, || "making a stream".into())?;
        Ok(Self(stream))
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        // SAFETY: the handle is of a live stream and is destroyed only here. The driver destroys it when
        // its work has ended. A failure means that the context is gone already.
        let _lost = unsafe { libcuda::cuStreamDestroy_v2(self.0) };
    }
}

impl Cuda {
    /// Frees memory, after the work in all streams that may still use it. While one of them is
    /// recorded, that waits until the recording has ended. On a device that is given up, where to wait
    /// is to hang, the memory stays.
    ///
    /// # Safety
    /// The address came from `alloc`, and has not been freed; nothing launched later uses the memory.
    pub(super) unsafe fn give_back(&self, address: u64) {
        for stream in self.gpu.streams() {
            let entered = stream.gate.either();
            if let Some(capture) = entered.recorded() {
                lock(&capture.freed).push(address);
                return;
            }
            if !self.gpu.enter_to_free() || self.watch_others(stream.raw()).is_err() {
                return;
            }
            // SAFETY: the stream is live. A failure belongs to an earlier call.
            let _waited = unsafe { libcuda::cuStreamSynchronize(stream.raw()) };
        }
        // SAFETY: the caller's promise, and the streams have been waited for. A failure belongs to an
        // earlier call.
        let _lost = unsafe { libcuda::cuMemFree_v2(address) };
    }

    /// Waits for everything in all streams of the GPU. One that is recorded was empty before and is still.
    pub(super) fn wait_for_all(&self) -> Result<(), DeviceError> {
        for stream in self.gpu.streams() {
            let entered = stream.gate.either();
            if entered.recorded().is_none() {
                self.gpu.enter()?;
                self.wait_for_stream(stream.raw(), "waiting for all streams")?;
            }
        }
        Ok(())
    }
}
