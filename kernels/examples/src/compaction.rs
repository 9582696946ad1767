//! Compaction: keeps the elements above a bound, in their order.
//!
//! Each warp counts in its part of the array. A scan over all threads of the grid gives the index
//! of each warp's elements. Then the warp writes them. All of this is one launch, so a kernel can
//! continue with the kept elements.

use crate::{each_element, lanes_below};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_vote_ballot};
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// Writes the elements of `input` above `bound` to `kept`, and their number to `count[0]`.
///
/// # Safety
///
/// `kept` has room for them, and does not overlap with `input`; `count` has one element. There are
/// fewer than 2^32 elements. `words` has the words of an [`Exchange`]. Blocks have a multiple of 32
/// threads and are all co-resident.
#[kernel(cooperative, max_threads = 1024)]
pub unsafe fn compact_above(
    input: Global<f32>,
    bound: f32,
    kept: Global<f32>,
    count: Global<u32>,
    words: Global<u64>,
) {
    let mut exchange = Exchange::attach(words);
    let if_kept = |element: Option<f32>| element.filter(|&element| element > bound);
    let mut own = 0;
    each_element(input, |element| own += u32::from(if_kept(element).is_some()));
    let places = exchange.scan_threads(Sum::<u32>::new(), own);
    if thread::first() {
        count.write(0, places.all);
    }

    // The warps before this one keep the same elements as the threads before its first lane.
    let mut place = warp::of_lane(places.before, 0);
    each_element(input, |element| {
        let lanes = warp_vote_ballot(FULL_MASK, if_kept(element).is_some());
        if let Some(element) = if_kept(element) {
            kept.write((place + lanes_below(lanes)) as usize, element);
        }
        place += lanes.count_ones();
    });
}
