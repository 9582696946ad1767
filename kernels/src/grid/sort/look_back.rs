//! How many keys with each digit are in earlier tiles.
//!
//! Each tile has a row with a word for each digit. A word is first the count of its tile, and then
//! the count of all tiles up to it. A tile adds up the rows before its own until it finds one of
//! the second kind.

use crate::block::ranks::DIGITS;
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

/// The most keys of a portion: a count has 30 bits.
pub(super) const MOST: usize = COUNT as usize;

/// The words that tiles send to each other: a row of [`DIGITS`] for each tile, all zero before the
/// pass.
#[derive(Clone, Copy)]
pub(super) struct TileRows(pub(super) Global<u32>);

impl TileRows {
    /// Sends the count of tile `tile`.
    #[device]
    pub(super) fn send(self, tile: u32, digit: usize, count: u32) {
        // Relaxed here and below: a word is all that is sent.
        self.0.store(word(tile, digit), OF_TILE | count, Ordering::Relaxed, Scope::Device);
    }

    /// Zeroes a word of tile `tile`.
    #[device]
    pub(super) fn clear(self, tile: u32, digit: usize) {
        self.0.write(word(tile, digit), 0);
    }

    /// The number of keys with this digit in the `earlier` tiles of the portion before `tile`, which
    /// has `own` of them. Called by one thread for each digit.
    #[device]
    pub(super) fn before(self, tile: u32, earlier: u32, digit: usize, own: u32) -> u32 {
        let (mut before, mut rest) = (0, earlier);
        spin::until(|| {
            let load = |back: u32| {
                if back < rest {
                    let back = earlier - rest + 1 + back;
                    self.0.load(word(tile - back, digit), Ordering::Relaxed, Scope::Device)
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
        self.0.store(word(tile, digit), UP_TO | (before + own), Ordering::Relaxed, Scope::Device);
        before
    }
}

/// The index of the word of a tile and a digit.
#[inline(always)]
fn word(tile: u32, digit: usize) -> usize {
    tile as usize * DIGITS + digit
}
