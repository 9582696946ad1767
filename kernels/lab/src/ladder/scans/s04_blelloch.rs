//! Rung 4: up a tree and down again (Blelloch, 1990; Harris, Sengupta, Owens, "Parallel Prefix Sum
//! (Scan) with CUDA", GPU Gems 3, ch. 39).
//!
//! Changed: on the way up, a block adds up its tile as a tournament, and keeps all partial sums. On
//! the way down, each node gives its left child the sum of everything before the node. It gives its
//! right child that sum plus the left child's sum. Why: 2n additions instead of n·log n. A block
//! has less work, but twice as many steps, and in many steps only a few threads work. The lanes of
//! a warp also hit the same banks, as in rung 6 of the sums. A tile of 512 needs 174 warp
//! operations instead of rung 3's 284, but they cost 525 more passes through shared memory.
//!
//! Words moved: 4n. Work: 2n on the way up and down, n to add the element itself (the scan on the
//! way down is exclusive), n to add the sums of the blocks before. Span: 2·log₂ n.
//!
//! Launched: as rung 3, with a thread for two elements.

use super::super::THREADS;
use super::{element, put};
use cuda_std::prelude::*;

/// Elements of a block's tile.
pub const TILE: usize = 2 * THREADS as usize;

shared_array! {
    /// A word for each element of the tile, and one more after every 32 if the tree is padded.
    fn gridsync_ladder_scan_tree() -> [u32; TILE + TILE / 32];
}

/// Scans two elements for each thread of a block into `output`, and leaves their sum in the block's
/// element of `sums`.
///
/// Called by every thread of the grid. The number of threads of a block is a power of two, up to
/// [`THREADS`]. `output` may be `input`.
#[device]
pub fn blelloch(input: Global<u32>, output: Global<u32>, sums: Global<u32>) {
    scan_tile(input, output, sums, |at| at);
}

/// Same as [`blelloch`], with element `at` of a tile at word `word(at)` of shared memory.
#[device]
pub(super) fn scan_tile(
    input: Global<u32>,
    output: Global<u32>,
    sums: Global<u32>,
    word: impl Fn(usize) -> usize,
) {
    let tree = gridsync_ladder_scan_tree();
    let (me, threads) = (
        thread::in_32_bits::index_in_block() as usize,
        thread::in_32_bits::threads_per_block() as usize,
    );
    let tile = 2 * threads;
    let first = thread::block_index() * tile + me;
    let second = first + threads;
    let own = (element(input, first), element(input, second));
    tree.write(word(me), own.0);
    tree.write(word(me + threads), own.1);

    // Up: the right child becomes the sum of both.
    let mut apart = 1;
    while apart < tile {
        thread::sync_threads();
        let right = 2 * apart * (me + 1) - 1;
        if right < tile {
            let left = tree.read(word(right - apart));
            let sum = left.wrapping_add(tree.read(word(right)));
            tree.write(word(right), sum);
        }
        apart *= 2;
    }
    // Thread 0 has added the last pair, so it may read the root.
    if me == 0 {
        let root = word(tile - 1);
        sums.write(thread::block_index(), tree.read(root));
        tree.write(root, 0);
    }
    // Down: the left child becomes the sum of everything before the pair. The right child becomes
    // that plus the left sum.
    while apart > 1 {
        apart /= 2;
        thread::sync_threads();
        let right = 2 * apart * (me + 1) - 1;
        if right < tile {
            let left = tree.read(word(right - apart));
            let before = tree.read(word(right));
            tree.write(word(right - apart), before);
            tree.write(word(right), before.wrapping_add(left));
        }
    }
    thread::sync_threads();
    put(output, first, own.0.wrapping_add(tree.read(word(me))));
    let before = tree.read(word(me + threads));
    put(output, second, own.1.wrapping_add(before));
}
