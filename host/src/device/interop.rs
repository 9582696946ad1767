//! Devices for programs that use CUDA directly, through any library.

use super::{Allocator, Device, DeviceError, cuda::Cuda, cuda::PtxImage};
use std::ffi::c_void;

impl Device {
    /// The device of a `CUcontext`, primary or not, with those of `images` that it can run. All its
    /// work goes into `stream`, a `CUstream` of the context, in order with other work submitted
    /// there. Null is CUDA's default stream, in which no graph can be recorded. A non-blocking
    /// stream does not follow the default stream: wait for a copy in the default stream before
    /// using its memory. This never destroys the context or the stream.
    ///
    /// `owner` keeps both alive, for example an `Arc` of a type that destroys the stream when
    /// dropped; `()` owns nothing. It is dropped after everything made from this device: its other
    /// streams, buffers, primitives, graphs and events. If the device is lost, it is never dropped.
    ///
    /// Memory is allocated from the device's pool and freed by the stream
    /// ([`frees_in_stream_order`](Self::frees_in_stream_order)), so the host does not wait when a
    /// buffer or a primitive is dropped. It waits when the last handle is.
    ///
    /// # Errors
    /// As for [`Device::cuda`]; [`DeviceError::OtherContext`] for a stream of another context;
    /// [`DeviceError::Unsupported`] for `CU_STREAM_PER_THREAD`.
    ///
    /// # Safety
    /// The context and the stream are live, and stay live until `owner` is dropped, or longer.
    /// Nothing else captures the stream until then.
    pub unsafe fn from_raw(
        context: *mut c_void,
        stream: *mut c_void,
        owner: impl Send + Sync + 'static,
        images: &[PtxImage],
    ) -> Result<Self, DeviceError> {
        // SAFETY: the caller upholds the contract, which is that of `Cuda::in_raw`.
        unsafe { Cuda::in_raw(context.cast(), stream.cast(), Box::new(owner), images) }
            .map(Self::new)
    }

    /// The same device with another `CUstream` of its context, which is never destroyed here.
    /// `owner` keeps the stream alive. The new device shares the memory and the loaded kernels, and
    /// accepts buffers of this device.
    ///
    /// # Errors
    /// [`DeviceError::OtherContext`] for a stream of another context; [`DeviceError::Unsupported`]
    /// in the emulator, and for `CU_STREAM_PER_THREAD`.
    ///
    /// # Safety
    /// The stream is live, and stays live until `owner` is dropped, or longer. Nothing else captures
    /// it until then.
    pub unsafe fn with_raw_stream(
        &self,
        stream: *mut c_void,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self, DeviceError> {
        // SAFETY: the caller upholds the contract, which is that of `Cuda::in_raw_stream`.
        unsafe { self.expect_cuda()?.in_raw_stream(stream.cast(), Box::new(owner)) }.map(Self::new)
    }

    /// The same device with another `CUstream` of its context, as [`with_raw_stream`], whose memory
    /// comes from `allocator`. Its buffers and primitives are for this stream: other streams of the
    /// device have to be ordered after it before they use or free them.
    ///
    /// The program may record the stream in a graph while it submits work here, if that does not
    /// wait for results or copy from the host. Memory that was allocated before must then outlive
    /// the graph, so make new buffers and primitives for a graph.
    ///
    /// # Errors
    /// As for [`with_raw_stream`].
    ///
    /// # Safety
    /// The stream is live, and stays live as long as the device.
    ///
    /// [`with_raw_stream`]: Self::with_raw_stream
    pub unsafe fn with_allocator(
        &self,
        stream: *mut c_void,
        allocator: impl Allocator,
    ) -> Result<Self, DeviceError> {
        // SAFETY: the caller upholds the contract, which is that of `Cuda::with_allocator`.
        unsafe { self.expect_cuda()?.with_allocator(stream.cast(), Box::new(allocator)) }
            .map(Self::new)
    }

    /// Whether the program that owns the stream is recording it in a graph.
    #[must_use]
    pub fn is_captured(&self) -> bool {
        self.backend().cuda().is_some_and(Cuda::is_captured)
    }

    /// Whether memory of the device comes from the driver's pool (`cuMemAllocAsync`) and is freed by
    /// the stream, so that dropping a buffer does not make the host wait. So it is on a device [in a
    /// caller's stream](Self::from_raw), if the driver has a pool for it. Memory for several streams
    /// of such a device is allocated and then waited for.
    #[must_use]
    pub fn frees_in_stream_order(&self) -> bool {
        self.backend().cuda().is_some_and(Cuda::is_pooled)
    }

    /// The CUDA device, or an error if this is not one.
    pub(super) fn expect_cuda(&self) -> Result<&Cuda, DeviceError> {
        self.backend().cuda().ok_or_else(|| self.unsupported("work with CUDA", "use a CUDA device"))
    }

    pub(super) fn unsupported(&self, what: &'static str, needs: &'static str) -> DeviceError {
        DeviceError::Unsupported { what, device: self.properties().name.clone(), needs }
    }
}
