//! Rung 9: decoupled look-back (Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled
//! Look-back", NVIDIA, 2016).
//!
//! Changed: a block tells the sum of its own tile as soon as it has it, and does not wait to do so. Who
//! looks back adds up such sums, tile by tile, until it meets one that knows all before it; a warp
//! looks at 32 at once. Why: the chain of rung 8 is cut: a tile need not wait for the one before to
//! have waited. Moves the span from n / B links to n / 32B at worst, and mostly to one or two looks.
//!
//! **Protocol.** The words are those of rung 8, with a state between:
//!
//! | state, above 32 bits of a value | value | who stores it, when |
//! |---|---|---|
//! | 0, invalid | | nobody yet |
//! | 1, aggregate | the sum of the tile | thread 0, as soon as the tile has been scanned; not of tile 0 |
//! | 2, prefix | the sum of all tiles up to it, with it | thread 0, when the look back has ended; of tile 0 at once |
//!
//! A state only grows, and either value is right to add: who meets an aggregate goes on before it, who
//! meets a prefix stops. Tickets and orderings are those of rung 8: a word announces nothing but
//! itself. The first warp looks: lane l at the l-th tile before the window's end. A lane waits until
//! its word is no longer invalid; a vote says which have a prefix; those up to the nearest count.
//! Progress: aggregates are told without waiting, and the words of all tickets before a tile's own
//! belong to blocks that have started. So each look ends; and a window that reaches tile 0 ends the
//! walk.
//!
//! What is added in which order depends on who was faster. Words do not mind; sums of f32 would differ
//! from run to run, which is why the library does it otherwise
//! ([`grid::scan()`](gridsync_kernels::grid::scan())).
//!
//! Moves: 2n words, 2 for each tile and its looks. Work: that of rung 8, and 32 additions a window.
//! Span: at worst n / 32B windows.
//!
//! Launched: as rung 8.
//! Reached on: an H200, 2026-11-21: 1099 µs, 1954 GB/s of 2^28 u32.

use super::s06_shuffles::Share;
use super::s07_grid_barrier::gridsync_ladder_scan_before;
use super::s08_chained::{AGGREGATE, PREFIX, draw, look, tell};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_index, warp_vote_ballot};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// Scans `input` into `output`. Called as [`chained`](super::s08_chained::chained) is.
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
        // No lane waits ahead of the one that has yet to tell.
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

/// The sum of all tiles before `tile`. By all lanes of a warp.
#[device]
fn sum_before(words: Global<u64>, tile: usize) -> u32 {
    let lane = lane_id();
    let (mut sum, mut end) = (0u32, tile);
    loop {
        // Before the first tile lies a prefix of 0.
        let word = match end.checked_sub(lane as usize + 1) {
            Some(earlier) => look(words, earlier),
            None => PREFIX,
        };
        let prefixes = warp_vote_ballot(FULL_MASK, word >= PREFIX);
        // Without one, 32: all count.
        let nearest = prefixes.trailing_zeros();
        let counts = if lane <= nearest { word as u32 } else { 0 };
        sum = sum.wrapping_add(warp::reduce(Sum::<u32>::new(), counts));
        if prefixes != 0 {
            return sum;
        }
        // A window without a prefix ends behind tile 0, which has one.
        end -= WARP_SIZE as usize;
    }
}
