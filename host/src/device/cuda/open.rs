//! How a stream of a CUDA device comes to be.

use super::gpu::Gpu;
use super::stream::{OwnStream, Stream};
use super::{Cuda, PtxImage, from_cust, probe, query};
use crate::device::DeviceError;
use cust::context::{Context, ContextHandle};
use cust::device::Device;
use libcuda::CUcontext;
use std::{
    mem::ManuallyDrop,
    sync::{Arc, Mutex},
};

impl Cuda {
    /// Opens device `ordinal` with those of `images` that it can run, in its primary context. A kernel
    /// is taken from the newest of them that has it.
    ///
    /// # Errors
    /// [`DeviceError::NoCuda`] with the reason, [`DeviceError::NoSuchDevice`],
    /// [`DeviceError::NoImage`], [`DeviceError::Image`], or what the driver says when it makes the
    /// context.
    pub fn new(ordinal: u32, images: &[PtxImage]) -> Result<Self, DeviceError> {
        let count = probe::count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchDevice { ordinal, count });
        }
        let device = device_of(ordinal)?;
        let gpu = Arc::new(Gpu::new((ordinal, device), images, || retained(device))?);
        // cust makes the context current too, but does not look whether that worked. The stream must
        // not become one of another device.
        gpu.enter()?;
        let stream = OwnStream::new()?;
        Ok(Self::in_stream(gpu, stream))
    }

    /// The same device, with a stream that is made here.
    pub(super) fn in_new_stream(&self) -> Result<Self, DeviceError> {
        self.gpu.enter()?;
        let stream = OwnStream::new()?;
        Ok(Self::in_stream(Arc::clone(&self.gpu), stream))
    }

    fn in_stream(gpu: Arc<Gpu>, handle: OwnStream) -> Self {
        let stream = Arc::new(Stream::new(handle));
        gpu.add(&stream);
        Self {
            last: Mutex::new(None),
            mailboxes: Mutex::default(),
            stream: ManuallyDrop::new(stream),
            gpu: ManuallyDrop::new(gpu),
        }
    }
}

/// A device by its ordinal; the driver is initialised.
fn device_of(ordinal: u32) -> Result<Device, DeviceError> {
    Device::get_device(ordinal)
        .map_err(|error| from_cust(error, || format!("opening CUDA device {ordinal}")))
}

/// The primary context of a device, held until it is dropped.
fn retained(device: Device) -> Result<(CUcontext, Context), DeviceError> {
    let during = || "retaining the primary context of a CUDA device".into();
    query::retainable(device.as_raw(), during)?;
    let context = Context::new(device).map_err(|error| from_cust(error, during))?;
    Ok((context.get_inner().cast(), context))
}
