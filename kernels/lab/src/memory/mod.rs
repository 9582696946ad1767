//! Latencies and bandwidths: of the caches, of device memory, of shared memory.
//!
//! * [`latency`]: one thread walks from word to word; each word holds the index of the next.
//! * [`lines`]: one thread on each multiprocessor loads one line of the L2 again and again.
//! * [`bandwidth`]: threads read with a fixed number of loads in flight.

pub mod bandwidth;
pub mod latency;
pub mod lines;

use cuda_std::prelude::*;

/// Words of a cache line of 128 bytes.
pub const LINE: usize = 32;

/// Words of the array in shared memory: 16 KiB, also the working set in the L1.
pub const SHARED_WORDS: usize = 4096;

shared_array! {
    /// The words in shared memory that the kernels read.
    fn memory_words() -> [u32; SHARED_WORDS];
}

/// Copies `words` to shared memory, and returns the part that contains them. Called by every thread
/// of the block; a barrier must follow.
#[device]
fn copied(words: Global<u32>) -> Shared<u32> {
    let copy = memory_words().part(0, words.len());
    let mut at = thread::in_32_bits::index_in_block() as usize;
    while at < words.len() {
        copy.write(at, words.read(at));
        at += thread::in_32_bits::threads_per_block() as usize;
    }
    copy
}
