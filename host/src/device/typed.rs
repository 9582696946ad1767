//! Launches that take a kernel by its type, so that wrong arguments do not compile.

use super::{Buffer, Device, DeviceError, Geometry, KernelInfo};
use bytemuck::Pod;
use cuda_std::{
    launch::{IntoArg, IntoArgs, Kernel, KernelArgs},
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

    /// Puts a launch of `K` into the stream. For a parameter `Global<T>` of the kernel, pass a reference to a
    /// [`Buffer<T>`]: `&mut buffer` if the kernel writes it, as a note for the reader, or `&buffer`.
    ///
    /// # Errors
    /// As for [`Backend::launch`](super::Backend::launch).
    ///
    /// # Safety
    /// The kernel's own contract holds for `args` and `geometry`: lengths, contents, which arguments may be the same
    /// buffer, and nothing else uses what the kernel writes until it has run. An
    /// [overlapping](Geometry::overlapping) kernel waits for the one before it by itself.
    ///
    /// A buffer that is passed by reference may be dropped right after the launch, because dropping it waits for all
    /// streams of its device. What a `Global` in `args` views has to be alive until the kernel has run; so has every
    /// buffer, until the last run of the graph, if the launch is being [recorded](Self::record).
    pub unsafe fn launch<K: Kernel>(
        &self,
        geometry: &Geometry,
        args: impl IntoArgs<K::Args>,
    ) -> Result<(), DeviceError> {
        let (kernel, args) = (KernelInfo::of::<K>(), args.into_args());
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
        args: impl IntoArgs<K::Args>,
    ) -> Result<(), DeviceError> {
        let overlapping = self.backend().can_overlap(&KernelInfo::of::<K>());
        // SAFETY: the caller's promise.
        unsafe { self.launch::<K>(&Geometry { overlapping, ..*geometry }, args) }
    }
}

impl<T: Pod + Scalar> Buffer<T> {
    /// The buffer as an argument of a kernel. [`Device::launch`] also takes the buffer itself, by reference; a view
    /// is for a [part](Global::part) of it, or for a launch that comes later.
    #[must_use]
    pub fn view(&self) -> Global<T> {
        // SAFETY: address and length are those of the buffer. Only a launch can use a view, and its
        // caller answers for how long it is used and for what.
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
