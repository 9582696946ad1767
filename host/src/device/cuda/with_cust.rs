//! Streams on cust's contexts and in cust's streams.

use super::{Cuda, PtxImage, gpu::Gpu, open::current_device, stream::Handle};
use crate::device::DeviceError;
use cust::context::{Context, ContextHandle};
use cust::stream::Stream;
use std::sync::Arc;

impl Cuda {
    /// The device of cust's `context`, with those of `images` that it can run. All its work goes
    /// into `stream`. Both stay alive as long as the device.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and [`DeviceError::OtherContext`].
    pub(in crate::device) fn in_cust(
        context: &Context,
        stream: impl Into<Arc<Stream>>,
        images: &[PtxImage],
    ) -> Result<Self, DeviceError> {
        // cust's contexts are the primary ones, which this retains too.
        let device = current_device(context.get_inner().cast())?;
        let gpu = Arc::new(Gpu::new(device, images, None)?);
        Self::in_stream_of(gpu, Handle::Cust(stream.into()))
    }

    /// The same device, with a stream of cust.
    ///
    /// # Errors
    /// [`DeviceError::OtherContext`], and if the driver fails.
    pub(in crate::device) fn in_cust_stream(
        &self,
        stream: impl Into<Arc<Stream>>,
    ) -> Result<Self, DeviceError> {
        Self::in_stream_of(Arc::clone(&self.gpu), Handle::Cust(stream.into()))
    }

    /// Waits for all work in all streams that may use the GPU's memory: those of this GPU and of
    /// the GPUs that work with it.
    ///
    /// # Errors
    /// The error of the work that failed; [`DeviceError::GivenUp`] if another GPU failed.
    pub(in crate::device) fn wait_for_users(&self) -> Result<(), DeviceError> {
        self.wait_for_all()?;
        if self.gpu.peers().all(|peer| peer.have_all_ended()) {
            Ok(())
        } else {
            Err(DeviceError::GivenUp { name: self.gpu.properties.name.clone() })
        }
    }

    /// Whether it works with other GPUs.
    pub(in crate::device) fn works_together(&self) -> bool {
        self.gpu.works_together()
    }
}
