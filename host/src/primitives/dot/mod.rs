//! Dot products of two arrays, in one read of each.

#[cfg(test)]
mod tests;

use super::reduce::{Reducer, Reducible};
use crate::device::{Buffer, Device, DeviceError};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::Global;
use gridsync_kernels::op::Sum;
pub use gridsync_kernels::op::{Dot, Factor, Times};

/// The dot product of `x` and `y` on their device: the sum of the products of elements at the same
/// index. To compute more than one, keep a [`DotProduct`], which allocates only when it is created.
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::primitives::dot;
///
/// let device = Device::emulator();
/// let (x, y) = (device.upload(&[1.5f32, 2.0, -3.0])?, device.upload(&[2.0f32, 4.0, 0.5])?);
/// assert_eq!(dot(&x, &y)?, 9.5);
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
///
/// # Errors
/// As for [`DotProduct::launch`], and if the device fails.
pub fn dot<T: Factor + Pod>(x: &Buffer<T>, y: &Buffer<T>) -> Result<T::Product, DeviceError>
where
    Dot<T>: Reducible<Element = T, Output = T::Product>,
{
    DotProduct::new(x.device())?.dot(x, y)
}

/// The same dot product as from [`dot()`], to the bit, on all cores of the CPU.
///
/// # Panics
/// If the lengths differ.
pub fn dot_on_cpu<T: Factor>(x: &[T], y: &[T]) -> T::Product {
    assert_eq!(x.len(), y.len(), "x and y have different lengths");
    reference::reduce_zipped::<Times<T>, Sum<T::Product>, _, _>(x, y)
}

/// Dot products of arrays of one type on one device, with the working memory of a [`Reducer`].
///
/// Products of f16, bf16 and f32 are exact in f64, in which they are summed. So the error is at most
/// d·u·Σ|x·y| / (1 − d·u), where u is 2^-53 and d the [depth](crate::reference::reduce_depth) of the
/// sum. For f64, whose products are rounded, d is greater by 1, unless a product is subnormal.
/// Products of i32 and u32 are exact, and their sum wraps around in 64 bits.
pub struct DotProduct<T: Factor>
where
    Dot<T>: Reducible,
{
    reducer: Reducer<Dot<T>>,
}

impl<T: Factor + Pod> DotProduct<T>
where
    Dot<T>: Reducible<Element = T, Output = T::Product>,
{
    /// Plans dot products on `device`, and allocates their working memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        // SAFETY: the view has no elements. Each launch replaces it.
        let op = unsafe { Dot::with(Global::from_address(0, 0)) };
        Ok(Self { reducer: Reducer::new(op, device)? })
    }

    /// The dot product of `x` and `y`. Waits for it.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), and if the device fails.
    pub fn dot(&mut self, x: &Buffer<T>, y: &Buffer<T>) -> Result<T::Product, DeviceError> {
        self.multiply_by(x, y)?;
        self.reducer.reduce(x)
    }

    /// Submits the dot product of `x` and `y` to the stream. Does not allocate or wait.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the lengths differ, [`DeviceError::OtherDevice`] if one is
    /// not on the device of this plan, and if the launch fails.
    pub fn launch(&mut self, x: &Buffer<T>, y: &Buffer<T>) -> Result<(), DeviceError> {
        self.multiply_by(x, y)?;
        self.reducer.launch(x)
    }

    /// Makes `y` the other array of the next launch, which has to be of `x`.
    fn multiply_by(&mut self, x: &Buffer<T>, y: &Buffer<T>) -> Result<(), DeviceError> {
        self.reducer.forget();
        self.reducer.device().expect_own(y)?;
        if x.len() != y.len() {
            return Err(DeviceError::LengthMismatch { buffer: x.len(), given: y.len() });
        }
        // SAFETY: only the next launch uses it, of an array as long; `y` is borrowed until that is
        // submitted, and a dropped buffer waits for the stream.
        self.reducer.set_op(unsafe { Dot::with(y.view()) });
        Ok(())
    }

    /// Makes the driver compile the kernel now instead of at the first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        self.reducer.compile()
    }

    /// The result of the last [`launch`](Self::launch), or of the last replay of a graph that
    /// recorded it. Waits for it.
    ///
    /// # Errors
    /// As for [`Reducer::result`].
    pub fn result(&self) -> Result<T::Product, DeviceError> {
        self.reducer.result()
    }
}
