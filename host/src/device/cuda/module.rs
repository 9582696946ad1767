//! A kernel's module: compiled by the driver, with the log of its JIT compiler, and loaded.

use crate::device::DeviceError;
use libcuda::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CUfunction, CUmodule,
};
use std::{
    ffi::{CStr, CString},
    ptr,
};

/// Bytes for each of the JIT compiler's logs: a hundred or so of its lines.
const LOG_BYTES: usize = 16 << 10;

/// A loaded module with one kernel, unloaded when dropped.
pub(super) struct Module {
    kernel: &'static str,
    handle: CUmodule,
}

impl Module {
    /// Compiles `text`, the module of `kernel` in the image for compute capability `image`, and
    /// loads it into the current context.
    pub(super) fn load(
        kernel: &'static str,
        image: u32,
        text: String,
    ) -> Result<Self, DeviceError> {
        let jit = |result, log| DeviceError::Jit { kernel, image, result, log };
        let text = CString::new(text)
            .map_err(|_| jit(libcuda::CUDA_ERROR_INVALID_PTX, "there is a NUL in it".into()))?;
        let (mut errors, mut infos) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
        let mut options = [
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ];
        // The driver API passes a number in place of a pointer.
        let mut values = [
            errors.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            infos.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
        ];
        let mut handle = ptr::null_mut();
        // SAFETY: the text ends in NUL; the counts of options and values are right, and each value
        // has the kind that its option asks for; the log buffers have the length that is passed and
        // outlive the call.
        let result = unsafe {
            libcuda::cuModuleLoadDataEx(
                &raw mut handle,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(result) = result.ok() {
            if result.is_sticky() {
                DeviceError::check(result, || format!("loading `{kernel}`"))?;
            }
            let log = [errors, infos].map(|log| text_of(&log)).join("\n");
            return Err(jit(result, log.trim().into()));
        }
        Ok(Self { kernel, handle })
    }

    /// The kernel. The handle is valid as long as the module lives.
    pub(super) fn function(&self) -> Result<CUfunction, DeviceError> {
        let symbol = CString::new(self.kernel).expect("text with its name in it has no NUL");
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in NUL, and `handle` is there to be written.
        let result =
            unsafe { libcuda::cuModuleGetFunction(&raw mut handle, self.handle, symbol.as_ptr()) };
        DeviceError::check(result, || format!("looking up `{}`", self.kernel))?;
        Ok(handle)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded by `load` and is unloaded only here; `Cuda` waits for its
        // stream first, so no kernel of it runs. A failure means that the context is gone already.
        let _lost = unsafe { libcuda::cuModuleUnload(self.handle) };
    }
}

/// What a log buffer holds, up to its NUL.
fn text_of(log: &[u8]) -> String {
    CStr::from_bytes_until_nul(log)
        .map_or_else(
            |_| String::from_utf8_lossy(log),
            |text| String::from_utf8_lossy(text.to_bytes()),
        )
        .trim()
        .to_owned()
}
