//! Values of any size in shared memory.

use crate::op::{Carried, for_each_word, from_each_word};
use cuda_std::device;
use cuda_std::memory::Shared;

/// Slots in shared memory for values of up to `WORDS` words; larger ones do not compile. The first
/// words of all slots come first, then all second words, and so on, so lanes at adjacent slots have
/// no bank conflicts.
#[derive(Clone, Copy, Debug)]
pub struct Slots<const WORDS: usize = 4> {
    memory: Shared<u32>,
    places: usize,
}

impl<const WORDS: usize> Slots<WORDS> {
    /// Divides `memory` into slots.
    #[inline(always)]
    pub fn new(memory: Shared<u32>) -> Self {
        let places = memory.len() / WORDS;
        Self { memory, places }
    }

    /// Stores `value` in slot `at`.
    #[device]
    pub fn write<T: Carried>(self, at: usize, value: T) {
        const { assert!(T::WORDS <= WORDS, "the value has more words than a slot") };
        for_each_word(value, |i, word| {
            self.memory.write(at + i * self.places, word);
        });
    }

    /// The value in slot `at`.
    #[device]
    pub fn read<T: Carried>(self, at: usize) -> T {
        const { assert!(T::WORDS <= WORDS, "the value has more words than a slot") };
        from_each_word(|i| self.memory.read(at + i * self.places))
    }
}
