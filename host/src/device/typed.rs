//! Launches that take a kernel by its type, so that wrong arguments do not compile.

use super::{Buffer, Device, DeviceError, Geometry, KernelInfo};
use bytemuck::Pod;
use cuda_std::{
    launch::{Kernel, KernelArgs},
    memory::{Global, Scalar},
};
use std::ffi::c_void;

impl KernelInfo {
    /// What a backend needs to know of `K`.
    #[must_use]
    pub const fn of<K: Kernel>() -> Self {
        Self {
            name: K::NAME,
            cooperative: K::COOPERATIVE,
            args: K::Args::SIZES,
            parameters: K::PARAMETERS,
            run: run::<K>,
        }
    }
}

/// The body of `K` as one emulated thread, its arguments given by address.
///
/// # Safety
/// As for [`Kernel::run`]; `args` are the addresses of live values of `K::Args`, in order.
unsafe fn run<K: Kernel>(args: &[*const c_void]) {
    // SAFETY: the caller's promise.
    unsafe { K::run(K::Args::from_pointers(args)) }
}

impl Device {
    /// Compiles and loads `K` now, not at its first launch or query.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`], and errors of loading the kernel.
    pub fn compile<K: Kernel>(&self) -> Result<(), DeviceError> {
        self.backend().attributes(&KernelInfo::of::<K>()).map(|_| ())
    }

    /// Puts a launch of `K` into the stream.
    ///
    /// # Errors
    /// As for [`Backend::launch`](super::Backend::launch).
    ///
    /// # Safety
    /// The kernel's own contract holds for `args` and `geometry`, and the buffers that `args` view
    /// stay alive until the kernel has run: a buffer that is dropped waits for all streams of its
    /// device. For a
    /// launch that is being [recorded](Self::record), the caller promises this when the graph is
    /// launched. An [overlapping](Geometry::overlapping) kernel waits for the one before it by
    /// itself.
    pub unsafe fn launch<K: Kernel>(
        &self,
        geometry: &Geometry,
        args: K::Args,
    ) -> Result<(), DeviceError> {
        let kernel = KernelInfo::of::<K>();
        // SAFETY: the pointers point into this kernel's own argument tuple; the rest is the
        // caller's promise.
        args.with_pointers(|pointers| unsafe { self.backend().launch(&kernel, geometry, pointers) })
    }
}

impl Device {
    /// [`launch`](Self::launch), [overlapping](Geometry::overlapping) the kernel before where that is possible.
    /// So a row of launches takes less time.
    ///
    /// # Errors
    /// As for `launch`.
    ///
    /// # Safety
    /// As for `launch`, and the kernel waits for the one before it before it touches memory.
    pub(crate) unsafe fn launch_in_a_row<K: Kernel>(
        &self,
        geometry: &Geometry,
        args: K::Args,
    ) -> Result<(), DeviceError> {
        let overlapping = self.backend().can_overlap(&KernelInfo::of::<K>());
        // SAFETY: the caller's promise.
        unsafe { self.launch::<K>(&Geometry { overlapping, ..*geometry }, args) }
    }
}

impl<T: Pod + Scalar> Buffer<T> {
    /// The buffer as an argument for [`Device::launch`].
    #[must_use]
    pub fn view(&self) -> Global<T> {
        // SAFETY: address and length are those of the buffer. Only a launch can use a view, and its
        // caller answers for how long it is used and for what.
        unsafe { Global::from_address(self.address(), self.len()) }
    }
}
