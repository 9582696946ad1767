//! The scans: the matrix, and the cases outside it.
//!
//! | module | what it tests |
//! |---|---|
//! | `matrix` | every scan × size × backend, several groups, every schedule of the emulator |
//! | `alignment` | input and output that start at any element; in place |
//! | `bits` | the same bits everywhere; the last stamp; more than one group of full size |
//! | `bulk` | the kernels with bulk copies |
//! | `delays` | ten thousand scans with delayed blocks |
//! | `order` | an operation that does not commute |
//! | `parts` | long arrays part by part |
//! | `repeat` | one workspace, many lengths; few resident blocks |
//! | `rows` | each row of a matrix, with the bits of the row alone |
//! | `segments` | segments of one length, and segments with marks |
//! | `special` | operations with parameters, and with accumulators of several words |

mod alignment;
mod bits;
mod bulk;
mod delays;
mod matrix;
mod order;
mod parts;
mod repeat;
pub(crate) mod rows;
mod segments;
mod special;

use crate::matrix::same_bits;
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::scan::Form;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_tests::trials::Trials;
use gridsync_verify::scan_in_shape;

pub(crate) fn trials() -> Trials {
    Trials::of(module_path!()).with([
        alignment::trials(),
        bits::trials(),
        bulk::trials(),
        delays::trials(),
        matrix::trials(),
        order::trials(),
        parts::trials(),
        repeat::trials(),
        rows::trials(),
        segments::trials(),
        special::trials(),
    ])
}

/// Both forms.
const FORMS: [Form; 2] = [Form::Inclusive, Form::Exclusive];

/// Scans `host` on `device` in any shape for its length.
fn scan_in<O>(
    op: O,
    device: &Device,
    shape: Shape,
    host: &[O::Element],
    form: Form,
) -> Vec<O::Output>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    scan_in_shape(op, device, shape, host, form).expect("the kernel should have run")
}
