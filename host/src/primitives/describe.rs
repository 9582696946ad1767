//! Several statistics of an array in one read.

use super::reduce::{Reducible, reduce, reduce_on_cpu};
use crate::device::{Buffer, DeviceError};
use bytemuck::Pod;
use gridsync_kernels::op::{Describable, Describe, Description};

/// The count, number of NaN, minimum, maximum, mean, standard deviation and sum of `input`, in one
/// read on its device. The divisor of the standard deviation is the count minus `ddof`.
///
/// To describe more than once, keep a [`Reducer`](super::Reducer) with [`Describe`], which allocates
/// only when it is created. A [`PartReducer`](super::PartReducer) describes arrays part by part, or
/// on several devices.
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::primitives::describe;
///
/// let input = Device::emulator().upload(&[4.0f32, f32::NAN, 7.0, 13.0, 16.0])?;
/// let found = describe(&input, 1)?;
/// assert_eq!((found.count, found.nan), (4, 1));
/// assert_eq!((found.min, found.max), (Some(4.0), Some(16.0)));
/// assert_eq!((found.mean, found.sum), (Some(10.0), 40.0));
/// assert_eq!(found.deviation, Some(30f64.sqrt()));
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
///
/// # Errors
/// If the device fails.
pub fn describe<T>(input: &Buffer<T>, ddof: u64) -> Result<Description<T>, DeviceError>
where
    T: Describable + Pod,
    Describe<T>: Reducible<Element = T, Output = Description<T>>,
{
    reduce(Describe::with_ddof(ddof), input)
}

/// The same statistics of `input` as from [`describe`], to the bit, on all cores of the CPU.
pub fn describe_on_cpu<T: Describable>(input: &[T], ddof: u64) -> Description<T> {
    reduce_on_cpu(Describe::with_ddof(ddof), input)
}
