//! Shared memory of the emulated block.

#[track_caller]
pub(crate) fn dynamic() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// The block's static shared array `name`. Only for the expansion of `shared_array!`.
#[doc(hidden)]
#[track_caller]
pub fn emulated_shared(name: &'static str, bytes: usize) -> *mut u8 {
    simt::static_shared(name, bytes, 16)
}
