//! Streams: who made them, and what has to wait for them.

use super::{Cuda, gpu::Gpu, graph::Capture, lock};
use crate::device::{DeviceError, gate::Gate};
use libcuda::{CUDA_ERROR_NOT_READY, CUstream, CUstream_st};
#[cfg(feature = "cust")]
use std::sync::Arc;
use std::{any::Any, mem, ptr};

/// The stream of a [`Cuda`], and the gate that its calls pass.
pub(super) struct Stream {
    pub(super) gate: Gate<Capture>,
    handle: Handle,
}

/// A stream, by who destroys it.
pub(super) enum Handle {
    /// This library.
    Own(OwnStream),
    /// cust, when the last one who shares it has dropped it.
    #[cfg(feature = "cust")]
    Cust(Arc<cust::stream::Stream>),
    /// Somebody else.
    Raw(RawStream),
}

impl Handle {
    /// The stream as the driver knows it.
    pub(super) fn raw(&self) -> CUstream {
        match self {
            Self::Own(stream) => stream.0,
            #[cfg(feature = "cust")]
            Self::Cust(stream) => stream.as_inner().cast(),
            Self::Raw(stream) => stream.0,
        }
    }
}

/// A stream that somebody else destroys.
pub(super) struct RawStream(pub(super) CUstream);

// SAFETY: the driver API may be called from any thread on which the context is current.
unsafe impl Send for RawStream {}
// SAFETY: as above; calls on one stream may come from several threads.
unsafe impl Sync for RawStream {}

impl Stream {
    pub(super) fn new(handle: Handle) -> Self {
        Self { gate: Gate::default(), handle }
    }

    /// The stream as the driver knows it.
    pub(super) fn raw(&self) -> CUstream {
        self.handle.raw()
    }

    /// Whether it is the default stream, which cannot be recorded.
    pub(super) fn is_default(&self) -> bool {
        self.raw().is_null() || self.raw() == LEGACY
    }
}

/// The handle that names the default stream, as null does (`CU_STREAM_LEGACY`).
const LEGACY: CUstream = ptr::without_provenance_mut::<CUstream_st>(1);

/// The handle that names another default stream in each thread (`CU_STREAM_PER_THREAD`).
pub(super) const PER_THREAD: CUstream = ptr::without_provenance_mut::<CUstream_st>(2);

/// A stream that was made here, destroyed when dropped, once it is empty.
pub(super) struct OwnStream(pub(super) CUstream);

// SAFETY: as for `RawStream`.
unsafe impl Send for OwnStream {}
// SAFETY: as for `RawStream`.
unsafe impl Sync for OwnStream {}

impl OwnStream {
    /// A stream of the current context, of the kind that also follows the default stream: cust's
    /// copies are in that one.
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

/// Memory that is given back once no stream uses it any more.
pub(super) enum Given {
    /// It came from `alloc`.
    Allocation(u64),
    /// Its owner knows what to do.
    Owner(Box<dyn Any + Send + Sync>),
}

impl Given {
    /// Frees it. The context of `gpu` is current.
    ///
    /// # Safety
    /// Nothing uses it, and an allocation came from `alloc` and is freed only now.
    unsafe fn free(self, gpu: &Gpu) {
        match self {
            Self::Allocation(address) => {
                // The driver may wait for the device, and lets others wait until then.
                let _turn = gpu.turn();
                // SAFETY: the caller's promise. A failure belongs to an earlier call.
                let _lost = unsafe { libcuda::cuMemFree_v2(address) };
            }
            Self::Owner(owner) => drop(owner),
        }
    }
}

/// Asks whether everything in a stream is done. Its context is current, and the stream is not recorded.
pub(super) fn is_done(
    stream: CUstream,
    during: impl FnOnce() -> String,
) -> Result<bool, DeviceError> {
    // SAFETY: the caller gives a stream that is live.
    match unsafe { libcuda::cuStreamQuery(stream) } {
        CUDA_ERROR_NOT_READY => Ok(false),
        result => DeviceError::check(result, during).map(|()| true),
    }
}

impl Gpu {
    /// Waits for a stream that may use what is to be given back. Makes the context current. Returns whether the
    /// stream has ended: not on a device that is given up.
    fn has_ended(&self, stream: &Stream) -> bool {
        let is_done = || is_done(stream.raw(), || "waiting for what may use memory".into());
        if !self.enter_to_free() || self.watch_others_until(is_done).is_err() {
            return false;
        }
        // With others, that has waited already.
        if !self.works_together() {
            // SAFETY: the stream is live. A failure belongs to an earlier call.
            let _waited = unsafe { libcuda::cuStreamSynchronize(stream.raw()) };
        }
        true
    }

    /// Waits for all streams. One that is recorded was empty before and is still. Returns whether they have ended.
    pub(super) fn have_all_ended(&self) -> bool {
        self.streams().iter().all(|stream| {
            let entered = stream.gate.either();
            entered.recorded().is_some() || self.has_ended(stream)
        })
    }
}

impl Cuda {
    /// Gives memory back, after the work in all streams that may still use it: those of the GPU, and of
    /// those that work with it, which reach its memory. While a stream of the GPU is recorded, that waits until
    /// the recording has ended. On a device that is given up, where to wait is to hang, the memory stays.
    ///
    /// # Safety
    /// An allocation came from `alloc`, and has not been freed; nothing launched later uses the memory.
    pub(super) unsafe fn give_back(&self, given: Given) {
        for stream in self.gpu.streams() {
            let entered = stream.gate.either();
            if let Some(capture) = entered.recorded() {
                lock(&capture.given).push(given);
                return;
            }
            if !self.gpu.has_ended(&stream) {
                mem::forget(given);
                return;
            }
        }
        if !self.gpu.peers().all(|peer| peer.have_all_ended()) || !self.gpu.enter_to_free() {
            mem::forget(given);
            return;
        }
        // SAFETY: the caller's promise, and the streams have been waited for.
        unsafe { given.free(&self.gpu) };
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
