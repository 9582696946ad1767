//! Values in words that say themselves when they are new: a stamp above each half of a value.
//!
//! One store announces and carries at once, so that no fence stands between the value and its
//! announcement, and the reader that finds the stamp has the value.

use crate::op::Carried;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_vote_all};

/// Words of device memory, each a stamp above 32 bits of a value.
///
/// Whoever makes it answers for this: before a stamp is used, no word holds it.
#[derive(Clone, Copy)]
pub(crate) struct Stamped {
    pub(crate) words: Global<u64>,
    /// How much further on the words of each next half lie, for values that have it.
    pub(crate) apart: usize,
    pub(crate) stamp: u32,
}

impl Stamped {
    /// Makes `value` the value of place `at`.
    #[device]
    pub(crate) fn send<T: Carried>(self, at: usize, value: T) {
        let halves = value.to_halves();
        self.send_half(at, halves[0]);
        // Written out: an array that is indexed by a variable would live in local memory.
        if T::HALVES > 1 {
            self.send_half(at + self.apart, halves[1]);
        }
        if T::HALVES > 2 {
            self.send_half(at + 2 * self.apart, halves[2]);
        }
        if T::HALVES > 3 {
            self.send_half(at + 3 * self.apart, halves[3]);
        }
    }

    #[device]
    fn send_half(self, at: usize, half: u32) {
        let word = u64::from(self.stamp) << 32 | u64::from(half);
        // Relaxed: the word announces nothing but itself.
        self.words.store(at, word, Ordering::Relaxed, Scope::Device);
    }

    /// What lies at place `at` by now.
    #[device]
    pub(crate) fn look<T: Carried>(self, at: usize) -> Looked {
        let look = |half| match half < T::HALVES {
            true => {
                let word = at + half * self.apart;
                self.words.load(word, Ordering::Relaxed, Scope::Device)
            }
            false => 0,
        };
        Looked([look(0), look(1), look(2), look(3)])
    }

    /// Waits for the values of `N` places a lane, of those that `place` names; `otherwise` stands for
    /// the others. By all lanes of a warp. The halves of a value stand side by side: `apart` is 1, and
    /// the words begin at a multiple of 16 bytes.
    ///
    /// All looks are in flight together, those of all lanes too, and only for what has not come it
    /// looks again: each lane by itself would make a request for each, and those who wait share the
    /// memory with those who send. (A prototype of the scan by bulk copies on an H200, 2026-11-21:
    /// 0.76 of CUB's time at 2^28 together, 0.85 each lane by itself.)
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

    /// [`look`](Self::look) at a place whose halves stand side by side: one load for two.
    #[device]
    fn look_at_once<T: Carried>(self, at: usize) -> Looked {
        match T::HALVES {
            2 => {
                let [low, high] = self.words.load_pair(at);
                Looked([low, high, 0, 0])
            }
            _ => self.look::<T>(at),
        }
    }

    /// Whether what was looked at carries the stamp, in each of its halves.
    #[inline(always)]
    pub(crate) fn is_new<T: Carried>(self, Looked([a, b, c, d]): Looked) -> bool {
        let is_new = |half, word: u64| half >= T::HALVES || (word >> 32) as u32 == self.stamp;
        is_new(0, a) && is_new(1, b) && is_new(2, c) && is_new(3, d)
    }
}

/// The words of one place, of which a value has as many as halves.
#[derive(Clone, Copy)]
pub(crate) struct Looked([u64; 4]);

impl Looked {
    /// What a place looks like that holds `value`.
    #[inline(always)]
    fn new<T: Carried>(value: T, stamp: u32) -> Self {
        let [a, b, c, d] = value.to_halves();
        let word = |half| u64::from(stamp) << 32 | u64::from(half);
        Self([word(a), word(b), word(c), word(d)])
    }

    /// The value, if it is new.
    #[inline(always)]
    pub(crate) fn value<T: Carried>(self) -> T {
        let Self([a, b, c, d]) = self;
        T::from_halves([a as u32, b as u32, c as u32, d as u32])
    }
}
