//! Selections: the matrix, and the cases outside it.
//!
//! | module | what it tests |
//! |---|---|
//! | `matrix` | every kernel × size × backend, several groups, every schedule of the emulator |
//! | `alignment` | input and outputs that start at any element |
//! | `repeat` | one workspace, many lengths; the last stamp; few resident blocks; larger shapes |
//! | `values` | NaN, infinities and zeros; a user-defined predicate |

mod alignment;
mod matrix;
mod repeat;
mod values;

use crate::matrix::same_bits;
use bytemuck::Pod;
use gridsync::device::Buffer;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    Trials::of(module_path!()).with([
        alignment::trials(),
        matrix::trials(),
        repeat::trials(),
        values::trials(),
    ])
}

/// Downloads the first `len` elements of a buffer.
fn first<A: Pod>(buffer: &Buffer<A>, len: usize) -> Vec<A> {
    let part = buffer.download_part(0..len);
    part.expect("the kernel should have run")
}
