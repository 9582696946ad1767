//! A stable counting sort by four bits of each element.
//!
//! Each block counts its elements in each of 16 bins. The counts of all blocks form an array,
//! ordered by bin, whose exclusive scan gives the output index of each block's elements of each
//! bin. [`counting_sort`] does it in one launch: a scan over all threads of the grid scans the
//! array.

use crate::{each_element, lanes_below};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_index, warp_match_any};
use gridsync_kernels::grid::barrier::{Barrier, Exchange, GridBarrier};
use gridsync_kernels::op::Sum;

/// The number of bins.
pub const BINS: usize = 16;

/// The maximum number of warps per block.
const WARPS: usize = 32;

shared_array! {
    /// For each warp its counts, and then the counts of all warps before it.
    fn gridsync_example_counts() -> [u32; WARPS * BINS];
}

shared_array! {
    /// For each bin, the output index of the block's elements.
    fn gridsync_example_starts() -> [u32; BINS];
}

/// The part of the shared counts that belongs to this warp.
#[device]
fn counts_of_warp() -> Shared<u32> {
    gridsync_example_counts().part(warp_index() as usize * BINS, BINS)
}

/// The index in the array of this block's count for the thread's bin.
#[device]
fn place_in_array() -> usize {
    thread::index_in_block() * thread::block_count() + thread::block_index()
}

/// The bin of an element, or [`BINS`] if there is none.
#[device]
fn bin_of(element: Option<u32>, shift: u32) -> usize {
    element.map_or(BINS, |element| (element >> shift) as usize % BINS)
}

/// Counts the elements of the block, into shared memory and the array.
#[device]
fn count(input: Global<u32>, shift: u32, array: Global<u32>) {
    let (of_warp, me) = (counts_of_warp(), thread::index_in_block());
    if (lane_id() as usize) < BINS {
        of_warp.write(lane_id() as usize, 0);
    }
    sync_warp(FULL_MASK);
    each_element(input, |element| {
        if element.is_some() {
            of_warp.add(bin_of(element, shift), 1, Ordering::Relaxed, Scope::Block);
        }
    });
    thread::sync_threads();
    if me < BINS {
        let mut before = 0;
        for warp in 0..(thread::in_32_bits::threads_per_block() / WARP_SIZE) as usize {
            let at = warp * BINS + me;
            let count = gridsync_example_counts().read(at);
            gridsync_example_counts().write(at, before);
            before += count;
        }
        array.write(place_in_array(), before);
    }
}

/// Writes each element of the block to its output index. The array has been scanned.
#[device]
fn place(input: Global<u32>, shift: u32, array: Global<u32>, output: Global<u32>) {
    let (of_warp, starts) = (counts_of_warp(), gridsync_example_starts());
    let me = thread::index_in_block();
    if me < BINS {
        starts.write(me, array.read(place_in_array()));
    }
    thread::sync_threads();
    each_element(input, |element| {
        let bin = bin_of(element, shift);
        let alike = warp_match_any(FULL_MASK, bin as u32);
        let before = lanes_below(alike);
        if let Some(element) = element {
            output.write((starts.read(bin) + of_warp.read(bin) + before) as usize, element);
        }
        sync_warp(FULL_MASK);
        if element.is_some() && before == 0 {
            of_warp.write(bin, of_warp.read(bin) + alike.count_ones());
        }
        sync_warp(FULL_MASK);
    });
}

/// Sorts `input` into `output` by four bits, starting at bit `shift`. Equal ones keep their order.
///
/// # Safety
///
/// `output` has as many elements as `input`, fewer than 2^32, and does not overlap with it. `array`
/// has 16 elements per block. `barrier` and `words` have the words of a [`GridBarrier`] and an
/// [`Exchange`]. Blocks have a multiple of 32 threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn counting_sort(
    input: Global<u32>,
    shift: u32,
    array: Global<u32>,
    output: Global<u32>,
    barrier: Global<u32>,
    words: Global<u64>,
) {
    let mut barrier = GridBarrier::attach(barrier);
    let mut exchange = Exchange::attach(words);
    count(input, shift, array);
    barrier.sync();
    // The first threads of the grid handle one count each.
    let (me, has_count) = (thread::index(), thread::index() < array.len());
    let count = if has_count { array.read(me) } else { 0 };
    let places = exchange.scan_threads(Sum::<u32>::new(), count);
    if has_count {
        array.write(me, places.before);
    }
    barrier.sync();
    place(input, shift, array, output);
}

/// Counts the elements of each block, for a scan of `array` and [`counting_sort_place`].
///
/// # Safety
///
/// `array` has 16 elements per block. Blocks have a multiple of 32 threads.
#[kernel]
pub unsafe fn counting_sort_count(input: Global<u32>, shift: u32, array: Global<u32>) {
    count(input, shift, array);
}

/// Writes the elements to their output indices. It recomputes the counts of its warps, into
/// `spare`.
///
/// # Safety
///
/// `array` has the exclusive scan of the result of [`counting_sort_count`] for the same input,
/// shift and grid, and `spare` has as many elements. `output` has as many elements as `input`, and
/// does not overlap with it.
#[kernel]
pub unsafe fn counting_sort_place(
    input: Global<u32>,
    shift: u32,
    array: Global<u32>,
    spare: Global<u32>,
    output: Global<u32>,
) {
    count(input, shift, spare);
    thread::sync_threads();
    place(input, shift, array, output);
}
