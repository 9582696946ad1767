//! Values in shared memory, whatever their size.

use crate::op::{Carried, for_each_word, from_each_word};
use cuda_std::device;
use cuda_std::memory::Shared;

/// Places in shared memory for values of up to four words, which lie apart, word by word: lanes that
/// access neighbouring places meet in no bank.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    memory: Shared<u32>,
    places: usize,
}

impl Slots {
    /// As many places as `memory` has room for at `words` words each. No value that is kept there has
    /// more.
    #[inline(always)]
    pub fn new(memory: Shared<u32>, words: usize) -> Self {
        let places = memory.len() / words;
        Self { memory, places }
    }

    /// Keeps `value` at place `at`.
    #[device]
    pub fn write<T: Carried>(self, at: usize, value: T) {
        for_each_word(value, |i, word| {
            self.memory.write(at + i * self.places, word);
        });
    }

    /// The value at place `at`.
    #[device]
    pub fn read<T: Carried>(self, at: usize) -> T {
        from_each_word(|i| self.memory.read(at + i * self.places))
    }
}
