//! The order of grids: the emulator runs them sequentially.

#[track_caller]
pub(crate) fn wait() {}

#[track_caller]
pub(crate) fn launch_dependents() {}
