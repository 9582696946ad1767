//! Without a CUDA driver the program starts and reports why it cannot use a GPU.

use gridsync::device::{Device, DeviceError, NoCuda, cuda::probe};
use std::env;

#[test]
fn the_reason_is_typed_and_names_the_library_and_the_remedy() {
    // SAFETY: this is the only test in this process, and nothing has read the environment yet.
    unsafe { env::set_var(libcuda::LIBRARY_VARIABLE, "/nowhere/libcuda.so.1") };
    let error = probe().expect_err("there is no such library");
    assert!(matches!(error, DeviceError::NoCuda(NoCuda::NoLibrary(_))), "{error}");
    let said = error.to_string();
    assert!(said.contains("/nowhere/libcuda.so.1"), "{said}");
    assert!(said.contains("install the NVIDIA driver"), "{said}");
    assert_eq!(Device::cuda(0, &[]).expect_err("nor here"), error);
}
