//! Below the ladder: a kernel that only copies. A scan must read n words and write n words, so no
//! rung can be faster. The rates of the rungs are shown in percent of this one.
//!
//! Words moved: 2n.
//!
//! Launched: blocks of 256 threads, several per multiprocessor or one for every 16 KiB; the best
//! number of blocks counts.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Copies `input` to `output`, with four loads of 16 bytes in flight per thread. Called by every
/// thread of the grid.
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
