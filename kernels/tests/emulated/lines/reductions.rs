//! Reductions.

use super::{Add, on};
use crate::support::Zeros;
use gridsync_kernels::grid;
use gridsync_kernels::grid::reduce::{self, Batch};
use gridsync_kernels::grid::softmax;
use gridsync_kernels::op::{Carried, Exponentials};

#[test]
fn faults_in_reductions_name_the_caller() {
    let op = Add::new();
    let workspace = |zeros: Zeros| grid::Workspace {
        words: zeros.of(1, reduce::MOST_TILES),
        state: zeros.of(2, reduce::STATE),
    };
    let shape = reduce::Shape::of::<u32>(9000);
    let long = reduce::Shape::of::<u32>(3000);
    let batch = Batch::of::<u32>(40).expect("forty elements are a short row");
    walk! {
        on(shape.tiles, 32 * shape.warps) => |zeros|
            grid::reduce(op, zeros.of(0, 9000), workspace(zeros), zeros.of(3, 1), shape.runs);
        on(long.tiles, 32 * long.warps) => |zeros| reduce::reduce_long_rows(
            op, zeros.of(0, 3000), workspace(zeros), zeros.of(3, 1), 3000, long.runs);
        on(1, 32) => |zeros|
            reduce::reduce_short_rows(op, zeros.of(0, 280), zeros.of(3, 7), 40, batch);
        on(1, 32) => |zeros|
            reduce::finish_rows(op, zeros.of(0, 7), 40, zeros.of::<u32>(3, 7));
    }
}

#[test]
fn faults_in_softmax_name_the_caller() {
    let batch = Batch::of::<f32>(40).expect("forty elements are a short row");
    let words = Exponentials::<f32>::WORDS;
    walk! {
        on(1, 32) => |zeros|
            softmax::softmax_short_rows::<f32>(zeros.of(0, 280), zeros.of(3, 280), 7, 40, batch);
        on(1, 64) => |zeros|
            softmax::softmax_middle_rows::<f32>(zeros.of(0, 1500), zeros.of(3, 1500), 1500);
        on(1, 64) => |zeros|
            softmax::softmax_long_rows::<f32>(zeros.of(0, 1500), zeros.of(3, 1500), zeros.of(2, words), 1500);
    }
}
