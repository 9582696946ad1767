//! The scans: the matrix, and what it does not reach.
//!
//! | module | what it stamps or tries |
//! |---|---|
//! | `matrix` | every scan × size × backend, several groups, every schedule of the emulator |
//! | `alignment` | input and output that start anywhere; in place |
//! | `bits` | the same bits everywhere; the last stamp; more than one group of full size |
//! | `bulk` | the kernels by bulk copies |
//! | `delays` | ten thousand scans with blocks held up |
//! | `order` | an operation that does not commute |
//! | `parts` | long arrays part by part |
//! | `repeat` | one workspace, many lengths; few resident blocks |
//! | `segments` | rows of a matrix, and segments that are marked |
//! | `special` | operations with parameters, and with accumulators of several words |

mod alignment;
mod bits;
mod bulk;
mod delays;
mod matrix;
mod order;
mod parts;
mod repeat;
mod segments;
mod special;

pub(crate) use matrix::rows;

use bytemuck::Pod;
use gridsync::device::{Device, Geometry};
use gridsync::primitives::scan::Form;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::{STATE, Shape};
use gridsync_kernels::op::Carried;

/// Both forms.
const FORMS: [Form; 2] = [Form::Inclusive, Form::Exclusive];

/// Scans `host` on `device` in any shape of its length.
fn scan_in<O>(
    op: O,
    device: &Device,
    shape: Shape,
    host: &[O::Element],
    form: Form,
) -> Vec<O::Output>
where
    O: Scannable,
    O::Element: Pod,
    O::Output: Pod,
{
    let input = device.upload(host).expect("the input should fit");
    let output = device.alloc(host.len()).expect("the output should fit");
    let words = shape.places() * O::Accumulator::WORDS;
    let words = device.zeroed::<u64>(words).expect("the words should fit");
    let state = device.zeroed::<u32>(STATE).expect("the state should fit");
    let args = op.arguments(Arguments {
        input: input.view(),
        output: output.view(),
        words: words.view(),
        state: state.view(),
        rows: shape.rows,
        group: shape.group,
        mode: form as u32,
    });
    let geometry = Geometry::new(shape.tiles, shape.threads());
    // SAFETY: the shape is of the input's length and the grid the shape's; the workspace is new; all
    // outlive the launch, which the download waits for.
    unsafe { device.launch::<O::Kernel>(&geometry, args) }.expect("it should launch");
    output.download().expect("the kernel should have run")
}

/// The same bits, or where they differ first.
#[track_caller]
fn same_bits<A: Pod + std::fmt::Debug>(what: &str, got: &[A], expected: &[A]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        let same = bytemuck::bytes_of(a) == bytemuck::bytes_of(b);
        assert!(same, "{what}: {a:?} at {i}, not the bits of {b:?}");
    }
}
