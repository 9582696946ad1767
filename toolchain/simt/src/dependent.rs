//! The in-thread functions of programmatic dependent launch (PTX ISA, "griddepcontrol").
//!
//! As in [`crate::thread`], they record their caller's location and panic outside an emulated
//! thread.

use crate::fiber::Request;
use crate::here::with;
use crate::weaken::Orders;

/// Lets the grids that overlap this one ([`After::Trigger`](crate::After::Trigger)) start, as far as
/// the calling block is concerned (`griddepcontrol.launch_dependents`). They may start when every
/// block of this grid has called this or ended. Only a block's first call has an effect.
///
/// Orders nothing. A scheduling point if a grid may overlap this one; otherwise it does nothing.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn launch_dependents() {
    with("launch_dependents", |here, spot| {
        if here.grid().is_overlapped {
            here.stop(Request::LaunchDependents, spot);
        }
    });
}

/// Waits until the grids that this one overlaps ([`After::Trigger`](crate::After::Trigger)) have
/// ended (`griddepcontrol.wait`). Everything that they did comes before what the calling thread does
/// next. Does nothing in a grid that overlaps none.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn dependency_wait() {
    with("dependency_wait", |here, spot| {
        let overlaps = &here.grid().overlaps;
        if overlaps.is_empty() || here.meet(Orders::DependencyWait, spot).is_some() {
            return;
        }
        if here.stop(Request::DependencyWait, spot).is_some()
            && let Some(races) = &here.world.races
        {
            races.follow_grids(here.world.thread_number(&here.position), overlaps);
        }
    });
}
