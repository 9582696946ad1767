//! A kernel's module, compiled and loaded by the driver, with the log of its JIT compiler.

use super::{PtxModule, link::Link, logs::Logs};
use crate::device::DeviceError;
use libcuda::{CUfunction, CUmodule, CUresult};
use std::{ffi::CString, ptr};

/// A loaded module with one kernel and the kernels that it launches, unloaded when dropped.
pub(super) struct Module {
    kernel: &'static str,
    handle: CUmodule,
}

impl Module {
    /// Compiles `module`, which contains `kernel`, and loads it into the current context. A module
    /// whose kernels launch others is first linked with NVIDIA's device runtime.
    pub(super) fn load(kernel: &'static str, module: PtxModule) -> Result<Self, DeviceError> {
        let (image, launches) = (module.compute, module.needs_device_runtime());
        let text = CString::new(module.text).map_err(|_| {
            let log = "there is a NUL in it".into();
            DeviceError::Jit { kernel, image, result: libcuda::CUDA_ERROR_INVALID_PTX, log }
        })?;
        let link = launches.then(|| Link::with_device_runtime(kernel, image, &text)).transpose()?;
        let code = link.as_ref().map_or(text.as_ptr().cast(), Link::cubin);
        let mut logs = Logs::new();
        let (count, options, values) = logs.options();
        let mut handle = ptr::null_mut();
        // SAFETY: the code is text that ends in NUL, or a cubin of a live link. The options are
        // valid and outlive the call, as do their buffers.
        let result =
            unsafe { libcuda::cuModuleLoadDataEx(&raw mut handle, code, count, options, values) };
        result.ok().map_err(|result| refused(kernel, image, result, logs.text()))?;
        Ok(Self { kernel, handle })
    }

    /// The kernel's handle, valid as long as the module lives.
    pub(super) fn function(&self) -> Result<CUfunction, DeviceError> {
        let symbol = CString::new(self.kernel).expect("text with its name in it has no NUL");
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in NUL, and the pointer to `handle` is valid
        // for writes.
        let result =
            unsafe { libcuda::cuModuleGetFunction(&raw mut handle, self.handle, symbol.as_ptr()) };
        DeviceError::check(result, || format!("looking up `{}`", self.kernel))?;
        Ok(handle)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded by `load` and is unloaded only here; `Cuda` waits for its
        // stream first, so none of its kernels run. A failure means that the context is already
        // gone.
        let _lost = unsafe { libcuda::cuModuleUnload(self.handle) };
    }
}

/// The error when the driver fails to compile, link or load `kernel`.
pub(super) fn refused(
    kernel: &'static str,
    image: u32,
    result: CUresult,
    log: String,
) -> DeviceError {
    if result.is_sticky() {
        // The fault belongs to earlier work.
        return DeviceError::Lost { during: format!("loading `{kernel}`"), result };
    }
    DeviceError::Jit { kernel, image, result, log }
}
