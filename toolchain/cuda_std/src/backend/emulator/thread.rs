//! The position of an emulated thread, and the barrier of its block.

use crate::dim::Dim3;

macro_rules! positions {
    ($($name:ident;)*) => {$(
        #[track_caller]
        pub(crate) fn $name() -> Dim3 {
            let simt::Dim3 { x, y, z } = simt::position().$name;
            Dim3 { x, y, z }
        }
    )*};
}
positions! { thread_idx; block_idx; block_dim; grid_dim; }

#[track_caller]
pub(crate) fn branch(condition: bool) -> bool {
    simt::branch(condition)
}

#[track_caller]
pub(crate) fn barrier() {
    simt::block_barrier();
}

#[track_caller]
pub(crate) fn barrier_count(predicate: bool) -> u32 {
    simt::block_vote(predicate.into()).count
}

#[track_caller]
pub(crate) fn barrier_and(predicate: bool) -> bool {
    simt::block_vote(predicate.into()).all
}

#[track_caller]
pub(crate) fn barrier_or(predicate: bool) -> bool {
    simt::block_vote(predicate.into()).any
}

#[track_caller]
pub(crate) fn trap(message: &str) -> ! {
    simt::trap(message)
}

/// Returns whether to keep waiting.
#[track_caller]
pub(crate) fn spin() -> bool {
    simt::spin()
}
