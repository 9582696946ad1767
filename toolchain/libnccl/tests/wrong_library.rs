//! A library that is not NCCL is rejected.

use libnccl::{LIBRARY_VARIABLE, Unavailable, nccl};
use std::env;

#[test]
fn a_library_without_the_functions_is_an_error_that_names_one() {
    // SAFETY: this is the only test of this process, and nothing has read the variable before.
    unsafe { env::set_var(LIBRARY_VARIABLE, "libc.so.6") };
    let reason = nccl().expect_err("the C library is no NCCL");
    assert!(matches!(reason, Unavailable::NotComplete { .. }), "{reason:?}");
    let said = reason.to_string();
    assert!(said.contains("libc.so.6") && said.contains("ncclGetVersion"), "{said}");
}
