//! Ways to find the bins of elements, whatever their types: on a device and on the CPU.

use crate::device::{Device, DeviceError, Geometry};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_entries::histogram::Arguments;
use gridsync_entries::{Entry, KernelOf, name_of};
use gridsync_kernels::grid::histogram::Binning;

/// Counts elements of `T` on a device.
pub trait Launch<T> {
    /// The name of the kernel.
    fn kernel(&self) -> &'static str;

    /// Loads the kernel.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    fn compile(&self, device: &Device) -> Result<(), DeviceError>;

    /// Submits the kernel.
    ///
    /// # Errors
    /// If the launch fails.
    ///
    /// # Safety
    /// The arguments and the grid are valid for
    /// [`histogram`](gridsync_kernels::grid::histogram::histogram()), and their memory is on this
    /// device, lives until the launch has ended, and nothing else accesses it.
    unsafe fn launch(
        &self,
        device: &Device,
        geometry: &Geometry,
        common: Arguments<T>,
    ) -> Result<(), DeviceError>;
}

/// Counts elements of `T` on a device and on the CPU.
pub trait Way<T>: Launch<T> + Send + Sync {
    /// Adds the number of `elements` in each bin to `counts`.
    fn count(&self, elements: &[T], counts: &mut [u64]);
}

/// The way of a binning.
pub(super) struct By<B>(pub(super) B);

impl<T, B> Launch<T> for By<B>
where
    T: Scalar,
    B: Binning + Entry<Arguments<B::Element>>,
{
    fn kernel(&self) -> &'static str {
        name_of::<B, Arguments<B::Element>>().unwrap_or_default()
    }

    fn compile(&self, device: &Device) -> Result<(), DeviceError> {
        device.compile::<KernelOf<B, Arguments<B::Element>>>()
    }

    unsafe fn launch(
        &self,
        device: &Device,
        geometry: &Geometry,
        common: Arguments<T>,
    ) -> Result<(), DeviceError> {
        const { assert!(size_of::<T>() == size_of::<B::Element>()) };
        let Arguments { input, sums, bins, layout } = common;
        let common = Arguments { input: input.cast(), sums, bins, layout };
        let args = self.0.arguments(common);
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe { device.launch_in_a_row::<KernelOf<B, Arguments<B::Element>>>(geometry, args) }
    }
}

impl<T, B> Way<T> for By<B>
where
    T: Scalar + Pod,
    B: Binning<Element: Pod> + Entry<Arguments<B::Element>> + Send + Sync,
{
    fn count(&self, elements: &[T], counts: &mut [u64]) {
        for &element in bytemuck::cast_slice::<T, B::Element>(elements) {
            if let Some(count) = counts.get_mut(self.0.bin(element) as usize) {
                *count += 1;
            }
        }
    }
}
