//! How many keys a block sorts.

use super::look_back::MOST;
use crate::block::ranks::{COUNTERS, DIGITS};
use cuda_std::warp::WARP_SIZE;

/// Threads of a block of a pass: one per digit.
pub const THREADS: u32 = DIGITS as u32;

/// Warps of a block of a pass.
pub(super) const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// Whether the tiles of a pass are [`Large`] or [`Small`].
pub trait Tiles: Copy + 'static {
    /// Whether they are small.
    const ARE_SMALL: bool;
}

/// Tiles for arrays that have at least one for each multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Large;

/// Tiles for shorter arrays. A block takes less time, and more multiprocessors have one.
#[derive(Clone, Copy, Debug)]
pub struct Small;

impl Tiles for Large {
    const ARE_SMALL: bool = false;
}

impl Tiles for Small {
    const ARE_SMALL: bool = true;
}

/// The most keys per thread.
pub(super) const MOST_EACH: usize = 40;

/// What determines how many keys a block sorts.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a key.
    pub word: usize,
    /// Bytes of its payload; 0 if there is none.
    pub payload: usize,
    /// Whether tiles are small.
    pub is_small: bool,
    /// Whether the kernel's image is for compute capability 9.0.
    pub is_90: bool,
}

impl Shape {
    /// Keys per thread.
    ///
    /// Larger tiles write longer runs, and more blocks on a multiprocessor hide more latency. µs on
    /// an H200 with 2^28 keys, 2026-11-26, keys × blocks: a pass of u32 904 with 40 × 3 (80
    /// registers), 935 with 36 × 3, 997 with 32 × 3, 961 with 48 × 2, 927 with 56 × 2; the sort of
    /// u32 with u32 6665 with 40 × 2, 6772 with 36 × 2, 7684 with 28 × 3, 7945 with 24 × 3; of u64
    /// 12424 with 32 × 2, 12545 with 20 × 3, 13091 with 24 × 2.
    ///
    /// µs of the sort of 2^14, 2^16, 2^18, 2^20 u32: 38, 38, 46, 50 with 40 keys; 23, 25, 29, 45 with
    /// 16; 21, 24, 29, 53 with 8.
    pub(super) const fn each(self) -> usize {
        let Self { word, payload, is_small, is_90 } = self;
        // Elsewhere a block has to fit in 48 KiB.
        let [narrow, wide] = if is_90 { [MOST_EACH, 32] } else { [36, 18] };
        if is_small {
            16
        } else if word == 8 || payload == 8 {
            wide
        } else if word == 1 && payload == 0 {
            // With 40 of these, three blocks would spill registers.
            36
        } else {
            narrow
        }
    }

    /// Keys of a block.
    #[must_use]
    pub const fn tile(self) -> usize {
        THREADS as usize * self.each()
    }

    /// Tiles of a portion, at most.
    #[must_use]
    pub const fn most_tiles(self) -> u32 {
        (MOST / self.tile()) as u32
    }

    /// Bytes of dynamic shared memory of a block.
    #[must_use]
    pub const fn shared_bytes(self) -> u32 {
        let widest = if self.word > self.payload { self.word } else { self.payload };
        (WARPS * COUNTERS * 4 + self.tile() * widest) as u32
    }
}
