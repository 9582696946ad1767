//! The logs of the driver's JIT compiler and linker.

use libcuda::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CUjit_option, CUjit_option_value,
};
use std::{ffi::CStr, ptr};

/// Bytes per log: about a hundred lines.
const LOG_BYTES: usize = 16 << 10;

/// Buffers for both logs, and the options that point to them. It must outlive the call or the link
/// that receives the options, and not move during that time.
pub(super) struct Logs {
    buffers: [Vec<u8>; 2],
    options: [CUjit_option; 4],
    values: [CUjit_option_value; 4],
}

impl Logs {
    pub(super) fn new() -> Self {
        let mut buffers = [vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]];
        // The driver API passes a number in place of a pointer.
        let room = ptr::without_provenance_mut(LOG_BYTES);
        let [errors, infos] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast());
        Self {
            buffers,
            options: [
                CU_JIT_ERROR_LOG_BUFFER,
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                CU_JIT_INFO_LOG_BUFFER,
                CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            ],
            values: [errors, room, infos, room],
        }
    }

    /// The number of options, the options and their values, for a driver call.
    pub(super) fn options(&mut self) -> (u32, *mut CUjit_option, *mut CUjit_option_value) {
        (self.options.len() as u32, self.options.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// The logged text, errors first.
    pub(super) fn text(&self) -> String {
        let logs = self.buffers.each_ref().map(|log| text_of(log));
        logs.join("\n").trim().to_owned()
    }
}

/// The contents of a log buffer, up to its NUL.
fn text_of(log: &[u8]) -> String {
    CStr::from_bytes_until_nul(log)
        .map_or_else(
            |_| String::from_utf8_lossy(log),
            |text| String::from_utf8_lossy(text.to_bytes()),
        )
        .trim()
        .to_owned()
}
