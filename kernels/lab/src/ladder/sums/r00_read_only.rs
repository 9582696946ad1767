//! Below the ladder: a kernel that only reads. No rung can be faster, so the rates of the rungs are
//! shown in percent of this one.
//!
//! Launched: blocks of 256 threads, several per multiprocessor; the best number of blocks counts.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Loads all of `input`, with four loads of 16 bytes in flight per thread, and writes nothing.
///
/// Called by every thread of the grid. The compiler would drop a load if nothing used its value. So
/// each thread combines the bits of all its loads, and writes them to `never[0]` if they equal one
/// fixed number. That should happen to one thread in 2^32.
#[device]
pub fn read_only(input: Global<u32>, never: Global<u32>) {
    const UNLIKELY: u32 = 0x9E37_79B9;
    let (me, threads) = (thread::index(), thread::thread_count());
    let packs = input.len() / 4;
    let load = |p: usize| input.read_pack(4 * p, CacheHint::ReadOnly);
    let combine = |a: u32, b: u32| a ^ b;

    let mut bits = [0; 4];
    let mut p = me;
    while p + 3 * threads < packs {
        let (first, second) = (load(p), load(p + threads));
        let (third, fourth) = (load(p + 2 * threads), load(p + 3 * threads));
        let halves = (first.zip(second, combine), third.zip(fourth, combine));
        bits = bits.zip(halves.0.zip(halves.1, combine), combine);
        p += 4 * threads;
    }
    while p < packs {
        bits = bits.zip(load(p), combine);
        p += threads;
    }
    let mut bits = bits.fold(combine);
    if 4 * packs + me < input.len() {
        bits ^= input.read(4 * packs + me);
    }
    if bits == UNLIKELY {
        never.write(0, bits);
    }
}
