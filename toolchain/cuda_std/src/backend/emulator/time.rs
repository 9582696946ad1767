//! Emulated time.

#[track_caller]
pub(crate) fn clock() -> u64 {
    simt::clock()
}

#[track_caller]
pub(crate) fn global_timer() -> u64 {
    simt::global_timer()
}

#[track_caller]
pub(crate) fn nanosleep(nanoseconds: u32) {
    simt::nanosleep(nanoseconds);
}
