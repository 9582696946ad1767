//! Bulk copies, checked.

use super::mbarrier;
use crate::memory::{Global, Scalar, Shared, Space, View};

/// The pointer to the first element.
#[track_caller]
fn start<T: Scalar, S: Space>(view: View<T, S>) -> *mut u8 {
    core::ptr::with_exposed_provenance_mut(S::to_bits(view.at(0)) as usize)
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
    simt::bulk_load(start(to), start(from), bytes, barrier, mbarrier::after_copy);
}

#[track_caller]
pub(crate) unsafe fn store<T: Scalar>(to: Global<T>, from: Shared<T>) {
    let bytes = bytes::<T>(to.len(), from.len());
    simt::bulk_store(start(to), start(from), bytes);
}

#[track_caller]
pub(crate) fn wait_read<const N: u32>() {
    simt::bulk_wait_read(N as usize);
}

#[track_caller]
pub(crate) fn wait_stored() {
    simt::bulk_wait_stored();
}

#[track_caller]
pub(crate) fn fence_shared() {
    simt::bulk_fence();
}
