//! Kernel images: choosing one, compiling it, and finding kernels in it.

use super::function::Function;
use crate::device::DeviceError;
use libcuda::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CUDA_ERROR_NOT_FOUND, CUmodule,
};
use std::{
    collections::HashMap,
    ffi::{CStr, CString},
    fmt, ptr,
    sync::Arc,
};

/// Bytes for each of the JIT compiler's logs: a hundred or so of its lines.
const LOG_BYTES: usize = 16 << 10;

/// The kernels as PTX text for one virtual architecture.
#[derive(Clone, Copy)]
pub struct PtxImage {
    /// The compute capability that it is compiled for, 10·major + minor; newer ones run it too.
    pub compute: u32,
    /// The text.
    pub text: &'static str,
}

impl PtxImage {
    /// The image for the highest compute capability up to `compute`.
    pub(super) fn choose(images: &[Self], compute: u32) -> Result<Self, DeviceError> {
        images
            .iter()
            .copied()
            .filter(|image| image.compute <= compute)
            .max_by_key(|image| image.compute)
            .ok_or_else(|| DeviceError::NoImage {
                compute,
                offered: images.iter().map(|image| image.compute).collect(),
            })
    }
}

impl fmt::Debug for PtxImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PtxImage(compute_{}, {} bytes)",
            self.compute,
            self.text.len()
        )
    }
}

/// A loaded image and the kernels found in it so far.
pub(super) struct Module {
    handle: CUmodule,
    compute: u32,
    functions: HashMap<&'static str, Arc<Function>>,
}

// SAFETY: the driver API may be called from any thread on which the context is current, and
// nothing else is behind the handle.
unsafe impl Send for Module {}

impl Module {
    /// Compiles and loads `image` into the current context.
    pub(super) fn load(image: PtxImage) -> Result<Self, DeviceError> {
        let jit = |result, log| DeviceError::Jit {
            image: image.compute,
            result,
            log,
        };
        let text = CString::new(image.text).map_err(|_| {
            jit(
                libcuda::CUDA_ERROR_INVALID_PTX,
                "there is a NUL in it".into(),
            )
        })?;
        let (mut errors, mut infos) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
        let mut options = [
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ];
        // A number travels in the pointer's place, as the driver API has it.
        let mut values = [
            errors.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            infos.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
        ];
        let mut handle = ptr::null_mut();
        // SAFETY: the text ends in NUL; options and values are as many as said, each value of the
        // kind its option asks for; the log buffers are as long as said and outlive the call.
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
                DeviceError::check(result, || "loading the kernels".into())?;
            }
            let log = [errors, infos].map(|log| text_of(&log)).join("\n");
            return Err(jit(result, log.trim().into()));
        }
        Ok(Self {
            handle,
            compute: image.compute,
            functions: HashMap::new(),
        })
    }

    /// The kernel called `name`.
    pub(super) fn function(&mut self, name: &'static str) -> Result<Arc<Function>, DeviceError> {
        if let Some(function) = self.functions.get(name) {
            return Ok(function.clone());
        }
        let unknown = || DeviceError::UnknownKernel {
            name,
            image: self.compute,
        };
        let symbol = CString::new(name).map_err(|_| unknown())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in NUL, and `handle` is there to be written.
        let result =
            unsafe { libcuda::cuModuleGetFunction(&raw mut handle, self.handle, symbol.as_ptr()) };
        if result == CUDA_ERROR_NOT_FOUND {
            return Err(unknown());
        }
        DeviceError::check(result, || format!("looking up `{name}`"))?;
        let function = Arc::new(Function::new(name, handle)?);
        self.functions.insert(name, function.clone());
        Ok(function)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> [PtxImage; 3] {
        [75, 90, 80].map(|compute| PtxImage { compute, text: "" })
    }

    #[test]
    fn the_highest_image_that_the_device_can_run_is_chosen() {
        for (compute, chosen) in [(75, 75), (79, 75), (86, 80), (90, 90), (121, 90)] {
            let image = PtxImage::choose(&images(), compute).expect("75 and newer have one");
            assert_eq!(image.compute, chosen, "compute capability {compute}");
        }
    }

    #[test]
    fn a_device_older_than_every_image_is_told_the_numbers() {
        let error = PtxImage::choose(&images(), 70).expect_err("70 is below 75");
        assert_eq!(
            error,
            DeviceError::NoImage {
                compute: 70,
                offered: vec![75, 90, 80]
            }
        );
    }
}
