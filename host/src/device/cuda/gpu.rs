//! A GPU in a context: the state that its streams share.

use super::{
    Modules, PtxImage, allocation, context::hold, function::Function, image, lock, query,
    stream::Stream, together::Together,
};
use crate::device::{DeviceError, Properties};
use libcuda::{CU_STREAM_CAPTURE_MODE_RELAXED, CUcontext, CUdevice, CUstreamCaptureMode};
use std::{
    any::Any,
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
    sync::{Arc, Mutex, OnceLock, Weak},
};

/// A GPU in one of its contexts, with the kernels loaded there.
pub(super) struct Gpu {
    pub(super) ordinal: u32,
    pub(super) properties: Properties,
    /// Whether waiting for its streams is no longer allowed, because their work may never end.
    given_up: AtomicBool,
    /// The GPUs that it works with, including itself; unset if it works alone.
    pub(super) together: OnceLock<Arc<Together>>,
    /// The target of the newest image that it can run.
    pub(super) image: u32,
    pub(super) modules: Modules<'static>,
    /// The kernels loaded so far. They are unloaded when this is dropped, while the context is
    /// current and nothing runs.
    functions: Mutex<HashMap<&'static str, Arc<Function>>>,
    /// The streams in which its memory may be in use.
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Whether memory comes from the device's pool, and is freed in stream order.
    pub(super) is_pooled: bool,
    pub(super) context: RawContext,
    /// Keeps the context alive. This must be the last field, because the other fields belong to the
    /// context.
    _owner: Owner,
}

/// Something that owns a context, a stream or memory.
pub(super) type Owner = Box<dyn Any + Send + Sync>;

/// The handle of a context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RawContext(pub(super) CUcontext);

// SAFETY: it is only passed to the driver, whose API may be called from any thread.
unsafe impl Send for RawContext {}
// SAFETY: it is only passed to the driver, whose API may be called from any thread.
unsafe impl Sync for RawContext {}

impl Gpu {
    /// `device` in the caller's `context`, which the owner next to it keeps alive, with those of
    /// `images` that it can run. If no context is given, the device's primary context is retained
    /// and used.
    pub(super) fn new(
        (ordinal, device): (u32, CUdevice),
        images: &[PtxImage],
        context: Option<(CUcontext, Owner)>,
    ) -> Result<Self, DeviceError> {
        let properties = query::properties(device)?;
        let (modules, image) = image::usable(images, properties.compute)?;
        let is_pooled = context.is_some() && allocation::has_pool(device);
        let (context, owner) = match context {
            Some(given) => given,
            None => hold(ordinal, device).map(|(context, held)| (context, Box::new(held) as _))?,
        };
        Ok(Self {
            ordinal,
            properties,
            given_up: AtomicBool::new(false),
            together: OnceLock::new(),
            image,
            modules,
            functions: Mutex::default(),
            streams: Mutex::default(),
            is_pooled,
            context: RawContext(context),
            _owner: owner,
        })
    }

    /// Makes the context current on this thread.
    pub(super) fn enter(&self) -> Result<(), DeviceError> {
        if self.is_given_up() {
            return Err(DeviceError::GivenUp { name: self.properties.name.clone() });
        }
        make_current(self.context.0)
    }

    /// Makes the context current in order to free something. Returns whether that is possible: on a
    /// device that is given up it is not, because waiting there would hang. Tries twice, because
    /// anything not freed now never will be. Otherwise the context of another device may be
    /// current.
    pub(super) fn enter_to_free(&self) -> bool {
        self.enter().or_else(|_| self.enter()).is_ok()
    }

    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Whether waiting for its streams is no longer allowed.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Whether it works with other GPUs, whose grids may wait for grids on this one.
    pub(super) fn works_together(&self) -> bool {
        self.together.get().is_some()
    }

    /// The kernel's function, compiled and loaded on first use.
    pub(super) fn function(&self, name: &'static str) -> Result<Arc<Function>, DeviceError> {
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(function.clone());
        }
        let image = self.image;
        let module =
            self.modules.module(name)?.ok_or(DeviceError::UnknownKernel { name, image })?;
        let function = {
            let _permitted = DuringCapture::new();
            Arc::new(Function::load(name, module)?)
        };
        functions.insert(name, function.clone());
        Ok(function)
    }

    /// Registers a stream in which the memory will be in use.
    pub(super) fn add(&self, stream: &Arc<Stream>) {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// The streams in which the memory may be in use.
    pub(super) fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).iter().filter_map(Weak::upgrade).collect()
    }
}

/// Permits loading on this thread while a program captures a stream, until it is dropped. Loading
/// submits nothing to a stream.
struct DuringCapture {
    /// The mode before, if the driver has changed it.
    before: Option<CUstreamCaptureMode>,
}

impl DuringCapture {
    fn new() -> Self {
        // Without the other mode, loading fails if the thread captures, and reports that.
        Self { before: Self::exchange(CU_STREAM_CAPTURE_MODE_RELAXED) }
    }

    fn exchange(mut mode: CUstreamCaptureMode) -> Option<CUstreamCaptureMode> {
        if !libcuda::provides(c"cuThreadExchangeStreamCaptureMode") {
            return None;
        }
        // SAFETY: the pointer is valid.
        let result = unsafe { libcuda::cuThreadExchangeStreamCaptureMode(&mut mode) };
        result.ok().is_ok().then_some(mode)
    }
}

impl Drop for DuringCapture {
    fn drop(&mut self) {
        self.before.and_then(Self::exchange);
    }
}

/// Makes a context current on this thread.
pub(super) fn make_current(context: CUcontext) -> Result<(), DeviceError> {
    // SAFETY: the driver checks the handle.
    let result = unsafe { libcuda::cuCtxSetCurrent(context) };
    DeviceError::check(result, || "making the CUDA context current".into())
}
