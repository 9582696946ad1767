//! Selections: the matrix, and what it does not reach.
//!
//! | module | what it stamps or tries |
//! |---|---|
//! | `matrix` | every kernel × size × backend, several groups, every schedule of the emulator |
//! | `alignment` | input and outputs that start anywhere |
//! | `repeat` | one workspace, many lengths; the last stamp; few resident blocks; larger shapes |
//! | `values` | NaN, infinities and zeros; a predicate of one's own |

mod alignment;
mod matrix;
mod repeat;
mod values;

pub(crate) use matrix::kernels;

use bytemuck::Pod;
use gridsync::device::{Buffer, Device, Geometry};
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::{STATE, Shape};
use gridsync_kernels::grid::select::{Outputs, WORDS};
use std::fmt::Debug;

/// A selection in any shape of the length of its input, in a workspace that serves many launches.
struct Bench<S: Selectable<Element: Pod>> {
    by: S,
    device: Device,
    shape: Shape,
    host: Vec<S::Element>,
    input: Buffer<S::Element>,
    words: Buffer<u64>,
    state: Buffer<u32>,
}

impl<S: Selectable<Element: Pod + Debug> + Debug> Bench<S> {
    /// By `by` from `host`, after the launch whose stamp is `stamp`.
    fn new(by: S, device: &Device, shape: Shape, host: Vec<S::Element>, stamp: u32) -> Self {
        let mut state = [0; STATE];
        state[1] = stamp;
        Self {
            by,
            device: device.clone(),
            shape,
            input: device.upload(&host).expect("the input should fit"),
            words: device
                .zeroed(shape.places() * WORDS)
                .expect("the words should fit"),
            state: device.upload(&state).expect("the state should fit"),
            host,
        }
    }

    /// Launches once, holds the results against a loop, and says which stamp was left.
    fn run(&self) -> u32 {
        let (len, shape) = (self.host.len(), self.shape);
        let alloc = |len| self.device.alloc(len).expect("the outputs should fit");
        let (kept, rest) = (alloc(len), alloc(len));
        let positions = self.device.alloc(len).expect("the outputs should fit");
        let count = self.device.alloc(1).expect("the outputs should fit");
        let outputs = Outputs {
            kept: kept.view(),
            rest: rest.view(),
            positions: positions.view(),
            count: count.view(),
        };
        let args = self.by.arguments(Arguments {
            input: self.input.view(),
            outputs,
            words: self.words.view(),
            state: self.state.view(),
            rows: shape.rows,
            group: shape.group,
        });
        let geometry = Geometry::new(shape.tiles, shape.threads());
        // SAFETY: the shape is of the input's length and the grid the shape's; no word holds a stamp
        // that is yet to come; all outlive the launch, which the downloads wait for.
        unsafe { self.device.launch::<S::Kernel>(&geometry, args) }.expect("it should launch");

        let is_kept = |&index: &usize| self.by.is_kept(&self.host, index);
        let (inside, outside): (Vec<_>, Vec<_>) = (0..len).partition(is_kept);
        let elements = |indices: &[usize]| indices.iter().map(|&i| self.host[i]).collect();
        let inside_64: Vec<u64> = inside.iter().map(|&index| index as u64).collect();
        let what = format!("{:?} of {len} in {shape:?}", self.by);
        same_bits(&what, &first(&count, 1), &[inside.len() as u64]);
        let (of_inside, of_outside): (Vec<_>, Vec<_>) = (elements(&inside), elements(&outside));
        same_bits(&what, &first(&kept, inside.len()), &of_inside);
        same_bits(&what, &first(&rest, outside.len()), &of_outside);
        same_bits(&what, &first(&positions, inside.len()), &inside_64);
        let state = first(&self.state, STATE);
        assert_eq!((state[0], state[2]), (0, 0), "{what}: {state:?}");
        state[1]
    }
}

/// The first elements of a buffer.
fn first<A: Pod>(buffer: &Buffer<A>, len: usize) -> Vec<A> {
    let part = buffer.download_part(0..len);
    part.expect("the kernel should have run")
}

/// The same bits, or where they differ first.
#[track_caller]
fn same_bits<A: Pod + Debug>(what: &str, got: &[A], expected: &[A]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        let same = bytemuck::bytes_of(a) == bytemuck::bytes_of(b);
        assert!(same, "{what}: {a:?} at {i}, not the bits of {b:?}");
    }
}
