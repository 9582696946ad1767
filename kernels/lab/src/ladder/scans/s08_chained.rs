//! Rung 8: one pass. A block waits for the sum of everything before its tile, and passes it on
//! (Yan, Long, Zhang, "StreamScan", 2013).
//!
//! Changed: a block keeps its scanned tile in registers until it has the sum of everything before.
//! Then it adds that sum and writes. Why: every element is read once and written once. It moves 2n
//! words instead of 3n, the blocks need not be co-resident, and no grid barrier is needed. But the
//! sum passes from block to block: tile t + 1 can pass it on only when it sees the word that tile t
//! stored. Each of these links is a round trip to the L2.
//!
//! **Protocol.** `words[0]` counts tickets, `words[1 + t]` is the word of tile t. All are 0 when
//! the launch begins.
//!
//! | state, in the upper 32 bits | value, in the lower 32 bits | stored by, when |
//! |---|---|---|
//! | 0 | | not stored yet |
//! | 2, prefix | the sum of all tiles up to and including t | thread 0 of the tile's block, when it has seen the word of t − 1 |
//!
//! The number of the tile is a ticket, which the block draws when it starts. The draw is relaxed:
//! it carries no data. Stores and polls are relaxed, of device scope: state and value are one word
//! of 64 bits, stored and loaded at once, so a release or an acquire would have nothing to order.
//! Progress: a tile waits for the tile with the ticket before its own. That block has started, so
//! it makes progress. Tile 0 waits for no other. By induction all waits end, even if few blocks are
//! resident.
//!
//! Words moved: 2n, and 2 for each tile. Work: as rung 6, minus the n of the second launch.
//! Span: n / B links.
//!
//! Launched: a block of 256 threads for each tile, after the words have been set to 0.

use super::s06_shuffles::Share;
use super::s07_grid_barrier::gridsync_ladder_scan_before;
use cuda_std::prelude::*;

/// The smallest word with a tile's sum, and the smallest with the sum of all tiles up to it.
pub(super) const AGGREGATE: u64 = 1 << 32;
pub(super) const PREFIX: u64 = 2 << 32;

shared_array! {
    /// The number of the tile.
    fn gridsync_ladder_scan_tile() -> [u32; 1];
}

/// Scans `input` into `output`.
///
/// Called by every thread of the grid. Each tile of [`TILE`](super::s06_shuffles::TILE) elements
/// has a block of 256 threads. `words` has a word per block and one more, all 0.
#[device]
pub fn chained(input: Global<u32>, output: Global<u32>, words: Global<u64>) {
    let tile = draw(words);
    let (share, total) = Share::load(input, tile).scan();
    let before = gridsync_ladder_scan_before();
    if thread::is_first_in_block() {
        let earlier = match tile {
            0 => 0,
            _ => look(words, tile - 1) as u32,
        };
        tell(words, tile, PREFIX, earlier.wrapping_add(total));
        before.write(0, earlier);
    }
    thread::sync_threads();
    share.store(output, before.read(0));
}

/// The number of this block's tile. Called by all threads of the block; has a barrier inside.
#[device]
pub(super) fn draw(words: Global<u64>) -> usize {
    let tile = gridsync_ladder_scan_tile();
    if thread::is_first_in_block() {
        let ticket = words.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
        tile.write(0, ticket as u32);
    }
    thread::sync_threads();
    tile.read(0) as usize
}

/// Stores the word of a tile.
#[device]
pub(super) fn tell(words: Global<u64>, tile: usize, state: u64, sum: u32) {
    let word = state | u64::from(sum);
    words.store(1 + tile, word, Ordering::Relaxed, Scope::Device);
}

/// Waits until the word of a tile is not 0, and returns it.
#[device]
pub(super) fn look(words: Global<u64>, tile: usize) -> u64 {
    let mut word = 0;
    spin::until(|| {
        word = words.load(1 + tile, Ordering::Relaxed, Scope::Device);
        word >= AGGREGATE
    });
    word
}
