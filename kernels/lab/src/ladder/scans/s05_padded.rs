//! Rung 5: rung 4 with gaps between the words of the tree (GPU Gems 3, ch. 39.2.3).
//!
//! Changed: one word stays empty after every 32. Why: words that are 2, 4, 8, … apart are then in
//! different banks. The 525 bank conflicts disappear. It costs 64 bytes, and a division
//! of each index by 32, which is a shift.
//!
//! Words moved: 4n. Work and span: as rung 4.
//!
//! Launched: as rung 4.

use super::s04_blelloch::scan_tile;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Scans two elements for each thread of a block into `output`, and leaves their sum in the block's
/// element of `sums`. Called like [`blelloch`](super::s04_blelloch::blelloch).
#[device]
pub fn padded(input: Global<u32>, output: Global<u32>, sums: Global<u32>) {
    scan_tile(input, output, sums, |at| at + at / WARP_SIZE as usize);
}
