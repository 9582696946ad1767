//! The reduction of an array by the whole grid, in one launch.
//!
//! Every thread strides over the array by 16-byte loads, several of them in flight; each block
//! combines what its threads have; the block that finishes last combines the results of all blocks
//! in the order of their numbers. So the order of a floating-point sum depends on the length, the
//! alignment and the shape of the grid, and on nothing else: two runs give the same bits.
//!
//! Moves n elements once, and one accumulator per block twice.

use crate::block;
use crate::op::Operation;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// How many 16-byte loads a thread has in flight.
// 4 × 16 bytes × 2048 threads are 128 KiB per multiprocessor: latency 0.7 µs × 4.8 TB/s / 132
// multiprocessors asks for about 25 KiB. Measured on an H200: see bench/runs.
pub const LOADS_IN_FLIGHT: usize = 4;

/// Reduces `input` to `result[0]`.
///
/// Called by every thread of the grid; blocks are a multiple of 32 threads. The operation commutes.
/// Nobody writes `input` while the kernel runs, so it overlaps none of the others. `partials` has
/// room for one accumulator per block and may hold anything. `ticket[0]` is 0 before the first
/// launch, and 0 again after each that ended. The first thread of the block that finishes last
/// writes the result; it is visible to what follows on the stream. No co-residency needed.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn reduce<O: Operation>(
    input: Global<O::Element>,
    partials: Global<O::Accumulator>,
    ticket: Global<u32>,
    result: Global<O::Accumulator>,
) {
    let of_block = block::reduce::<O>(reduce_thread::<O>(input));
    let blocks = thread::block_count();
    if blocks == 1 {
        if thread::is_first_in_block() {
            result.write(0, of_block);
        }
        return;
    }

    let mut last = false;
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), of_block);
        // Releases this block's partial, and acquires all others if this block is the last. The
        // ticket wraps to 0 with the last block's increment, ready for the next launch.
        let before = ticket.fetch_inc(0, blocks as u32 - 1, Ordering::AcqRel, Scope::Device);
        last = before == blocks as u32 - 1;
    }
    if !thread::sync_threads_or(last) {
        return;
    }

    let mut value = O::identity();
    let mut i = thread::index_in_block() as usize;
    while i < blocks {
        value = O::combine(value, partials.read(i));
        i += thread::threads_per_block() as usize;
    }
    let value = block::reduce::<O>(value);
    if thread::is_first_in_block() {
        result.write(0, value);
    }
}

/// What this thread's share of `input` combines to.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn reduce_thread<O: Operation>(input: Global<O::Element>) -> O::Accumulator {
    let (me, threads) = (thread::index(), thread::thread_count());
    let width = O::Element::PACK;
    let head = input.unaligned_head();
    let packs = (input.len() - head) / width;
    let load = |p: usize| {
        let pack = input.read_pack(head + p * width, CacheHint::ReadOnly);
        O::Element::map_pack(pack, O::lift)
    };

    // One accumulator per place in a pack: independent chains, and no shuffling within a pack.
    const { assert!(LOADS_IN_FLIGHT == 4, "the loop below writes out four loads") };
    let mut lanes = <O::Element as Scalar>::Pack::splat(O::identity());
    let mut p = me;
    while p + (LOADS_IN_FLIGHT - 1) * threads < packs {
        let loaded = [
            load(p),
            load(p + threads),
            load(p + 2 * threads),
            load(p + 3 * threads),
        ];
        let halves = [
            loaded[0].zip(loaded[1], O::combine),
            loaded[2].zip(loaded[3], O::combine),
        ];
        lanes = lanes.zip(halves[0].zip(halves[1], O::combine), O::combine);
        p += LOADS_IN_FLIGHT * threads;
    }
    while p < packs {
        lanes = lanes.zip(load(p), O::combine);
        p += threads;
    }
    let mut value = lanes.fold(O::combine);

    // Fewer than one pack of elements lie before the first aligned one, and after the last pack.
    let tail = head + packs * width;
    if me < head {
        value = O::combine(value, O::lift(input.read(me)));
    }
    if tail + me < input.len() {
        value = O::combine(value, O::lift(input.read(tail + me)));
    }
    value
}
