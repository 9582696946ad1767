//! Without the library, the error names the file and the remedy.

use libnccl::{LIBRARY_VARIABLE, Unavailable, nccl};
use std::env;

#[test]
fn the_reason_names_the_file_and_the_remedy() {
    // SAFETY: this is the only test of this process, and nothing has read the variable before.
    unsafe { env::set_var(LIBRARY_VARIABLE, "/nowhere/libnccl.so.2") };
    let reason = nccl().expect_err("there is no such file");
    assert!(matches!(reason, Unavailable::NotOpened { .. }), "{reason:?}");
    let said = reason.to_string();
    assert!(said.contains("/nowhere/libnccl.so.2"), "{said}");
    assert!(said.contains(LIBRARY_VARIABLE), "{said}");
    assert_eq!(nccl().map(|_| ()), Err(reason), "the answer stays the same");
}
