//! The storage of candle as rows, on the CPU and on a GPU.

use bytemuck::Pod;
use candle_core::{CpuStorage, Layout, Result, Shape, WithDType, bail};

/// An operation on each row, whose results are as many as its elements.
pub(crate) trait OnRows {
    type From: Pod + WithDType + Element;
    type To: Pod + WithDType + Element;

    /// The results for rows of `columns` elements, at least 1.
    fn on_cpu(&self, x: &[Self::From], columns: usize) -> Vec<Self::To>;

    /// The same on a GPU.
    #[cfg(feature = "cuda")]
    fn on_gpu(
        &self,
        x: &gridsync::device::Buffer<Self::From>,
        columns: usize,
        to: &mut gridsync::device::Buffer<Self::To>,
    ) -> std::result::Result<(), gridsync::device::DeviceError>;

    /// The device of the operation.
    #[cfg(feature = "cuda")]
    fn gridsync(&self) -> &crate::Gridsync;
}

/// A type of elements that candle has on all devices.
#[cfg(not(feature = "cuda"))]
pub(crate) trait Element {}
#[cfg(not(feature = "cuda"))]
impl<T> Element for T {}

/// A type of elements that candle has on all devices.
#[cfg(feature = "cuda")]
pub(crate) trait Element:
    candle_core::cuda::CudaDType + candle_core::cuda::cudarc::driver::DeviceRepr
{
}
#[cfg(feature = "cuda")]
impl<T: candle_core::cuda::CudaDType + candle_core::cuda::cudarc::driver::DeviceRepr> Element
    for T
{
}

/// Where the elements are in the storage, and how many a row has.
fn rows(layout: &Layout) -> Result<(usize, usize, usize)> {
    let Some((start, end)) = layout.contiguous_offsets() else {
        bail!("the tensor is not contiguous: call Tensor::contiguous");
    };
    Ok((start, end, layout.dims().last().copied().unwrap_or(1)))
}

/// `CustomOp1::cpu_fwd` of an operation.
pub(crate) fn cpu_fwd<O: OnRows>(
    op: &O,
    storage: &CpuStorage,
    layout: &Layout,
) -> Result<(CpuStorage, Shape)> {
    let (start, end, columns) = rows(layout)?;
    let x = &storage.as_slice::<O::From>()?[start..end];
    let results = if x.is_empty() { Vec::new() } else { op.on_cpu(x, columns) };
    Ok((O::To::to_cpu_storage_owned(results), layout.shape().clone()))
}

/// `CustomOp1::cuda_fwd` of an operation.
#[cfg(feature = "cuda")]
pub(crate) fn cuda_fwd<O: OnRows>(
    op: &O,
    storage: &candle_core::CudaStorage,
    layout: &Layout,
) -> Result<(candle_core::CudaStorage, Shape)> {
    let Some(device) = &op.gridsync().device else {
        bail!("this Gridsync is of the CPU: make one of the tensor's device");
    };
    let (start, end, columns) = rows(layout)?;
    // SAFETY: the operation writes every element.
    let mut results = unsafe { storage.device.alloc::<O::To>(end - start)? };
    if end > start {
        let x = storage.as_cuda_slice::<O::From>()?.slice(start..end);
        let done = device.lend(&x, |x| {
            device.lend_mut(&mut results, |results| Ok(op.on_gpu(x, columns, results)?))
        });
        done.map_err(candle_core::Error::wrap)?;
    }
    let storage = candle_core::CudaStorage::wrap_cuda_slice(results, storage.device.clone());
    Ok((storage, layout.shape().clone()))
}
