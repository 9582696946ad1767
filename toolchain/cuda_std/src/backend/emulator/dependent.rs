//! The order of grids.

#[track_caller]
pub(crate) fn wait() {
    simt::dependency_wait();
}

#[track_caller]
pub(crate) fn launch_dependents() {
    simt::launch_dependents();
}
