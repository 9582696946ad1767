//! Arrays whose length only memory knows.

use cuda_std::prelude::*;

/// The first elements of `array`, as many as the number in `count` says, and at most all. All of
/// them if `count` has no number.
///
/// So a launch can take what an earlier one has counted, without the host in between. Called by any
/// threads of the grid. The number was written by an earlier launch, and nobody writes it while
/// this one runs.
#[device]
pub fn counted<T: Scalar>(array: Global<T>, count: Global<u64>) -> Global<T> {
    match count.is_empty() {
        true => array,
        false => array.part(0, array.len().min(count.read(0) as usize)),
    }
}
