//! Rung 3: each block scans its own tile. The next launch scans the sums of the blocks. Then each
//! block adds the sum of the blocks before it.
//!
//! Changed: all blocks work at once, each on one chunk as in rung 2. The sum of the blocks before
//! it is then missing from each block. The sums of the blocks are an array too, 256 times shorter.
//! It is scanned in the same way, and so on until one block is left. Why: as many blocks as chunks,
//! on any device. The span becomes log n. But each element is written twice: after the scan of its
//! block, and when the sum of the blocks before is added.
//!
//! Words moved: 4n, and 4 for each block's sum. Work: n·log₂ B + n to scan, n to add the sums of
//! the blocks before. Span: about log₂ n + log n / log B.
//!
//! Launched: a thread for each element; the same for the sums, until one block has them all; then
//! back down, one launch of [`inject`] per level. That makes three launches up to B² elements, and
//! two more for each factor of B.

use super::s02_one_block::hillis_steele;
use super::{element, put};
use cuda_std::prelude::*;

/// Scans the elements of each block's threads into `output`, and leaves their sum in the block's
/// element of `sums`.
///
/// Called by every thread of the grid. The number of threads of a block is a power of two, up to
/// [`THREADS`](crate::ladder::THREADS). `output` may be `input`.
#[device]
pub fn block_sums(input: Global<u32>, output: Global<u32>, sums: Global<u32>) {
    let (sum, total) = hillis_steele(element(input, thread::index()));
    put(output, thread::index(), sum);
    if thread::is_first_in_block() {
        sums.write(thread::block_index(), total);
    }
}

/// Adds to each element of `output` the sum of all earlier blocks. For block b that is element b −
/// 1 of `sums`, which must be scanned already.
///
/// Called by every thread of the grid; blocks have a thread for each element of a tile.
#[device]
pub fn inject(output: Global<u32>, sums: Global<u32>) {
    let (i, block) = (thread::index(), thread::block_index());
    if block > 0 && i < output.len() {
        let before = sums.read(block - 1);
        output.write(i, before.wrapping_add(output.read(i)));
    }
}
