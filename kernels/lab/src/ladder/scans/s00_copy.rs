//! Below the ladder: copying, and nothing else. A scan reads n words and writes n at least, so that
//! no rung can be faster: this is what their rates are told in percent of.
//!
//! Moves: 2n words.
//!
//! Launched: blocks of 256 threads, some for each multiprocessor or one for every 16 KiB; the best
//! number of them counts.
//! Reached on: an H200, 2026-11-21: 4150 GB/s of 2^28 u32.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Copies `input` to `output`, four loads of 16 bytes in flight a thread. Called by every thread of
/// the grid.
#[device]
pub fn copy(input: Global<u32>, output: Global<u32>) {
    let (me, threads) = (thread::index(), thread::thread_count());
    let packs = input.len() / 4;
    let load = |p: usize| input.read_pack(4 * p, CacheHint::ReadOnly);
    let store = |p: usize, pack| output.write_pack(4 * p, pack, CacheHint::Streaming);
    let mut p = me;
    while p + 3 * threads < packs {
        let loaded: [[u32; 4]; 4] = Pack::from_fn(|i| load(p + i * threads));
        loaded.for_each(|i, pack| store(p + i * threads, pack));
        p += 4 * threads;
    }
    while p < packs {
        store(p, load(p));
        p += threads;
    }
    let rest = 4 * packs + me;
    if rest < input.len() {
        output.write(rest, input.read(rest));
    }
}
