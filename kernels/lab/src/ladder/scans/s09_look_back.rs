//! Rung 9: decoupled look-back (Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled
//! Look-back", NVIDIA, 2016).
//!
//! Changed: a block publishes the sum of its tile as soon as it has it, without waiting. A block
//! that looks back adds up these sums, tile by tile, until it reaches a tile that has published the
//! sum of everything up to it. A warp polls 32 tiles at once. Why: this cuts the chain of rung 8,
//! because a tile need not wait until the tile before has waited. The span becomes n / 32B polls at
//! worst instead of n / B, and mostly one or two polls.
//!
//! **Protocol.** The words are those of rung 8, with one more state:
//!
//! | state, in the upper 32 bits | value, in the lower 32 bits | stored by, when |
//! |---|---|---|
//! | 0, invalid | | not stored yet |
//! | 1, aggregate | the sum of the tile | thread 0, as soon as the tile has been scanned; not for tile 0 |
//! | 2, prefix | the sum of all tiles up to and including it | thread 0, when the look-back has ended; for tile 0 immediately |
//!
//! A state only grows, and both values are correct to add: after an aggregate the look-back
//! continues with the tile before, after a prefix it stops. Tickets and orderings are those of rung
//! 8: a word publishes only itself. The first warp looks back. Lane l polls the tile l + 1
//! positions before the end of the window, and waits until its word is no longer invalid. A ballot
//! shows which lanes have a prefix. The warp adds the words up to the nearest prefix. Progress:
//! blocks store aggregates without waiting. The tiles before this one have lower tickets, so their
//! blocks have started. So each poll ends, and the walk ends at tile 0 at the latest.
//!
//! The order of the additions depends on which blocks were faster. For integers that does not
//! matter. Sums of f32 would differ from run to run, so the library uses another method
//! ([`grid::scan()`](gridsync_kernels::grid::scan())).
//!
//! Words moved: 2n, 2 for each tile, and the polls. Work: as rung 8, plus 32 additions for each
//! window. Span: at worst n / 32B windows.
//!
//! Launched: as rung 8.

use super::s06_shuffles::Share;
use super::s07_grid_barrier::gridsync_ladder_scan_before;
use super::s08_chained::{AGGREGATE, PREFIX, draw, look, tell};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_index, warp_vote_ballot};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// Scans `input` into `output`. Called like [`chained`](super::s08_chained::chained).
#[device]
pub fn look_back(input: Global<u32>, output: Global<u32>, words: Global<u64>) {
    let tile = draw(words);
    let (share, total) = Share::load(input, tile).scan();
    let before = gridsync_ladder_scan_before();
    if warp_index() == 0 {
        if lane_id() == 0 {
            let state = if tile == 0 { PREFIX } else { AGGREGATE };
            tell(words, tile, state, total);
        }
        // No lane waits before lane 0 has published.
        sync_warp(FULL_MASK);
        let earlier = sum_before(words, tile);
        if lane_id() == 0 {
            if tile > 0 {
                tell(words, tile, PREFIX, earlier.wrapping_add(total));
            }
            before.write(0, earlier);
        }
    }
    thread::sync_threads();
    share.store(output, before.read(0));
}

/// The sum of all tiles before `tile`. Called by all lanes of a warp.
#[device]
fn sum_before(words: Global<u64>, tile: usize) -> u32 {
    let lane = lane_id();
    let (mut sum, mut end) = (0u32, tile);
    loop {
        // Indices before the first tile count as a prefix of 0.
        let word = match end.checked_sub(lane as usize + 1) {
            Some(earlier) => look(words, earlier),
            None => PREFIX,
        };
        let prefixes = warp_vote_ballot(FULL_MASK, word >= PREFIX);
        // Without a prefix this is 32, and all lanes count.
        let nearest = prefixes.trailing_zeros();
        let counts = if lane <= nearest { word as u32 } else { 0 };
        sum = sum.wrapping_add(warp::reduce(Sum::<u32>::new(), counts));
        if prefixes != 0 {
            return sum;
        }
        // Tile 0 has a prefix, so a window without one begins after tile 0.
        end -= WARP_SIZE as usize;
    }
}
