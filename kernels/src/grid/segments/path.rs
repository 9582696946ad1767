//! The path: the elements of an array merged with the ends of its segments.

use crate::block::ThreadPosition;
use crate::grid::tiles::MOST_GROUP;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Steps of the path that a thread takes, for elements of `T`.
///
/// An odd number keeps the lanes of a warp out of each other's banks of shared memory. A tile needs
/// 30 or 31 KiB of it, so the four or five blocks for which there are registers fit on a
/// multiprocessor. Other numbers have not been measured.
#[inline(always)]
#[must_use]
pub const fn steps<T: Scalar>() -> u32 {
    if size_of::<T>() > 4 { 15 } else { 31 }
}

/// Tiles of an array of `len` elements of `T` in `segments` segments: the blocks of a launch.
///
/// # Panics
/// If there are 2^31 tiles or more.
#[must_use]
pub fn tiles<T: Scalar>(len: usize, segments: usize) -> u32 {
    let tile = (THREADS * steps::<T>()) as usize;
    let tiles = (len + segments).div_ceil(tile).max(1);
    assert!(tiles < 1 << 31, "{len} elements in {segments} segments are too many");
    tiles as u32
}

/// The most combinations that any element of `T` goes through on its way into a result: each is a
/// rounding in a floating-point sum.
///
/// In the run of its thread, over the lanes and the warps, and two ⊕ that join these. After that the
/// tree of a group, one ⊕ for each later base, that of base and tree, and that with the tile.
#[must_use]
pub const fn depth<T: Scalar>(tiles: u32) -> u32 {
    let in_tile = steps::<T>() + WARP_SIZE.ilog2() + (THREADS / WARP_SIZE).ilog2() + 2;
    let across = if tiles > 1 { MOST_GROUP.ilog2() + tiles.div_ceil(MOST_GROUP) + 2 } else { 0 };
    in_tile + across
}

/// Slots for the values that `tiles` tiles send to each other: one per tile and one per group.
#[inline]
#[must_use]
pub const fn places(tiles: u32) -> usize {
    tiles as usize + tiles.div_ceil(MOST_GROUP) as usize
}

shared_array! {
    /// The segments that end before the tile, and before the next one.
    fn gridsync_segments_ended() -> [u64; 2];
}

/// The path through an array.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// Where the segments start.
    pub(super) starts: Global<u64>,
    /// The length of the array.
    pub(super) len: usize,
}

/// The part of the path that is a tile.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The first segment that does not end before the tile.
    pub(super) segment: usize,
    /// The first element of the tile.
    pub(super) element: usize,
    /// The number of segments that end in the tile.
    pub(super) segments: u32,
    /// The number of its elements.
    pub(super) elements: u32,
}

impl Part {
    /// The steps of the tile.
    #[inline(always)]
    pub(super) fn steps(self) -> u32 {
        self.segments + self.elements
    }
}

impl Path {
    /// Where `segment` starts: with the end of the array if there are fewer segments.
    #[device]
    pub(super) fn start(self, segment: usize) -> usize {
        if segment < self.starts.len() { self.starts.read(segment) as usize } else { self.len }
    }

    /// The part of `tile`, where each thread has `steps` steps. Called by all threads of the block.
    /// It contains a block barrier.
    #[device]
    pub(super) fn part(self, tile: u32, steps: u32, at: ThreadPosition) -> Part {
        let all = self.len + self.starts.len();
        let step = |tile: u32| all.min(tile as usize * (steps * THREADS) as usize);
        let ended = gridsync_segments_ended();
        // Two warps search at the same time.
        if at.warp < 2 {
            let before = self.ends_before(step(tile + at.warp), at.lane);
            if at.lane == 0 {
                ended.write(at.warp as usize, before as u64);
            }
        }
        thread::sync_threads();
        let [segment, next] = [ended.read(0) as usize, ended.read(1) as usize];
        let element = step(tile) - segment;
        Part {
            segment,
            element,
            segments: (next - segment) as u32,
            elements: (step(tile + 1) - next - element) as u32,
        }
    }

    /// How many segments end before step `step` of the path. Called by all lanes of a warp.
    ///
    /// Segment s ends at step s + the elements up to its end, which increases with s. The first
    /// round looks near the number that segments of one length would have: 32 ends, at distances
    /// that double. Each later round divides the segments that may be the last one into 32
    /// intervals, one per lane.
    #[device]
    fn ends_before(self, step: usize, lane: u32) -> usize {
        let (mut from, mut to) = (step.saturating_sub(self.len), step.min(self.starts.len()));
        let is_before = |segment: usize| segment < to && segment + self.start(segment + 1) < step;
        if to - from > WARP_SIZE as usize {
            let share = self.starts.len() as f64 / (self.starts.len() + self.len) as f64;
            let near = (step as f64 * share) as usize;
            let probed = |lane: u32| {
                let half = WARP_SIZE / 2;
                if lane < half {
                    near.saturating_sub(1 << (half - 1 - lane))
                } else {
                    near + (1 << (lane - half)) - 1
                }
            };
            let segment = probed(lane);
            let votes = warp_vote_ballot(FULL_MASK, segment < from || is_before(segment));
            let before = votes.count_ones();
            if before > 0 {
                from = from.max(probed(before - 1) + 1);
            }
            if before < WARP_SIZE {
                to = to.min(probed(before)).max(from);
            }
        }
        while from < to {
            let interval = (to - from).div_ceil(WARP_SIZE as usize);
            let segment = from + (lane as usize + 1) * interval - 1;
            let is_before = segment < to && segment + self.start(segment + 1) < step;
            let before = warp_vote_ballot(FULL_MASK, is_before).count_ones() as usize;
            let next = from + before * interval;
            to = to.min(next + interval - 1);
            from = next.min(to);
        }
        from
    }
}
