//! How many keys with each digit are in earlier tiles.
//!
//! Each tile has a row with a word for each digit. A word is first the count of its tile, and then
//! the count of all tiles up to it. A tile adds up the rows before its own until it finds one of
//! the second kind.

use super::rank::DIGITS;
use cuda_std::prelude::*;

/// The word is the count of its tile.
const OF_TILE: u32 = 1 << 30;
/// The word is the count of all tiles up to its tile.
const UP_TO: u32 = 2 << 30;
/// The bits of a count.
const COUNT: u32 = OF_TILE - 1;

/// Rows that are loaded at once. µs of a pass of 2^28 u32 on an H200, 2026-11-26: 945, 897, 895
/// with one, two and three; more load rows for nothing.
const LOOKS: usize = 2;

/// The most keys of a launch: a count has 30 bits.
pub const MOST: usize = COUNT as usize;

/// The words that tiles send to each other: [`DIGITS`] for each tile, all zero before the launch,
/// and the next ticket.
#[derive(Clone, Copy)]
pub struct Rows {
    /// A row for each tile.
    pub words: Global<u32>,
    /// The number of tiles handed out.
    pub ticket: Global<u32>,
}

impl Rows {
    /// The number of the next tile. Called by one thread of a block.
    #[device]
    pub(super) fn draw(self) -> u32 {
        // Relaxed: the number publishes no data. Tiles wait only for smaller tickets, which were
        // drawn by blocks that have started.
        self.ticket.fetch_add(0, 1, Ordering::Relaxed, Scope::Device)
    }

    /// Sends the count of tile `tile`.
    #[device]
    pub(super) fn send(self, tile: u32, digit: usize, count: u32) {
        // Relaxed here and below: a word is all that is sent.
        self.words.store(word(tile, digit), OF_TILE | count, Ordering::Relaxed, Scope::Device);
    }

    /// The number of keys with this digit in the tiles before `tile`, which has `own` of them.
    /// Called by one thread for each digit.
    #[device]
    pub(super) fn before(self, tile: u32, digit: usize, own: u32) -> u32 {
        let (mut before, mut rest) = (0, tile);
        spin::until(|| {
            let load = |back: u32| {
                if back < rest {
                    self.words.load(word(rest - 1 - back, digit), Ordering::Relaxed, Scope::Device)
                } else {
                    UP_TO
                }
            };
            // Both are in flight together.
            let words: [u32; LOOKS] = [load(0), load(1)];
            for word in words {
                if word & (OF_TILE | UP_TO) == 0 {
                    return false;
                }
                before += word & COUNT;
                if word & UP_TO != 0 {
                    return true;
                }
                rest -= 1;
            }
            false
        });
        self.words.store(word(tile, digit), UP_TO | (before + own), Ordering::Relaxed, Scope::Device);
        before
    }
}

/// The index of the word of a tile and a digit.
#[inline(always)]
fn word(tile: u32, digit: usize) -> usize {
    tile as usize * DIGITS + digit
}
