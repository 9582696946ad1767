//! Without a driver library every symbol returns the error of a stub library.

use libcuda::{CUDA_ERROR_STUB_LIBRARY, LIBRARY_VARIABLE};
use std::{env, ptr, sync::Once};

/// Points the loader at a file that does not exist, even on machines with a driver.
fn without_a_driver() {
    static ONCE: Once = Once::new();
    // SAFETY: runs once, before any test of this process calls the loader, the only reader.
    ONCE.call_once(|| unsafe { env::set_var(LIBRARY_VARIABLE, "/nowhere/libcuda.so.1") });
}

#[test]
fn every_call_returns_stub_library_the_first_time_and_later() {
    without_a_driver();
    for _ in 0..3 {
        // SAFETY: no driver is called, and the arguments are valid anyway.
        unsafe {
            assert_eq!(libcuda::cuInit(0), CUDA_ERROR_STUB_LIBRARY);
            let mut version = 7;
            assert_eq!(libcuda::cuDriverGetVersion(&raw mut version), CUDA_ERROR_STUB_LIBRARY);
            assert_eq!(version, 7, "a stub writes nothing");
            assert_eq!(
                libcuda::cuGraphLaunch(ptr::null_mut(), ptr::null_mut()),
                CUDA_ERROR_STUB_LIBRARY
            );
        }
    }
}

#[test]
fn the_reason_names_the_file_and_the_remedy() {
    without_a_driver();
    let reason = libcuda::available().expect_err("there is no such file");
    assert_eq!(reason.tried.len(), 1, "only the named library is tried");
    let said = reason.to_string();
    assert!(said.contains("/nowhere/libcuda.so.1"), "{said}");
    assert!(said.contains(LIBRARY_VARIABLE), "{said}");
    assert!(!libcuda::provides(c"cuInit"));
}
