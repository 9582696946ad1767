//! Creates a stream of a CUDA device, either from scratch or on the caller's context and stream.

use super::gpu::{Gpu, Owner, make_current};
use super::stream::{Handle, OwnStream, PER_THREAD, RawStream, Stream};
use super::{Cuda, PtxImage, probe, query};
use crate::device::{Allocator, DeviceError};
use libcuda::{CUcontext, CUdevice, CUstream};
use std::{
    mem::ManuallyDrop,
    ptr,
    sync::{Arc, Mutex},
};

impl Cuda {
    /// Opens device `ordinal` with those of `images` that it can run, in its primary context. Each
    /// kernel comes from the newest of them that contains it.
    ///
    /// # Errors
    /// [`DeviceError::NoCuda`] with the reason, [`DeviceError::NoSuchDevice`],
    /// [`DeviceError::NoImage`], [`DeviceError::Image`], or if the driver fails to create the
    /// context.
    pub fn new(ordinal: u32, images: &[PtxImage]) -> Result<Self, DeviceError> {
        let count = probe::count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchDevice { ordinal, count });
        }
        let device = query::device(ordinal)?;
        let gpu = Arc::new(Gpu::new((ordinal, device), images, None)?);
        // The stream must not become one of another device.
        gpu.enter()?;
        let stream = OwnStream::new()?;
        Self::in_stream(gpu, Handle::Own(stream))
    }

    /// Opens the device of a context that the caller owns, with those of `images` that it can run.
    /// All its work goes into `stream`; null is the default stream. `owner` is dropped last.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and [`DeviceError::OtherContext`]; [`DeviceError::Unsupported`]
    /// for the default stream of each thread (`CU_STREAM_PER_THREAD`).
    ///
    /// # Safety
    /// The context and the stream are live, until `owner` is dropped or longer. Nothing else
    /// captures the stream.
    pub(in crate::device) unsafe fn in_raw(
        context: CUcontext,
        stream: CUstream,
        owner: Owner,
        images: &[PtxImage],
    ) -> Result<Self, DeviceError> {
        let gpu = Gpu::new(current_device(context)?, images, Some((context, owner)))?;
        // The GPU has the owner.
        let stream = RawStream { handle: stream, _owner: Box::new(()) };
        Self::in_stream_of(Arc::new(gpu), Handle::Raw(stream))
    }

    /// The same device, with a new stream.
    pub(super) fn in_new_stream(&self) -> Result<Self, DeviceError> {
        self.gpu.enter()?;
        let stream = OwnStream::new()?;
        Self::in_stream(Arc::clone(&self.gpu), Handle::Own(stream))
    }

    /// The same device, with a stream of `owner`; null is the default stream.
    ///
    /// # Errors
    /// As for [`in_raw`](Self::in_raw).
    ///
    /// # Safety
    /// As for [`in_raw`](Self::in_raw).
    pub(in crate::device) unsafe fn in_raw_stream(
        &self,
        stream: CUstream,
        owner: Owner,
    ) -> Result<Self, DeviceError> {
        let stream = Handle::Raw(RawStream { handle: stream, _owner: owner });
        Self::in_stream_of(Arc::clone(&self.gpu), stream)
    }

    /// Like [`in_raw_stream`](Self::in_raw_stream), with memory from `allocator`.
    ///
    /// # Errors
    /// As for [`in_raw`](Self::in_raw).
    ///
    /// # Safety
    /// As for [`in_raw`](Self::in_raw).
    pub(in crate::device) unsafe fn with_allocator(
        &self,
        stream: CUstream,
        allocator: Box<dyn Allocator>,
    ) -> Result<Self, DeviceError> {
        // SAFETY: the caller upholds the contract.
        let mut cuda = unsafe { self.in_raw_stream(stream, Box::new(()))? };
        cuda.allocator = Some(allocator);
        Ok(cuda)
    }

    /// Uses an existing stream, if it belongs to the GPU's context.
    pub(super) fn in_stream_of(gpu: Arc<Gpu>, handle: Handle) -> Result<Self, DeviceError> {
        let stream = handle.raw();
        let device = || gpu.properties.name.clone();
        if stream == PER_THREAD {
            return Err(DeviceError::Unsupported {
                what: "work in the default stream of each thread",
                device: device(),
                needs: "it is another stream on another thread; make a stream",
            });
        }
        gpu.enter()?;
        let mut context = ptr::null_mut();
        // SAFETY: the stream is live, and the pointer to `context` is valid for writes.
        let result = unsafe { libcuda::cuStreamGetCtx(stream, &raw mut context) };
        DeviceError::check(result, || "asking for the context of a stream".into())?;
        if context != gpu.context.0 {
            return Err(DeviceError::OtherContext { what: "the stream", device: device() });
        }
        Self::in_stream(gpu, handle)
    }

    fn in_stream(gpu: Arc<Gpu>, handle: Handle) -> Result<Self, DeviceError> {
        let stream = Arc::new(Stream::new(handle));
        gpu.add(&stream);
        let cuda = Self {
            last: Mutex::new(None),
            allocator: None,
            mailboxes: Mutex::default(),
            stream: ManuallyDrop::new(stream),
            gpu: ManuallyDrop::new(gpu),
        };
        cuda.wait_for_allocations()?;
        Ok(cuda)
    }
}

/// The device of a context and its ordinal. Makes the context current.
pub(super) fn current_device(context: CUcontext) -> Result<(u32, CUdevice), DeviceError> {
    let count = probe::count()?;
    make_current(context)?;
    let mut current = 0;
    // SAFETY: the pointer to `current` is valid for writes.
    let result = unsafe { libcuda::cuCtxGetDevice(&raw mut current) };
    DeviceError::check(result, || "asking for the device of a context".into())?;
    for ordinal in 0..count {
        let device = query::device(ordinal)?;
        if device == current {
            return Ok((ordinal, device));
        }
    }
    Err(DeviceError::NoSuchDevice { ordinal: u32::try_from(current).unwrap_or(u32::MAX), count })
}
