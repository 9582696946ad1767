//! Functions of warps and blocks.

use super::{Add, on};
use cuda_std::prelude::shared_array;
use gridsync_kernels::block::{self, Slots};
use gridsync_kernels::op::{
    Compensated, CompensatedSum, InSegments, Operation, Segments, same_words,
};
use gridsync_kernels::warp;

shared_array! {
    fn slots() -> [u32; 128];
}

shared_array! {
    fn counters() -> [u32; 4 * 128];
}

#[test]
fn faults_in_warp_and_block_functions_name_the_caller() {
    let op = Add::new();
    let lane = cuda_std::warp::lane_id;
    let four = CompensatedSum::<f64>::new().identity();
    walk! {
        on(1, 32) => |_zeros| warp::reduce(op, lane());
        on(1, 32) => |_zeros| warp::reduce_groups::<Add, 8>(op, lane());
        on(1, 32) => |_zeros| warp::reduce_rows(op, [lane(); 8]);
        on(1, 32) => |_zeros| warp::scan_rows(op, [lane(); 8]);
        on(1, 32) => |_zeros| warp::ranks([lane(); 4], 0, 32);
        on(1, 32) => |_zeros| warp::sort(lane());
        on(1, 32) => |_zeros| warp::scan(op, lane());
        on(1, 32) => |_zeros| warp::scan_each(op, [lane(), 2]);
        on(1, 32) => |_zeros| warp::scan_exclusive(op, lane());
        on(1, 32) => |_zeros| warp::before(op, lane());
        on(1, 32) => |_zeros| warp::total(lane());
        on(1, 32) => |_zeros| warp::swap(u64::from(lane()), 3);
        on(1, 32) => |_zeros| warp::of_lane(four, 3);
        on(1, 32) => |_zeros| same_words(four, four);
        on(2, 96) => |_zeros| block::reduce(op, lane());
        on(2, 96) => |_zeros| block::scan(op, lane());
        on(2, 96) => |_zeros| block::scan_exclusive(op, lane());
        on(2, 96) => |_zeros| block::sort(lane(), slots().part(0, 96));
        on(1, 128) => |_zeros| block::rank(lane(), counters());
        on(1, 32) => |_zeros| {
            let slots = Slots::<4>::new(slots());
            slots.write(lane() as usize, four);
            slots.read::<Compensated<f64>>(lane() as usize)
        };
        on(1, 4) => |zeros| {
            // SAFETY: a word for 32 elements.
            let segments = unsafe { Segments::marked(zeros.of(0, 1)) };
            let first = segments.starts(1);
            (first, InSegments::<Add>::new(segments).lift(1, 2))
        };
    }
}
