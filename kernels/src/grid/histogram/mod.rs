//! A histogram by the whole grid in one launch: how many elements of an array are in each bin.
//!
//! Each block counts in its shared memory, and then adds its counts to those of the grid in global
//! memory. See the protocol in `README.md`.

mod binning;
mod counters;
mod packs;

pub use binning::{
    Binning, Double, Doubled, Edges, NONE, Numbers, PackOf, Single, Steps, Unsigned,
};
pub use counters::{Counts, Layout, THREADS};

use super::overlap;
use crate::block::ThreadPosition;
use counters::{Counters, HALVES_EACH};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use packs::each_pack;

/// The results of a histogram, and how blocks add them up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// The result: a count for each bin.
    pub counts: Counts,
    /// If the last block writes the result: a count for each bin, zero between launches. Otherwise
    /// empty: blocks add to `counts`, which were zeroed before.
    pub partial: Counts,
    /// The number of blocks that have ended, zero between launches. Empty as `partial` is.
    pub ended: Global<u32>,
}

// SAFETY: `repr(C)` of views.
unsafe impl KernelArg for Sums {}

shared_array! {
    /// Whether the block is the last.
    fn gridsync_histogram_last() -> [u32; 1];
}

/// Counts the elements of `input` in each of `bins` bins.
///
/// Called by every thread of a grid of [`THREADS`] along x, of any number of blocks, with
/// [`Layout::shared_bytes`] of dynamic shared memory. A single block in a layout other than
/// [`Layout::GLOBAL`] and [`Layout::HALVES`] sets `sums.counts` and needs nothing else; otherwise
/// see [`Sums`]. The blocks need not be co-resident. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
#[device(protocol = "the histogram")]
pub fn histogram<B: Binning>(
    binning: B,
    input: Global<B::Element>,
    bins: u32,
    layout: Layout,
    sums: Sums,
) {
    let at = ThreadPosition::here();
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    let first = (block * THREADS + at.thread) as usize;
    let step = (blocks * THREADS) as usize;
    let total = if sums.ended.is_empty() { sums.counts } else { sums.partial };
    if layout == Layout::GLOBAL {
        overlap::begin();
        each_bin(binning, input, first, step, block == 0, |bin| {
            if bin < bins {
                sums.counts.add(bin as usize, 1);
            }
        });
        return;
    }
    let counters = Counters::zeroed(layout, bins, at);
    overlap::begin();
    if layout == Layout::HALVES {
        count_in_halves(binning, input, first, step, block == 0, |bin| {
            counters.add_in_half(bin, total);
        });
    } else {
        let column = counters.column(layout, at.lane);
        each_bin(binning, input, first, step, block == 0, |bin| column.add(bin));
    }
    thread::sync_threads();
    if blocks == 1 && sums.ended.is_empty() && layout != Layout::HALVES {
        counters.each(layout, at, |bin, count| sums.counts.write(bin, count.into()));
        return;
    }
    counters.each(layout, at, |bin, count| {
        if count != 0 {
            total.add(bin, count);
        }
    });
    if !sums.ended.is_empty() {
        finish(bins, blocks, sums, at);
    }
}

/// Calls `count` with the bins of elements in one thread: see [`each_pack`].
#[inline(always)]
fn each_bin<B: Binning>(
    binning: B,
    input: Global<B::Element>,
    first: usize,
    step: usize,
    rest: bool,
    count: impl Fn(u32),
) {
    let of_pack = |pack| binning.each_bin(pack, &count);
    each_pack(input, first, step, rest, of_pack, |element| count(binning.bin(element)));
}

/// Like [`each_bin`]. All threads of the block wait for each other after at most [`HALVES_EACH`]
/// elements of each, because a half word that is full has not been emptied before.
#[inline(always)]
fn count_in_halves<B: Binning>(
    binning: B,
    input: Global<B::Element>,
    first: usize,
    step: usize,
    rest: bool,
    count: impl Fn(u32),
) {
    // With two more for the elements before and after the packs.
    let packs = (HALVES_EACH - 2) / B::Element::PACK;
    let each = packs * B::Element::PACK * step;
    let head = input.unaligned_head();
    let mut start = 0;
    while start < input.len() {
        // Later parts begin at a pack.
        let len = if start == 0 { head + each } else { each };
        let len = len.min(input.len() - start);
        each_bin(binning, input.part(start, len), first, step, rest, &count);
        thread::sync_threads();
        start += len;
    }
}

/// Lets the block that ends last write the result. Called by all threads of each block.
#[device]
fn finish(bins: u32, blocks: u32, sums: Sums, at: ThreadPosition) {
    thread::sync_threads();
    if at.thread == 0 {
        let last = blocks - 1;
        // The block's counts come before, those of all others after, if this is the last.
        let ended = sums.ended.fetch_inc(0, last, Ordering::AcqRel, Scope::Device);
        gridsync_histogram_last().write(0, (ended == last).into());
    }
    thread::sync_threads();
    if gridsync_histogram_last().read(0) != 0 {
        let mut bin = at.thread as usize;
        while bin < bins as usize {
            sums.counts.write(bin, sums.partial.take(bin));
            bin += THREADS as usize;
        }
    }
}
