//! A tile of keys in shared memory.

use super::{EACH, Key, THREADS, TILE};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Bytes of shared memory that all lanes of a warp access at once, one word per bank (CUDA C++
/// Programming Guide, "Shared Memory").
const BANKS: usize = 128;

shared_array! {
    /// The keys of a tile, of at most 8 bytes, and one free slot for every [`BANKS`] bytes.
    fn gridsync_merge_keys() -> [u64; TILE + TILE * 8 / BANKS];
}

/// The keys of a block's tile in shared memory. One slot in every 128 bytes stays free, so threads
/// that each access [`EACH`] consecutive keys cause no bank conflicts.
#[derive(Clone, Copy)]
pub(super) struct Keys<K: Key>(Shared<K>);

impl<K: Key> Keys<K> {
    #[device]
    pub(super) fn of_block() -> Self {
        Self(gridsync_merge_keys().cast())
    }

    /// The slot of key `i`.
    #[inline(always)]
    fn place(i: u32) -> usize {
        (i + i / (BANKS / size_of::<K>()) as u32) as usize
    }

    #[device]
    pub(super) fn read(self, i: u32) -> K {
        self.0.read(Self::place(i))
    }

    #[device]
    pub(super) fn write(self, i: u32, key: K) {
        self.0.write(Self::place(i), key);
    }

    /// The keys of a thread, starting at `first`.
    #[device]
    pub(super) fn held(self, first: u32) -> [K; EACH] {
        Pack::from_fn(|i| self.read(first + i as u32))
    }

    /// Sets every key `i` to `key(i)`. Called by all threads of the block; they set adjacent keys.
    #[device]
    pub(super) fn fill(self, thread: u32, key: impl Fn(u32) -> K) {
        self.fill_some(thread, TILE as u32, key);
    }

    /// [`fill`](Self::fill) for the first `len` keys. Requests all before it stores the first, to
    /// have them all in flight together.
    #[device]
    pub(super) fn fill_some(self, thread: u32, len: u32, key: impl Fn(u32) -> K) {
        let place = |turn: usize| turn as u32 * THREADS + thread;
        let loaded: [K; EACH] = Pack::from_fn(|turn| match place(turn) {
            i if i < len => key(i),
            _ => K::GREATEST,
        });
        loaded.for_each(|turn, key| {
            if place(turn) < len {
                self.write(place(turn), key);
            }
        });
    }
}
