//! Values in words that say themselves when they are new: a stamp above each half of a value.
//!
//! One store announces and carries at once, so that no fence stands between the value and its
//! announcement, and the reader that finds the stamp has the value.

use super::Carried;
use cuda_std::prelude::*;

/// Words of device memory, each a stamp above 32 bits of a value.
///
/// Whoever makes it answers for this: before a stamp is used, no word holds it.
#[derive(Clone, Copy)]
pub(crate) struct Stamped {
    pub(crate) words: Global<u64>,
    /// How much further on the words of the high halves lie, for values that have them.
    pub(crate) apart: usize,
    pub(crate) stamp: u32,
}

impl Stamped {
    /// Makes `value` the value of place `at`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(crate) fn send<T: Carried>(self, at: usize, value: T) {
        let bits = value.to_bits();
        self.send_half(at, bits as u32);
        if T::HALVES == 2 {
            self.send_half(at + self.apart, (bits >> 32) as u32);
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
        let load = |at| self.words.load(at, Ordering::Relaxed, Scope::Device);
        Looked {
            low: load(at),
            high: match T::HALVES {
                2 => load(at + self.apart),
                _ => 0,
            },
        }
    }

    /// Whether what was looked at carries the stamp, in each of its halves.
    #[inline(always)]
    pub(crate) fn is_new<T: Carried>(self, looked: Looked) -> bool {
        let is_new = |word: u64| (word >> 32) as u32 == self.stamp;
        is_new(looked.low) && (T::HALVES == 1 || is_new(looked.high))
    }
}

/// The words of one place.
#[derive(Clone, Copy)]
pub(crate) struct Looked {
    low: u64,
    high: u64,
}

impl Looked {
    /// The value, if it is new.
    #[inline(always)]
    pub(crate) fn value<T: Carried>(self) -> T {
        T::from_bits(self.high << 32 | self.low & u64::from(u32::MAX))
    }
}
