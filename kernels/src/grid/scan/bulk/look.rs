//! The warps that look what the tiles before have sent, and find the prefix of each tile.

use super::ring::{EMPTY, PREFIX, REDUCED, Turn, gridsync_scan_before, gridsync_scan_prefix};
use super::{BulkOperation, GROUP, LOOKERS, SCANNERS, Scan};
use crate::grid::scan::{STAMP, ScanOperation};
use crate::grid::stamped::Looked;
use crate::op::Carried;
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp, warp_shuffle_xor};

impl<T: Scalar + Carried> Scan<T> {
    /// Finds what lies before every tile whose turn is that of looker `me`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn look<O: BulkOperation<T>>(self, op: O, me: u32, lane: u32) {
        // The group that it is in, and what lies before that group.
        let (mut group, mut base) = (0, op.identity());
        let mut number = 0;
        loop {
            let turn = Turn::of(number);
            let tile = turn.tile();
            if tile >= self.tiles {
                return;
            }
            if number % LOOKERS == me {
                let prefix = loop {
                    let end = tile.min((group + 1) * GROUP);
                    let all = op.combine(base, self.tree(op, group, end, lane));
                    if group == tile / GROUP {
                        break all;
                    }
                    base = all;
                    group += 1;
                };
                turn.wait(REDUCED);
                let before = warp::before(op, Self::scan_of_strips(op, turn, lane));
                if lane < SCANNERS {
                    gridsync_scan_before()
                        .cast()
                        .write(turn.strip(lane), before);
                }
                if lane == 0 {
                    gridsync_scan_prefix()
                        .cast()
                        .write(turn.stage as usize, prefix);
                }
                sync_warp(FULL_MASK);
                if lane == 0 {
                    turn.arrive(PREFIX);
                    if tile == self.tiles - 1 && self.stamp != u32::MAX {
                        // What was waited for came from all other blocks that have tiles, which had
                        // read the old stamp before.
                        self.state
                            .store(STAMP, self.stamp, Ordering::Relaxed, Scope::Device);
                    }
                }
            }
            sync_warp(FULL_MASK);
            if lane == 0 {
                turn.arrive(EMPTY);
            }
            sync_warp(FULL_MASK);
            number += 1;
        }
    }

    /// Waits for the aggregates of the tiles of `group` before tile `end`, and combines them. By all
    /// lanes of a warp, which all have the result.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn tree<O: BulkOperation<T>>(self, op: O, group: u32, end: u32, lane: u32) -> T {
        let first = group * GROUP;
        if T::HALVES == 1 {
            return self.looked::<O, 8>(op, first, end, lane);
        }
        // Eight looks of two words would take more registers than there are: first one half of the
        // group, then the other.
        let (mut all, mut first) = (op.identity(), first);
        while first < end {
            all = op.combine(all, self.looked::<O, 4>(op, first, end, lane));
            first += GROUP / 2;
        }
        all
    }

    /// The same of the tiles from `first` on, for `LOOKS` of a lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn looked<O: BulkOperation<T>, const LOOKS: usize>(
        self,
        op: O,
        first: u32,
        end: u32,
        lane: u32,
    ) -> T
    where
        [T; LOOKS]: Pack<T>,
        [Option<Looked>; LOOKS]: Pack<Option<Looked>>,
    {
        let values = self.values();
        let mut aggregates: [T; LOOKS] = Pack::splat(op.identity());
        // All looks are in flight together, again and again until all have come: to remember which
        // have would take registers that the scanners need.
        spin::until(|| {
            let looks: [_; LOOKS] =
                Pack::from_fn(|look| match first + look as u32 * WARP_SIZE + lane {
                    tile if tile < end => Some(values.look::<T>(tile as usize)),
                    _ => None,
                });
            let mut all_came = true;
            aggregates = Pack::from_fn(|look| match looks[look] {
                Some(word) => {
                    all_came &= values.is_new::<T>(word);
                    word.value()
                }
                None => op.identity(),
            });
            all_came
        });
        sync_warp(FULL_MASK);
        trees_of_lanes(op, aggregates, lane).fold(|a, b| op.combine(a, b))
    }
}

/// For each of the values that a lane has, the balanced tree over all lanes, neighbours first: what
/// [`warp::scan`] gives the last lane. By all lanes of a warp, which all have the results.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn trees_of_lanes<O: ScanOperation, const N: usize>(
    op: O,
    mut values: [O::Accumulator; N],
    lane: u32,
) -> [O::Accumulator; N]
where
    [O::Accumulator; N]: Pack<O::Accumulator>,
{
    let mut distance = 1;
    while distance < WARP_SIZE {
        values = Pack::from_fn(|i| {
            let own = values[i];
            let (other, _) = warp_shuffle_xor(FULL_MASK, own, distance, WARP_SIZE);
            if O::COMMUTATIVE || lane & distance == 0 {
                op.combine(own, other)
            } else {
                op.combine(other, own)
            }
        });
        distance *= 2;
    }
    values
}
