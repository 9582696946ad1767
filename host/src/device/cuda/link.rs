//! Links a module with NVIDIA's device runtime.

use super::{devrt, logs::Logs};
use crate::device::DeviceError;
use libcuda::{CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_PTX, CUlinkState, CUresult};
use std::{
    ffi::{CStr, CString, c_void},
    os::unix::ffi::OsStrExt,
    ptr,
};

/// A link in progress, and the resulting cubin.
pub(super) struct Link {
    state: CUlinkState,
    cubin: *mut c_void,
    /// The driver writes to the logs, and to the values of the options, as long as the link lives.
    logs: Box<Logs>,
}

impl Link {
    /// Links `text`, the module of `kernel` in the image for compute capability `image`, with the
    /// device runtime. The context must be current.
    pub(super) fn with_device_runtime(
        kernel: &'static str,
        image: u32,
        text: &CStr,
    ) -> Result<Self, DeviceError> {
        let library = devrt::find().map_err(|looked_at| DeviceError::NoDeviceRuntime {
            kernel,
            variable: devrt::VARIABLE,
            looked_at,
        })?;
        let library =
            CString::new(library.as_os_str().as_bytes()).expect("a path that exists has no NUL");
        let mut logs = Box::new(Logs::new());
        let (count, options, values) = logs.options();
        let mut state = ptr::null_mut();
        // SAFETY: the options are valid, and do not move as long as the link lives.
        let created = unsafe { libcuda::cuLinkCreate_v2(count, options, values, &raw mut state) };
        let mut link = match created.ok() {
            Ok(()) => Self { state, cubin: ptr::null_mut(), logs },
            Err(result) => return Err(failed(kernel, image, result, &logs)),
        };
        let result = link.run(text, &library);
        result.ok().map_err(|result| failed(kernel, image, result, &link.logs))?;
        Ok(link)
    }

    /// The linked module. It lives as long as the link.
    pub(super) fn cubin(&self) -> *const c_void {
        self.cubin
    }

    fn run(&mut self, text: &CStr, library: &CStr) -> CUresult {
        let (none, no_values) = (ptr::null_mut(), ptr::null_mut());
        let bytes = text.to_bytes_with_nul();
        // SAFETY: the link is live. The text ends in NUL, which is included in its length; the
        // driver only reads it. No options are passed.
        let added = unsafe {
            libcuda::cuLinkAddData_v2(
                self.state,
                CU_JIT_INPUT_PTX,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                c"kernel.ptx".as_ptr(),
                0,
                none,
                no_values,
            )
        };
        if added.ok().is_err() {
            return added;
        }
        // SAFETY: the link is live, the path ends in NUL, and no options are passed.
        let added = unsafe {
            libcuda::cuLinkAddFile_v2(
                self.state,
                CU_JIT_INPUT_LIBRARY,
                library.as_ptr(),
                0,
                none,
                no_values,
            )
        };
        if added.ok().is_err() {
            return added;
        }
        let mut bytes = 0;
        // SAFETY: the link is live, and the pointers to both results are valid for writes.
        unsafe { libcuda::cuLinkComplete(self.state, &raw mut self.cubin, &raw mut bytes) }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: the link was created by `with_device_runtime` and is destroyed only here. A
        // failure belongs to an earlier call.
        let _lost = unsafe { libcuda::cuLinkDestroy(self.state) };
    }
}

fn failed(kernel: &'static str, image: u32, result: CUresult, logs: &Logs) -> DeviceError {
    super::module::refused(kernel, image, result, logs.text())
}
