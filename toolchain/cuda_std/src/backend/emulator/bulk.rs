//! Checked bulk copies.

use crate::memory::{Global, GlobalSpace, Scalar, Shared, SharedSpace, Space};

/// The pointer at an address.
fn pointer<S: Space>(at: S::Address) -> *mut u8 {
    core::ptr::with_exposed_provenance_mut(S::to_bits(at) as usize)
}

/// The bytes of a copy.
#[track_caller]
fn bytes<T: Scalar>(to: usize, from: usize) -> usize {
    if to != from {
        simt::trap(&format!(
            "a bulk copy goes between views of one length, not from {from} elements to {to}: take \
             parts of them"
        ));
    }
    from * size_of::<T>()
}

#[track_caller]
pub(crate) unsafe fn load<T: Scalar>(to: Shared<T>, from: Global<T>, barrier: *mut u8) {
    let bytes = bytes::<T>(to.len(), from.len());
    let (to, from) = (pointer::<SharedSpace>(to.at(0)), pointer::<GlobalSpace>(from.at(0)));
    simt::bulk_load(to, from, bytes, barrier, simt::Phase::after_copy);
}

#[track_caller]
pub(crate) unsafe fn store<T: Scalar>(to: Global<T>, from: Shared<T>) {
    let bytes = bytes::<T>(to.len(), from.len());
    let (to, from) = (pointer::<GlobalSpace>(to.at(0)), pointer::<SharedSpace>(from.at(0)));
    simt::bulk_store(to, from, bytes);
}

#[track_caller]
pub(crate) fn wait_read<const N: u32>() {
    simt::bulk_wait_read(N as usize);
}

#[track_caller]
pub(crate) fn wait_stored() {
    simt::bulk_wait_stored(0);
}

#[track_caller]
pub(crate) fn fence_shared() {
    simt::bulk_fence();
}
