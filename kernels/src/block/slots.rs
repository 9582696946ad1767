//! Values of any size in shared memory.

use crate::op::{Carried, for_each_word, from_each_word};
use cuda_std::device;
use cuda_std::memory::Shared;

/// Slots in shared memory for values of up to four words. The first words of all slots come first,
/// then all second words, and so on, so lanes at adjacent slots have no bank conflicts.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    memory: Shared<u32>,
    places: usize,
}

impl Slots {
    /// Divides `memory` into slots of `words` words. No stored value may have more words.
    #[inline(always)]
    pub fn new(memory: Shared<u32>, words: usize) -> Self {
        let places = memory.len() / words;
        Self { memory, places }
    }

    /// Stores `value` in slot `at`.
    #[device]
    pub fn write<T: Carried>(self, at: usize, value: T) {
        for_each_word(value, |i, word| {
            self.memory.write(at + i * self.places, word);
        });
    }

    /// The value in slot `at`.
    #[device]
    pub fn read<T: Carried>(self, at: usize) -> T {
        from_each_word(|i| self.memory.read(at + i * self.places))
    }
}
