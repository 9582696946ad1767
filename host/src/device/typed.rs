//! Launches with the kernel as a type parameter, so that wrong arguments do not compile.

use super::{Buffer, Device, DeviceError, Geometry, KernelInfo};
use bytemuck::Pod;
use cuda_std::{
    launch::{IntoArg, IntoArgs, Kernel, KernelArgs},
    memory::{Global, Scalar},
};
use std::ffi::c_void;

impl KernelInfo {
    /// The backend's description of `K`.
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

/// Runs the body of `K` as one emulated thread, with arguments given by address.
///
/// # Safety
/// As for [`Kernel::run`]; `args` are the addresses of live values of `K::Args`, in order.
unsafe fn run<K: Kernel>(args: &[*const c_void]) {
    // SAFETY: the caller passes the addresses of live values of `K::Args`, and upholds the kernel's
    // contract.
    unsafe { K::run(K::Args::from_pointers(args)) }
}

impl Device {
    /// Compiles and loads `K` now instead of at its first launch or query.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`], and if the kernel cannot be loaded.
    pub fn compile<K: Kernel>(&self) -> Result<(), DeviceError> {
        self.backend().attributes(&KernelInfo::of::<K>()).map(|_| ())
    }

    /// Submits a launch of `K` to the stream. For a kernel parameter `Global<T>`, pass a reference
    /// to a [`Buffer<T>`]: `&mut buffer` if the kernel writes it, as a note for the reader, or
    /// `&buffer`.
    ///
    /// # Errors
    /// As for [`Backend::launch`](super::Backend::launch).
    ///
    /// # Safety
    /// The kernel's own contract holds for `args` and `geometry`: lengths, contents, which
    /// arguments may be the same buffer, and nothing else uses the memory that the kernel writes
    /// until it has run. An [overlapping](Geometry::overlapping) kernel must wait for the previous
    /// one itself.
    ///
    /// A buffer that is passed by reference may be dropped right after the launch, because dropping
    /// it waits for all streams of its device. The memory that a `Global` in `args` views must be
    /// alive until the kernel has run. If the launch is being [recorded](Self::record), every
    /// buffer must be alive until the last run of the graph.
    pub unsafe fn launch<K: Kernel>(
        &self,
        geometry: &Geometry,
        args: impl IntoArgs<K::Args>,
    ) -> Result<(), DeviceError> {
        let (kernel, args) = (KernelInfo::of::<K>(), args.into_args());
        // SAFETY: the pointers point into this kernel's own argument tuple; the caller upholds the
        // rest of the contract.
        args.with_pointers(|pointers| unsafe { self.backend().launch(&kernel, geometry, pointers) })
    }
}

impl Device {
    /// Like [`launch`](Self::launch), but [overlaps](Geometry::overlapping) the previous kernel
    /// where possible, so that a sequence of launches takes less time.
    ///
    /// # Errors
    /// As for `launch`.
    ///
    /// # Safety
    /// As for `launch`, and the kernel waits for the previous one before it accesses memory.
    pub(crate) unsafe fn launch_in_a_row<K: Kernel>(
        &self,
        geometry: &Geometry,
        args: impl IntoArgs<K::Args>,
    ) -> Result<(), DeviceError> {
        let overlapping = self.backend().can_overlap(&KernelInfo::of::<K>());
        // SAFETY: the caller upholds the contract of `launch`, and the kernel waits for the
        // previous one.
        unsafe { self.launch::<K>(&Geometry { overlapping, ..*geometry }, args) }
    }
}

impl<T: Pod + Scalar> Buffer<T> {
    /// The buffer as a kernel argument. [`Device::launch`] also accepts the buffer itself, by
    /// reference; use a view for a [part](Global::part) of it, or for a later launch.
    #[must_use]
    pub fn view(&self) -> Global<T> {
        // SAFETY: address and length are those of the buffer. Only a launch can use a view, and its
        // caller is responsible for how and when it is used.
        unsafe { Global::from_address(self.address(), self.len()) }
    }
}

impl<T: Pod + Scalar> IntoArg<Global<T>> for &Buffer<T> {
    fn into_arg(self) -> Global<T> {
        self.view()
    }
}

impl<T: Pod + Scalar> IntoArg<Global<T>> for &mut Buffer<T> {
    fn into_arg(self) -> Global<T> {
        self.view()
    }
}
