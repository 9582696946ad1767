//! Streams, their owners, and the waits before memory is freed.

use super::{Cuda, gpu::Gpu, gpu::Owner, graph::Capture, lock};
use crate::device::{DeviceError, gate::Gate};
use libcuda::{CUDA_ERROR_NOT_READY, CUstream, CUstream_st};
#[cfg(feature = "cust")]
use std::sync::Arc;
use std::{mem, ptr};

/// The stream of a [`Cuda`], and the gate that its calls pass.
pub(super) struct Stream {
    pub(super) gate: Gate<Capture>,
    handle: Handle,
}

/// A stream, by its owner.
pub(super) enum Handle {
    /// Owned by this library.
    Own(OwnStream),
    /// Owned by cust; destroyed when its last owner drops it.
    #[cfg(feature = "cust")]
    Cust(Arc<cust::stream::Stream>),
    /// Owned by the caller.
    Raw(RawStream),
}

impl Handle {
    /// The driver's handle of the stream.
    pub(super) fn raw(&self) -> CUstream {
        match self {
            Self::Own(stream) => stream.0,
            #[cfg(feature = "cust")]
            Self::Cust(stream) => stream.as_inner().cast(),
            Self::Raw(stream) => stream.handle,
        }
    }
}

/// A stream that the caller's owner destroys.
pub(super) struct RawStream {
    pub(super) handle: CUstream,
    pub(super) _owner: Owner,
}

// SAFETY: the driver API may be called from any thread on which the context is current.
unsafe impl Send for RawStream {}
// SAFETY: the driver API may be called from any thread on which the context is current, and calls
// on one stream may come from several threads.
unsafe impl Sync for RawStream {}

impl Stream {
    pub(super) fn new(handle: Handle) -> Self {
        Self { gate: Gate::default(), handle }
    }

    /// The driver's handle of the stream.
    pub(super) fn raw(&self) -> CUstream {
        self.handle.raw()
    }

    /// Whether it is the default stream, which cannot be recorded.
    pub(super) fn is_default(&self) -> bool {
        self.raw().is_null() || self.raw() == LEGACY
    }
}

/// The handle of the default stream, equivalent to null (`CU_STREAM_LEGACY`).
const LEGACY: CUstream = ptr::without_provenance_mut::<CUstream_st>(1);

/// The handle of the per-thread default stream (`CU_STREAM_PER_THREAD`).
pub(super) const PER_THREAD: CUstream = ptr::without_provenance_mut::<CUstream_st>(2);

/// A stream created here, destroyed when dropped, once it is empty.
pub(super) struct OwnStream(pub(super) CUstream);

// SAFETY: the driver API may be called from any thread on which the context is current.
unsafe impl Send for OwnStream {}
// SAFETY: the driver API may be called from any thread on which the context is current, and calls
// on one stream may come from several threads.
unsafe impl Sync for OwnStream {}

impl OwnStream {
    /// Creates a stream in the current context, of the kind that also follows the default stream,
    /// which cust uses for copies.
    pub(super) fn new() -> Result<Self, DeviceError> {
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for writes; flags are not used, and the
        // priority is the default.
        let made = unsafe { libcuda::cuStreamCreateWithPriority(&raw mut stream, 0, 0) };
        DeviceError::check(made, || "making a stream".into())?;
        Ok(Self(stream))
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        // SAFETY: the handle belongs to a live stream and is destroyed only here. The driver
        // destroys the stream when its work has ended. A failure means that the context is already
        // gone.
        let _lost = unsafe { libcuda::cuStreamDestroy_v2(self.0) };
    }
}

/// Memory to free once no stream uses it any more.
pub(super) enum Given {
    /// It came from `alloc`.
    Allocation(u64),
    /// Dropping its owner frees it.
    Owner(Owner),
}

impl Given {
    /// Frees it. The context of `gpu` must be current.
    ///
    /// # Safety
    /// Nothing uses it, and an allocation came from `alloc` and is freed only now.
    unsafe fn free(self, gpu: &Gpu) {
        match self {
            Self::Allocation(address) => {
                // The driver may wait for the device, and blocks other callers until then.
                let _turn = gpu.turn();
                // SAFETY: the caller promises that the allocation came from `alloc` and is unused.
                // A failure belongs to an earlier call.
                let _lost = unsafe { libcuda::cuMemFree_v2(address) };
            }
            Self::Owner(owner) => drop(owner),
        }
    }
}

/// Whether all work in a stream is done. Its context must be current, and the stream must not be
/// recorded.
pub(super) fn is_done(
    stream: CUstream,
    during: impl FnOnce() -> String,
) -> Result<bool, DeviceError> {
    // SAFETY: the caller passes a live stream.
    match unsafe { libcuda::cuStreamQuery(stream) } {
        CUDA_ERROR_NOT_READY => Ok(false),
        result => DeviceError::check(result, during).map(|()| true),
    }
}

impl Gpu {
    /// Waits for a stream that may use the memory to be freed. Makes the context current. Returns
    /// whether the stream has ended: `false` on a device that is given up.
    fn has_ended(&self, stream: &Stream) -> bool {
        let is_done = || is_done(stream.raw(), || "waiting for what may use memory".into());
        if !self.enter_to_free() || self.watch_others_until(is_done).is_err() {
            return false;
        }
        // If the GPU works with others, that has already waited.
        if !self.works_together() {
            // SAFETY: the stream is live. A failure belongs to an earlier call.
            let _waited = unsafe { libcuda::cuStreamSynchronize(stream.raw()) };
        }
        true
    }

    /// Waits for all streams. A stream that is being recorded was empty before and still is.
    /// Returns whether all have ended.
    pub(super) fn have_all_ended(&self) -> bool {
        self.streams().iter().all(|stream| {
            let entered = stream.gate.either();
            entered.recorded().is_some() || self.has_ended(stream)
        })
    }
}

impl Cuda {
    /// Frees memory after the work in all streams that may still use it: the streams of this GPU,
    /// and of the GPUs that work with it, which can access its memory. While a stream of the GPU is
    /// being recorded, the memory is freed only after the recording. On a device that is given up,
    /// where waiting would hang, the memory is leaked. The host does not wait for memory of the pool
    /// or of the caller's allocator.
    ///
    /// # Safety
    /// An allocation came from `alloc`, and has not been freed; nothing launched later uses the
    /// memory.
    pub(super) unsafe fn give_back(&self, given: Given) {
        if let (Given::Allocation(address), Some(allocator)) = (&given, &self.allocator) {
            allocator.free(*address);
            return;
        }
        if let Given::Allocation(address) = given
            && self.gpu.is_pooled
        {
            // SAFETY: the caller upholds this function's contract.
            if unsafe { self.free_in_order(address) }.is_ok() {
                return;
            }
        }
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
        // SAFETY: the caller promises that the memory came from `alloc` and is not used by later
        // launches, and the streams have been waited for.
        unsafe { given.free(&self.gpu) };
    }

    /// Waits for all work in all streams of the GPU. A stream that is being recorded was empty
    /// before and still is.
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
