//! Values in words that say themselves when they are new: a stamp above each half of a value.
//!
//! One store announces and carries at once, so that no fence stands between the value and its
//! announcement, and the reader that finds the stamp has the value.

use crate::op::Carried;
use cuda_std::prelude::*;

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
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
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

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn send_half(self, at: usize, half: u32) {
        let word = u64::from(self.stamp) << 32 | u64::from(half);
        // Relaxed: the word announces nothing but itself.
        self.words.store(at, word, Ordering::Relaxed, Scope::Device);
    }

    /// What lies at place `at` by now.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
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
    /// The value, if it is new.
    #[inline(always)]
    pub(crate) fn value<T: Carried>(self) -> T {
        let Self([a, b, c, d]) = self;
        T::from_halves([a as u32, b as u32, c as u32, d as u32])
    }
}
