//! Kernels that launch kernels.
//!
//! * [`schedules`]: three ways to compute one result with three children.
//! * [`order`]: parents whose children log the order in which they run.
//! * [`values`]: values that children receive and see; refused launches; queries of the device.
//! * [`children`]: the kernels that these launch.

pub mod children;
pub mod order;
pub mod schedules;
pub mod values;

use cuda_std::device_runtime::Error;
use cuda_std::prelude::*;

/// Writes the outcome of a parent's launches: 0, or the code of the first error.
///
/// `status` has one element. Called by one thread of the grid.
#[device]
pub(crate) fn tell(status: Global<u32>, outcome: Result<(), Error>) {
    status.write(0, outcome.map_or_else(|error| error.0, |()| 0));
}
