//! Values in words that show when they are new: each 32-bit word of a value has a stamp above it.
//!
//! One store carries both the value and its announcement. So no fence is needed between them: a
//! reader that finds the stamp has the value.

use super::peers::{HEAD, Peers};
use crate::op::{Carried, for_each_word, from_each_word, words_of};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_all};

/// The readers of the values that are sent.
pub(crate) trait Readers: Copy {
    /// The scope that includes all of them.
    const SCOPE: Scope;

    /// Whether thread `thread` of a block, or of a warp, is among those that send.
    fn sends(thread: u32) -> bool;

    /// Calls `store` with the words of each reader; those of this GPU are `own`. Called by the
    /// threads that [send](Self::sends).
    fn each(self, own: Global<u64>, store: impl Fn(Global<u64>));
}

/// The blocks of this GPU.
#[derive(Clone, Copy)]
pub(crate) struct OneGpu;

impl Readers for OneGpu {
    const SCOPE: Scope = Scope::Device;

    #[inline(always)]
    fn sends(thread: u32) -> bool {
        thread == 0
    }

    #[device]
    fn each(self, own: Global<u64>, store: impl Fn(Global<u64>)) {
        store(own);
    }
}

/// The blocks of all GPUs. The words of each GPU come after a [head](super::barrier::head).
impl Readers for Peers {
    const SCOPE: Scope = Scope::System;

    #[inline(always)]
    fn sends(thread: u32) -> bool {
        thread < WARP_SIZE
    }

    #[device]
    fn each(self, _own: Global<u64>, store: impl Fn(Global<u64>)) {
        self.send(|words| store(words.part(HEAD, words.len() - HEAD)));
    }
}

/// Words of device memory, each a stamp above 32 bits of a value.
///
/// The creator must ensure that no word holds a stamp before that stamp is used.
#[derive(Clone, Copy)]
pub(crate) struct Stamped<R = OneGpu> {
    pub(crate) words: Global<u64>,
    /// The distance from each word of a value to its next one.
    pub(crate) apart: usize,
    pub(crate) stamp: u32,
    pub(crate) readers: R,
}

impl Stamped {
    /// Words for the blocks of this GPU.
    #[inline(always)]
    pub(crate) fn new(words: Global<u64>, apart: usize, stamp: u32) -> Self {
        Self { words, apart, stamp, readers: OneGpu }
    }
}

impl Stamped<Peers> {
    /// Words for the blocks of all GPUs, adjacent for each value, after the head of `words`.
    #[device]
    pub(crate) fn of_all_gpus(words: Global<u64>, stamp: u32) -> Self {
        let readers = Peers::of(words);
        Self { words: words.part(HEAD, words.len() - HEAD), apart: 1, stamp, readers }
    }
}

impl<R: Readers> Stamped<R> {
    /// Stores `value` at index `at`. Called by the threads that [send](Readers::sends), with the
    /// same value.
    #[device]
    pub(crate) fn send<T: Carried>(self, at: usize, value: T) {
        self.readers.each(self.words, |words| {
            for_each_word(value, |i, word| {
                let word = u64::from(self.stamp) << 32 | u64::from(word);
                // Relaxed: the word publishes only itself.
                words.store(at + i * self.apart, word, Ordering::Relaxed, R::SCOPE);
            });
        });
    }

    /// The current value at index `at`, and whether each of its words carries the stamp. For values
    /// of any size; the other functions load values of up to four words.
    #[device]
    pub(crate) fn look_once<T: Carried>(self, at: usize) -> (bool, T) {
        let mut is_new = true;
        let value = from_each_word(|i| {
            let word = self.words.load(at + i * self.apart, Ordering::Relaxed, R::SCOPE);
            is_new &= (word >> 32) as u32 == self.stamp;
            word as u32
        });
        (is_new, value)
    }

    /// Loads the current words at index `at`.
    #[device]
    pub(crate) fn look<T: Carried>(self, at: usize) -> Looked {
        let look = |word| match word < T::WORDS {
            true => {
                let at = at + word * self.apart;
                self.words.load(at, Ordering::Relaxed, R::SCOPE)
            }
            false => 0,
        };
        Looked([look(0), look(1), look(2), look(3)])
    }

    /// Waits for `N` values per lane: those at the indices that `place` returns, and `otherwise`
    /// where it returns `None`. Called by all lanes of a warp. The words of a value are adjacent:
    /// `apart` is 1, and the words begin at a multiple of 16 bytes.
    ///
    /// All loads are in flight together, across all lanes, and only missing values are loaded
    /// again. Lanes that poll separately would each make their own requests, and these would
    /// compete for memory with the blocks that send.
    #[device]
    pub(crate) fn wait<T: Carried, const N: usize>(
        self,
        place: impl Fn(usize) -> Option<usize>,
        otherwise: T,
    ) -> [T; N]
    where
        [Looked; N]: Pack<Looked>,
        [T; N]: Pack<T>,
    {
        let look = |i| match place(i) {
            Some(at) => self.look_at_once::<T>(at),
            None => Looked::new(otherwise, self.stamp),
        };
        let mut looked: [Looked; N] = Pack::from_fn(look);
        spin::until(|| {
            let all_came = looked.in_order(true, |all, one| all & self.is_new::<T>(one));
            let all_came = warp_vote_all(FULL_MASK, all_came);
            if !all_came {
                looked = Pack::from_fn(|i| match self.is_new::<T>(looked[i]) {
                    true => looked[i],
                    false => look(i),
                });
            }
            all_came
        });
        Pack::from_fn(|i| looked[i].value())
    }

    /// [`look`](Self::look) at an index whose words are adjacent: one load for two words.
    #[device]
    fn look_at_once<T: Carried>(self, at: usize) -> Looked {
        match T::WORDS {
            2 => {
                let [low, high] = self.words.load_pair(at, R::SCOPE);
                Looked([low, high, 0, 0])
            }
            _ => self.look::<T>(at),
        }
    }

    /// Whether each of the loaded words carries the stamp.
    #[inline(always)]
    pub(crate) fn is_new<T: Carried>(self, Looked([a, b, c, d]): Looked) -> bool {
        let is_new = |word, looked: u64| word >= T::WORDS || (looked >> 32) as u32 == self.stamp;
        is_new(0, a) && is_new(1, b) && is_new(2, c) && is_new(3, d)
    }
}

/// The stamped words at one index, one for each word of a value of up to four words.
#[derive(Clone, Copy)]
pub(crate) struct Looked([u64; 4]);

impl Looked {
    /// The loaded words at an index that holds `value`.
    #[inline(always)]
    fn new<T: Carried>(value: T, stamp: u32) -> Self {
        let [a, b, c, d, ..] = value.to_words();
        let word = |value| u64::from(stamp) << 32 | u64::from(value);
        Self([word(a), word(b), word(c), word(d)])
    }

    /// The value; meaningless unless it is new.
    #[inline(always)]
    pub(crate) fn value<T: Carried>(self) -> T {
        let Self([a, b, c, d]) = self;
        T::from_words(words_of([a as u32, b as u32, c as u32, d as u32]))
    }
}
