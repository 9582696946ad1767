//! Values in shared memory, whatever their size.

use crate::op::Carried;
use cuda_std::device;
use cuda_std::memory::Shared;

/// Places in shared memory for values of up to four halves, which lie apart, half by half: lanes that
/// access neighbouring places meet in no bank.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    words: Shared<u32>,
    places: usize,
}

impl Slots {
    /// As many places as `words` have room for at `halves` halves each, of which no value that is
    /// kept there has more.
    #[inline(always)]
    pub fn new(words: Shared<u32>, halves: usize) -> Self {
        let places = words.len() / halves;
        Self { words, places }
    }

    /// Keeps `value` at place `at`.
    #[device]
    pub fn write<T: Carried>(self, at: usize, value: T) {
        let halves = value.to_halves();
        self.words.write(at, halves[0]);
        // Written out: an array that is indexed by a variable would live in local memory.
        if T::HALVES > 1 {
            self.words.write(at + self.places, halves[1]);
        }
        if T::HALVES > 2 {
            self.words.write(at + 2 * self.places, halves[2]);
        }
        if T::HALVES > 3 {
            self.words.write(at + 3 * self.places, halves[3]);
        }
    }

    /// The value at place `at`.
    #[device]
    pub fn read<T: Carried>(self, at: usize) -> T {
        let mut halves = [self.words.read(at), 0, 0, 0];
        if T::HALVES > 1 {
            halves[1] = self.words.read(at + self.places);
        }
        if T::HALVES > 2 {
            halves[2] = self.words.read(at + 2 * self.places);
        }
        if T::HALVES > 3 {
            halves[3] = self.words.read(at + 3 * self.places);
        }
        T::from_halves(halves)
    }
}
